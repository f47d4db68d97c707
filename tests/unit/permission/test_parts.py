"""The parts of the judge, each alone: words, expansions, paths, hosts, feeds."""

import pytest

from daemon.permission import command, feeds, hosts, paths, rules, scope, shell_syntax, shell_words


def word(text: str) -> shell_words.Word:
    return shell_words.Lexer(text).word()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("r'm'", "rm"),
        ("r\\m", "rm"),
        ('""rm', "rm"),
        ("$'\\x72\\155'", "rm"),
        ('"a b"c', "a bc"),
        ('"\\$x\\a"', "$x\\a"),
        ("[", "["),
        ("$", "$"),
    ],
)
def test_a_plain_word_is_its_text(source: str, text: str) -> None:
    assert word(source).plain == text


@pytest.mark.parametrize("source", ["$x", "${x}", "$(a)", "`a`", "*", "a?", "{a,b}", "~", "<(a)"])
def test_a_word_that_the_shell_completes_is_not_plain(source: str) -> None:
    assert word(source).plain is None


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("~", ["/home/agent"]),
        ("~root/x", ["/root/x"]),
        ("$HOME/a", ["/home/agent/a"]),
        ('"${HOME}"', ["/home/agent"]),
        ("${HOME:0:1}", ["/"]),
        ("${HOME%/*}", ["/home"]),
        ("${HOME##*/}", ["agent"]),
        ("${nothing:-/etc}", ["/etc"]),
        ("{a,b}{1..2}", ["a1", "a2", "b1", "b2"]),
        ("a$IFS/", ["a", "/"]),
        ("r\\\nm", ["rm"]),
        ("$nothing/x", ["\0/x"]),
    ],
)
def test_constants_are_expanded(source: str, texts: list[str]) -> None:
    values = scope.Scope.at(command.EXAMPLE_PLACE).expand(word(source))
    assert [value.text for value in values] == texts


@pytest.mark.parametrize(
    "spelling",
    [
        *("169.254.169.254", "http://169.254.169.254/x", "0xa9fea9fe", "2852039166"),
        *(
            "0251.0376.0251.0376",
            "169.254.43518",
            "http://[::ffff:169.254.169.254]/",
            "a@0xa9.254.43518",
        ),
        *(
            "http://metadata.google.internal/",
            "169.254.169.254.nip.io",
            "http://1%36%39.254.169.254/",
        ),
    ],
)
def test_metadata_is_seen_in_every_spelling(spelling: str) -> None:
    assert hosts.Kind.METADATA in hosts.kinds(spelling, frozenset())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("http://localhost:7411/", hosts.Kind.DAEMON),
        ("127.1:7411", hosts.Kind.DAEMON),
        ("http://localhost:8000", hosts.Kind.PRIVATE),
        ("10.0.0.5", hosts.Kind.PRIVATE),
        ("https://example.com/", hosts.Kind.PUBLIC),
    ],
)
def test_hosts_have_kinds(text: str, kind: hosts.Kind) -> None:
    assert hosts.kinds(text, frozenset((7411,))) == {kind}


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("README.md", paths.Kind.WORKSPACE),
        ("../x", paths.Kind.OUTSIDE),
        ("/var/lib/duck?m/token", paths.Kind.STATE),
        ("/proc/self/root/var/lib/ducklm", paths.Kind.STATE),
        ("/var", paths.Kind.HOLDS_STATE),
        ("/dev/nvme0n1", paths.Kind.DISK),
        ("/dev/null", paths.Kind.HARMLESS),
        ("/proc/12/environ", paths.Kind.PROCESS),
        (".e*", paths.Kind.SECRET),
        (".git/hooks/pre-commit", paths.Kind.AUTORUN),
        ("/home/agent/*", paths.Kind.CRITICAL),
        ("/u[s]r", paths.Kind.CRITICAL),
        ("/\0", paths.Kind.CRITICAL),
    ],
)
def test_paths_have_kinds(known: rules.Rules, path: str, kind: paths.Kind) -> None:
    place = command.EXAMPLE_PLACE
    assert kind in paths.classify(path, place, known.paths, place.cwd)


def test_what_flows_through_a_pipe_is_decoded() -> None:
    said = feeds.output("echo", [scope.Value("bHM=")], feeds.NOTHING)
    assert feeds.output("base64", [scope.Value("-d")], said).text == "ls"
    assert (
        feeds.output(
            "printf", [scope.Value("%s-%s"), scope.Value("a"), scope.Value("b")], said
        ).text
        == "a-b"
    )
    assert feeds.output("gzip", [], said).text is None


def test_the_parser_gives_up_by_budget_and_not_by_clock() -> None:
    budget = shell_syntax.Budget(steps=1)
    with pytest.raises(shell_syntax.ParseExhausted):
        shell_syntax.parse("a|" * 1000, budget)
    assert budget.steps < 0
