"""The structure of a command text: tree-sitter-bash to a small tree of our own.

Answers for which simple commands there are and how they hang together; their words come from
`shell_words`, read from exactly the bytes that the tree bounds. Whatever has no place in the tree
here, and whatever the grammar could not read, is an `Unknown`. The parser gets its text through a
callback and stops when its steps or reads are used up: it must never see NUL, must never take the
thread for long, and must never guess.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import tree_sitter
import tree_sitter_bash

from daemon.permission import shell_words

PARSE_STEPS = 300
"""How often the parser may report progress, each after about a hundred of its operations."""
PARSE_READS = 500
"""How often it may ask for text: its scanner goes back without reporting progress."""
READ_BYTES = 4096
TREE_DEPTH = 200
COMMANDS = 400
CALLS = 200
"""How many programs may be judged, those in loops, functions and nested texts each time."""
WORDS = 500
"""Of one command."""

_LANGUAGE = tree_sitter.Language(tree_sitter_bash.language())


class ParseExhausted(ValueError):
    """The text costs more to understand than it may."""


@dataclass(slots=True)
class Budget:
    """What is left for one judgement, texts inside texts included."""

    steps: int = PARSE_STEPS
    reads: int = PARSE_READS
    commands: int = COMMANDS
    calls: int = CALLS

    def take_call(self, words: int) -> None:
        """Count one judgement of a program with its words; raises ParseExhausted."""
        self.calls -= 1
        if self.calls < 0:
            raise ParseExhausted("it does too many things")
        if words > WORDS:
            raise ParseExhausted("it has too many words")

    def take_command(self) -> None:
        """Count one simple command; raises ParseExhausted."""
        self.commands -= 1
        if self.commands < 0:
            raise ParseExhausted("too many commands")


class GroupKind(StrEnum):
    """What holds other commands."""

    SUBSHELL = "subshell"
    BRACES = "group"
    CONDITIONAL = "conditional"
    LOOP = "loop"
    CASE = "case"
    NEGATION = "negation"
    BACKGROUND = "background"


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command: everything between two operators."""

    source: str
    words: tuple[shell_words.Word, ...]
    redirects: tuple[shell_words.Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    stages: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    """Commands one after another, whatever joins them."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A compound command; `words` are the values of a `for` and the subject of a `case`."""

    kind: GroupKind
    items: tuple["Node", ...]
    variable: str = ""
    words: tuple[shell_words.Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Redirected:
    """A node other than a simple command, with redirections of its own."""

    node: "Node"
    redirects: tuple[shell_words.Redirect, ...]


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    body: "Node"


@dataclass(frozen=True, slots=True)
class Comment:
    source: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """What could not be read, with those parts of it that could."""

    source: str
    items: tuple["Node", ...] = ()


Node = Command | Pipeline | Sequence | Group | Redirected | Function | Comment | Unknown

_GROUPS = {
    "subshell": GroupKind.SUBSHELL,
    "compound_statement": GroupKind.BRACES,
    "if_statement": GroupKind.CONDITIONAL,
    "while_statement": GroupKind.LOOP,
    "for_statement": GroupKind.LOOP,
    "c_style_for_statement": GroupKind.LOOP,
    "case_statement": GroupKind.CASE,
    "negated_command": GroupKind.NEGATION,
}
_SEQUENCES = frozenset(
    ("program", "list", "do_group", "elif_clause", "else_clause", "case_item", "heredoc_redirect")
)
_SIMPLE = frozenset(
    ("command", "declaration_command", "unset_command", "variable_assignment", "test_command")
    + ("variable_assignments", "test_operator")
)
_WORDS = frozenset(
    ("word", "string", "raw_string", "concatenation", "simple_expansion", "expansion", "number")
    + ("ansi_c_string", "command_substitution", "process_substitution", "brace_expression")
    + ("arithmetic_expansion", "extglob_pattern", "regex", "translated_string", "variable_name")
    + ("herestring_redirect", "heredoc_start", "heredoc_body", "heredoc_end", "file_redirect")
)
_REDIRECTS = frozenset(("file_redirect", "herestring_redirect", "heredoc_redirect"))


def parse(text: str, budget: Budget) -> Node:
    """The tree of a text that holds no NUL.

    Raises:
        ParseExhausted: the budget is used up, or the text is nested too deeply.
    """
    return _Mapper(text.encode(), budget).tree()


@dataclass(slots=True)
class _Mapper:
    data: bytes
    budget: Budget
    depth: int = field(default=0)

    def tree(self) -> Node:
        parser = tree_sitter.Parser(_LANGUAGE)
        try:
            tree = parser.parse(self._read, progress_callback=self._progress)
        except ValueError:
            tree = None
        if tree is None or self.budget.reads < 0 or self.budget.steps < 0:
            raise ParseExhausted("it takes too long to understand")
        return self._map(tree.root_node)

    def _read(self, offset: int, point: object) -> bytes:
        del point
        self.budget.reads -= 1
        return self.data[offset : offset + READ_BYTES] if self.budget.reads >= 0 else b""

    def _progress(self, offset: int, has_error: bool) -> bool:
        del offset, has_error
        self.budget.steps -= 1
        return self.budget.steps < 0 or self.budget.reads < 0

    def _source(self, node: tree_sitter.Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode(errors="replace")

    def _map(self, node: tree_sitter.Node) -> Node:
        self.depth += 1
        if self.depth > TREE_DEPTH:
            raise ParseExhausted("it is nested too deeply")
        mapped = self._mapped(node)
        self.depth -= 1
        return mapped

    def _mapped(self, node: tree_sitter.Node) -> Node:
        kind = node.type
        if node.is_error or node.is_missing:
            return Unknown(self._source(node), self._items(node))
        if kind in _SIMPLE:
            return self._command(node)
        if kind == "pipeline":
            return Pipeline(self._items(node))
        if kind == "redirected_statement":
            return self._redirected(node)
        if kind == "comment":
            return Comment(self._source(node))
        if kind == "function_definition":
            return self._function(node)
        if (
            kind == "compound_statement"
            and self.data[node.start_byte : node.start_byte + 1] == b"("
        ):
            return Unknown(self._source(node))
        if kind in _GROUPS:
            return self._group(node, _GROUPS[kind])
        if kind in _SEQUENCES:
            return Sequence(self._items(node))
        return Unknown(self._source(node), self._items(node))

    def _items(self, node: tree_sitter.Node) -> tuple[Node, ...]:
        items: list[Node] = []
        for child in node.children:
            if child.type == "&" and items:
                items[-1] = Group(GroupKind.BACKGROUND, (items[-1],))
            elif _is_broken(child) or (child.is_named and child.type not in _WORDS):
                items.append(self._map(child))
        return tuple(items)

    def _command(self, node: tree_sitter.Node) -> Node:
        """The words of a simple command, if a lexer of our own sees one in the same bytes."""
        self.budget.take_command()
        source = self._source(node)
        command = simple(source)
        if node.has_error or command is None or node.type == "test_command":
            if node.type == "test_command" and source.startswith("[ ") and command is not None:
                return command
            return Unknown(source, (command,) if command else ())
        return command

    def _redirected(self, node: tree_sitter.Node) -> Node:
        redirects: list[shell_words.Redirect] = []
        later: list[Node] = []
        body: list[Node] = []
        for child in node.children:
            if child.type == "heredoc_redirect":
                self._here_document(child, redirects, later)
            elif child.type in _REDIRECTS:
                redirects.extend(self._redirects(child))
            else:
                body.append(self._map(child))
        inner: Node = body[0] if len(body) == 1 else Unknown(self._source(node), tuple(body))
        if isinstance(inner, Command):
            inner = Command(inner.source, inner.words, (*inner.redirects, *redirects))
        else:
            inner = Redirected(inner, tuple(redirects))
        if not later:
            return inner
        stages = later[0].stages if isinstance(later[0], Pipeline) else ()
        first = Pipeline((inner, *stages)) if stages else inner
        return Sequence((first, *(later[1:] if stages else later)))

    def _redirects(self, node: tree_sitter.Node) -> list[shell_words.Redirect]:
        tokens = shell_words.Lexer(self._source(node)).read()
        found = [token for token in tokens if isinstance(token, shell_words.Redirect)]
        if len(found) != len(tokens) or node.has_error:
            opaque = shell_words.Word(self._source(node), (shell_words.Opaque(""),))
            found.append(shell_words.Redirect("", ">", opaque))
        return found

    def _here_document(
        self,
        node: tree_sitter.Node,
        redirects: list[shell_words.Redirect],
        later: list[Node],
    ) -> None:
        """The grammar hangs the rest of the line below the here-document that stands in it."""
        delimiter, body = shell_words.Word("", ()), ""
        for child in node.children:
            if child.type == "heredoc_start":
                delimiter = shell_words.Lexer(self._source(child)).word()
            elif child.type == "heredoc_body":
                body = self._source(child)
            elif child.type in _REDIRECTS:
                redirects.extend(self._redirects(child))
            elif child.is_named and child.type not in ("heredoc_end", "file_descriptor"):
                later.append(self._map(child))
        redirects.append(shell_words.Redirect("", "<<", delimiter, body))

    def _function(self, node: tree_sitter.Node) -> Node:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return Unknown(self._source(node), self._items(node))
        return Function(self._source(name), self._map(body))

    def _group(self, node: tree_sitter.Node, kind: GroupKind) -> Node:
        variable = ""
        words: list[shell_words.Word] = []
        for child in node.children:
            if child.type == "variable_name":
                variable = self._source(child)
            elif child.type in _WORDS:
                words.append(shell_words.Lexer(self._source(child)).word())
        items = tuple(
            Sequence(self._items(child)) if child.type == "case_item" else self._map(child)
            for child in node.children
            if child.is_error or (child.is_named and child.type not in _WORDS)
        )
        background = any(child.type == "&" for child in node.children)
        group = Group(kind, items, variable, tuple(words))
        if background:
            group = Group(kind, (Group(GroupKind.BACKGROUND, items),), variable, tuple(words))
        return group


def _is_broken(node: tree_sitter.Node) -> bool:
    return node.is_error or node.is_missing


def simple(source: str) -> Command | None:
    """One simple command, where our own lexer sees nothing else in the text."""
    words: list[shell_words.Word] = []
    redirects: list[shell_words.Redirect] = []
    for token in shell_words.Lexer(source).read():
        if isinstance(token, shell_words.Word):
            words.append(token)
        elif isinstance(token, shell_words.Redirect):
            redirects.append(token)
        else:
            return None
    return Command(source, tuple(words), tuple(redirects))


def flat(text: str) -> list[Command] | None:
    """Every simple command in order, by our own lexer alone; None where there is more than
    words, plain redirections and the operators between them."""
    lexer = shell_words.Lexer(text)
    commands: list[Command] = []
    words: list[shell_words.Word] = []
    redirects: list[shell_words.Redirect] = []
    for token in [*lexer.read(), shell_words.Operator("\n")]:
        if isinstance(token, shell_words.Word):
            words.append(token)
        elif isinstance(token, shell_words.Redirect):
            redirects.append(token)
        elif token.text not in ("&&", "||", "|", ";", "\n"):
            return None
        elif words or redirects:
            commands.append(Command("", tuple(words), tuple(redirects)))
            words, redirects = [], []
    return None if lexer.comments else commands
