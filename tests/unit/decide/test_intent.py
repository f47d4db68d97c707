"""A text that is nothing but a command in backticks is one; anything else is not."""

import pytest

from daemon.decide import intent

COMMANDS = {
    "`ls -l`": "ls -l",
    "  `ls`\n": "ls",
    "run `ls`": "ls",
    "Run: `ls`": "ls",
    "run : `ls`": "ls",
    "please execute `ls`": "ls",
    "exec `ls` please.": "ls",
    "`ls`.": "ls",
    "`ls` please!": "ls",
    "```\nls\n```": "ls",
    "```sh\ncd /tmp\nls\n```": "cd /tmp\nls",
    "run ```bash\nls```": "ls",
    "RUN `echo Ä`": "echo Ä",
    "`  ls  `": "ls",
}
OTHERS = (
    "",
    "ls",
    "``",
    "` `",
    "run ls",
    "what does `ls` do?",
    "`ls` and `pwd`",
    "runner `ls`",
    "run`ls`",
    "`a\nb`",
    "```python\nprint()\n```",
    "```\n```",
    "do not run `rm -rf /`",
    "`ls` thanks",
)


@pytest.mark.parametrize(("text", "command"), COMMANDS.items())
def test_a_command(text: str, command: str) -> None:
    assert intent.explicit_command(text) == command


@pytest.mark.parametrize("text", OTHERS)
def test_no_command(text: str) -> None:
    assert intent.explicit_command(text) is None


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    ("before", "repeated", "after"),
    [
        ("run", " ", "x"),
        ("please", " ", "x"),
        ("`a`", " ", "x"),
        ("`a`. please", " ", "x"),
        ("```", "\n", "x"),
        ("", " ", "x"),
        ("", "`", ""),
        ("```\n", "a\n", "x"),
    ],
)
def test_a_long_text_costs_one_pass(before: str, repeated: str, after: str) -> None:
    assert intent.explicit_command(before + repeated * 1_000_000 + after) is None
