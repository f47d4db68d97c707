"""Questions about the shape of a command's tree: loops that spawn, functions that call themselves.

Pure over nodes and values; judges nothing by itself.
"""

import re
from collections.abc import Iterator
from typing import Protocol, assert_never

from daemon.permission import feeds, paths, scope, shell_syntax, shell_words

Kind = shell_syntax.GroupKind

REASONS = {
    Kind.SUBSHELL: "runs commands in a subshell",
    Kind.BRACES: "groups commands",
    Kind.CONDITIONAL: "runs commands under a condition",
    Kind.LOOP: "runs commands in a loop",
    Kind.CASE: "runs commands by a case",
    Kind.NEGATION: "negates a command",
    Kind.BACKGROUND: "leaves a process behind in the background",
}
RESERVED = frozenset(
    ("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac")
    + ("{", "}", "!", "time", "in", "function", "select", "coproc", "[[", "]]")
)
_ALWAYS = frozenset(("true", ":", "[ 1 ]", "/bin/true", "test 1", "[ true ]"))
_COMMAND_START = re.compile(r"^[\w.:+-]*[=!]+")
_SUSPECTS = 4


class Namer(Protocol):
    """What knows functions and aliases."""

    functions: dict[str, shell_syntax.Node]


def children(node: shell_syntax.Node) -> tuple[shell_syntax.Node, ...]:
    """The nodes below a node."""
    match node:
        case shell_syntax.Pipeline():
            return node.stages
        case shell_syntax.Sequence() | shell_syntax.Group() | shell_syntax.Unknown():
            return node.items
        case shell_syntax.Redirected():
            return (node.node,)
        case shell_syntax.Function():
            return (node.body,)
        case shell_syntax.Command() | shell_syntax.Comment():
            return ()
        case _:
            assert_never(node)


def _under(node: shell_syntax.Node) -> Iterator[shell_syntax.Node]:
    yield node
    for child in children(node):
        yield from _under(child)


def read_alike(text: str, seen: list[shell_syntax.Command]) -> bool:
    """Whether our own lexer, reading the whole text, sees the same commands as the grammar."""
    flat = shell_syntax.flat(text)
    if flat is None or len(flat) != len(seen):
        return False
    return all(
        [word.source for word in one.words] == [word.source for word in other.words]
        and [(r.descriptor, r.operator, r.target.source, r.body) for r in one.redirects]
        == [(r.descriptor, r.operator, r.target.source, r.body) for r in other.redirects]
        for one, other in zip(flat, seen, strict=True)
    )


def pieces(text: str) -> Iterator[tuple[shell_syntax.Command, bool]]:
    """What stands between operators, reserved words left out, each with whether it is piped into.
    The values of a loop are no command."""
    words: list[shell_words.Word] = []
    redirects: list[shell_words.Redirect] = []
    is_piped = False
    for token in [*shell_words.Lexer(text).read(), shell_words.Operator("\n")]:
        if isinstance(token, shell_words.Redirect):
            redirects.append(token)
        elif isinstance(token, shell_words.Word):
            if words or token.source not in RESERVED:
                words.append(token)
        else:
            if words or redirects:
                yield shell_syntax.Command("", tuple(words), tuple(redirects)), is_piped
            words, redirects = [], []
            is_piped = token.text in ("|", "|&") or (is_piped and token.text in ("(", "\n"))


def _is_call(node: shell_syntax.Node, name: str) -> bool:
    if not isinstance(node, shell_syntax.Command):
        return False
    return any(shell_words.unquoted(word) == name for word in node.words[:2])


def _in_background(node: shell_syntax.Node) -> Iterator[shell_syntax.Node]:
    for part in _under(node):
        if isinstance(part, shell_syntax.Group) and part.kind is Kind.BACKGROUND:
            yield from _under(part)


def calls_itself_twice(node: shell_syntax.Function) -> bool:
    """Whether a call makes two calls, or one that it does not wait for."""
    calls = sum(_is_call(part, node.name) for part in _under(node.body))
    return calls >= 2 or any(_is_call(part, node.name) for part in _in_background(node.body))


def is_endless_spawn(node: shell_syntax.Group) -> bool:
    """Whether an endless loop starts something in the background on every turn."""
    if node.kind is not Kind.LOOP or node.variable or not node.items:
        return False
    first = node.items[0]
    is_endless = isinstance(first, shell_syntax.Command) and first.source.strip() in _ALWAYS
    is_counted = isinstance(first, shell_syntax.Unknown)
    return (is_endless or is_counted) and any(True for _ in _in_background(node))


def quoted(text: str) -> str:
    """The text as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def roots_of(program: str, words: list[scope.Value]) -> list[scope.Value]:
    """Where find and fd begin: what their actions are given in place of `{}`."""
    if program not in ("find", "fd", "fdfind", "gfind"):
        return []
    roots: list[scope.Value] = []
    for word in words:
        if (
            word.text.startswith("-")
            and len(word.text) > 1
            and (roots or word.text[1:2] not in "HLPOD")
        ):
            break
        if not word.text.startswith("-"):
            roots.append(word)
    return roots


def replaced(word: scope.Value, roots: list[scope.Value]) -> scope.Value:
    """A word of an action with `{}` standing for the root that is searched."""
    if not roots or "{}" not in word.text:
        return word
    return scope.Value(word.text.replace("{}", roots[0].text))


def commands_in(text: str) -> list[str]:
    """What of a word could be a command: all of it, and what follows `name=` or `!`."""
    pieces = [text]
    while len(pieces) < _SUSPECTS and (match := _COMMAND_START.match(pieces[-1])):
        rest = pieces[-1][match.end() :]
        if not rest or rest == pieces[-1]:
            break
        pieces.append(rest)
    return pieces


def folded(value: scope.Value, namer: Namer, where: scope.Scope) -> scope.Value:
    """A value whose one unknown piece is what `echo` or `printf` of constants writes."""
    if len(value.sources) != 1 or value.text.count(paths.UNKNOWN) != 1 or value.odd:
        return value
    try:
        said = _said(value.sources[0], namer, where)
    except shell_syntax.ParseExhausted:
        return value
    if said is None:
        return value
    text = value.text.replace(paths.UNKNOWN, said.rstrip("\n"))
    return scope.Value(text, names=value.names, sources=value.sources)


def fields(value: scope.Value) -> list[scope.Value]:
    """A value that the shell splits at blanks."""
    texts = value.text.split()
    if len(texts) <= 1:
        return [value]
    return [scope.Value(text, False, value.globbed, value.names) for text in texts]


def _said(source: str, namer: Namer, where: scope.Scope) -> str | None:
    tokens = shell_words.Lexer(source).read()
    stages: list[list[scope.Value]] = [[]]
    for token in tokens[:64]:
        if isinstance(token, shell_words.Word):
            stages[-1].extend(where.expand(token))
        elif isinstance(token, shell_words.Operator) and token.text == "|":
            stages.append([])
        else:
            return None
    feed = feeds.NOTHING
    for stage in stages:
        if not stage or not all(value.known for value in stage):
            return None
        if stage[0].text in namer.functions:
            return None
        if stage[0].text == "pwd":
            return where.cwd
        feed = feeds.output(stage[0].text, stage[1:], feed)
    return feed.text
