"""What a typed line means, and what is taught where it means nothing."""

import pytest

from bots import commands

C, T = commands.Command, commands.Teaching


@pytest.mark.spec("B-05")
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hello", None),
        ("a /stop", None),
        ("/", None),
        ("/etc/passwd is a file", None),
        ("//", None),
        ("/stop", C("stop")),
        (" /STOP ", C("stop")),
        ("/stop@duck_bot", C("stop")),
        ("/stop@Duck_Bot now", T("Write it like this: /stop")),
        ("/stop@other_bot", None),
        ("/start", C("help")),
        ("/start ref123", C("help")),
        ("/mode", C("mode")),
        ("/mode plan", C("mode", "plan")),
        ("/mode x", T("Write it like this: /mode [plan|build|yolo]")),
        ("/project a b", C("project", "a b")),
        ("/feedback", T("Write it like this: /feedback good|bad [why]")),
        ("/feedback bad it is wrong", C("feedback", "bad it is wrong")),
        ("/feedback\nbad", C("feedback", "bad")),
        ("/model", T("I know no /model. /help lists what I know.")),
        ("/remember x", T("I know no /remember. /help lists what I know.")),
    ],
)
def test_what_a_line_means(text: str, meant: commands.Command | commands.Teaching | None) -> None:
    assert commands.parse(text, "duck_bot") == meant


def test_the_help_names_every_command_of_the_menu() -> None:
    told = commands.help_text()
    assert all(f"/{name}" in told for name, _ in commands.menu())
    assert all(len(line) <= 100 and name.islower() for name, line in commands.menu())
