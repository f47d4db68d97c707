"""Goes through the tree of a command and judges every part that can run, texts inside texts too.

Answers for what flows between the parts: variables, the folder, functions, aliases, pipes, and
what wrappers and shells are given. Whatever it cannot follow makes the judgement stricter, never
milder; a budget shared by all nested texts ends it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from daemon.permission import (
    builtins,
    code_text,
    feeds,
    findings,
    paths,
    programs,
    rules,
    scope,
    shell_syntax,
    shell_words,
    structure,
    wrappers,
)

NESTED_TEXTS = 8
LOOP_VALUES = 8
TAIL_WORDS = 48
MANY_COMMANDS = 32
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(\+?)=")
_WRITES = (">", ">>", ">|", "&>", "&>>", "<>", ">&")


@dataclass(slots=True)
class Walk:
    """One judgement under way; nested texts share everything but their depth."""

    rules: rules.Rules
    found: findings.Findings
    budget: shell_syntax.Budget
    text: str = ""
    depth: int = 0
    seen: list[shell_syntax.Command] = field(default_factory=list)
    functions: dict[str, shell_syntax.Node] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    calling: tuple[str, ...] = ()

    def run(self, text: str, where: scope.Scope, feed: feeds.Feed = feeds.NOTHING) -> None:
        """Judge a whole text.

        Raises:
            shell_syntax.ParseExhausted: it costs more to understand than it may.
        """
        node = shell_syntax.parse(text, self.budget)
        self.visit(node, where, feed)
        if not structure.read_alike(text, self.seen):
            self._salvage(text, where.copy())

    def nested(self, text: str, where: scope.Scope, *, only_stops: bool = False) -> None:
        """Judge a text that another command would run, or might."""
        if self.depth >= NESTED_TEXTS:
            raise shell_syntax.ParseExhausted("texts are nested too deeply")
        text = text.replace(paths.UNKNOWN, "")
        inner = Walk(
            self.rules,
            findings.Findings(),
            self.budget,
            self.text,
            self.depth + 1,
            functions=self.functions,
            aliases=self.aliases,
            calling=self.calling,
        )
        inner.run(text, where)
        self.found.add_stops(inner.found)
        for finding in () if only_stops else inner.found.found.values():
            self.found.add(finding)

    def visit(
        self, node: shell_syntax.Node, where: scope.Scope, feed: feeds.Feed = feeds.NOTHING
    ) -> feeds.Feed:
        """Judge one node; returns what it would write, where that is known."""
        match node:
            case shell_syntax.Command():
                return self._command(node, where, feed)
            case shell_syntax.Pipeline():
                return self._pipeline(node, where, feed)
            case shell_syntax.Sequence():
                out = feeds.NOTHING
                for item in node.items:
                    out = self.visit(item, where, feed)
                return out
            case shell_syntax.Group():
                self._group(node, where, feed)
            case shell_syntax.Redirected():
                self._redirects(node.redirects, where)
                return self.visit(node.node, where, feeds.given(node.redirects, where) or feed)
            case shell_syntax.Function():
                self._function(node, where)
            case shell_syntax.Comment():
                self.found.note("comment", findings.ASK, "holds a comment, which does not run")
            case shell_syntax.Unknown():
                self.found.note(
                    "not-understood", findings.NEVER_ALWAYS, "cannot be fully understood"
                )
                for item in node.items:
                    self.visit(item, where, feed)
            case _:
                assert_never(node)
        return feeds.NOTHING

    def _pipeline(
        self, node: shell_syntax.Pipeline, where: scope.Scope, feed: feeds.Feed
    ) -> feeds.Feed:
        flow = feed
        for stage in node.stages:
            flow = self.visit(stage, where.copy(), flow)
        return flow

    def _group(self, node: shell_syntax.Group, where: scope.Scope, feed: feeds.Feed) -> None:
        kind = shell_syntax.GroupKind
        self.found.note(
            f"structure-{node.kind.value}", findings.NEVER_ALWAYS, structure.REASONS[node.kind]
        )
        if node.kind is kind.SUBSHELL:
            where = where.copy()
        if structure.is_endless_spawn(node):
            self.found.note(
                "fork-bomb", findings.HARD_STOP, "starts processes without end", changes=True
            )
        values = [value for word in node.words for value in self._expand(word, where)]
        if node.variable:
            for value in values[:LOOP_VALUES] or [scope.Value(paths.UNKNOWN)]:
                where.assign(node.variable, value.text)
                for item in node.items:
                    self.visit(item, where, feed)
            return
        for item in node.items:
            self.visit(item, where, feed)

    def _function(self, node: shell_syntax.Function, where: scope.Scope) -> None:
        self.found.note("function", findings.NEVER_ALWAYS, "defines what a word means")
        if structure.calls_itself_twice(node):
            self.found.note(
                "fork-bomb", findings.HARD_STOP, "starts processes without end", changes=True
            )
        self.visit(node.body, where.copy())
        self.functions[node.name] = node.body

    def _salvage(self, text: str, where: scope.Scope) -> None:
        """Hard stops that the tree may hide: every piece that our lexer sees."""
        inner = Walk(self.rules, findings.Findings(), self.budget, self.text, self.depth)
        flow = feeds.NOTHING
        for command, is_piped in structure.pieces(text):
            flow = inner._command(command, where, flow if is_piped else feeds.NOTHING)
        self.found.add_stops(inner.found)

    def _command(
        self, node: shell_syntax.Command, where: scope.Scope, feed: feeds.Feed
    ) -> feeds.Feed:
        self.seen.append(node)
        words = list(node.words)
        assigned: dict[str, str] = {}
        while words and (match := _ASSIGNMENT.match(words[0].source)):
            text = self._assigned(words.pop(0), match, where)
            assigned[match[1]] = text
            programs.variable(self.rules, match[1], text, self.found, alone=not words)
        self._redirects(node.redirects, where)
        feed = feeds.given(node.redirects, where) or feed
        values = [value for word in words for value in self._expand(word, where)]
        if not values:
            for name, text in assigned.items():
                where.assign(name, text)
            return feed if not words else feeds.NOTHING
        return self.call(values, where, feed)

    def _assigned(self, word: shell_words.Word, match: re.Match[str], where: scope.Scope) -> str:
        rest = shell_words.Lexer(word.source[match.end() :]).word()
        if match[2] and not re.fullmatch(r"\[\d{1,6}\]", match[2]):
            self.found.note(
                "evaluated", findings.NEVER_ALWAYS, "holds an expansion that can run code"
            )
        text = " ".join(value.text for value in self._expand(rest, where))
        return where.variables.get(match[1], "") + text if match[3] else text

    def _expand(self, word: shell_words.Word, where: scope.Scope) -> list[scope.Value]:
        values = where.expand(word)
        for source in dict.fromkeys(s for value in values for s in value.sources):
            self.found.note(
                "substitution", findings.NEVER_ALWAYS, "runs a command inside another one"
            )
            self.nested(source, where.copy())
        if any(rules.matches_any(n, ("DUCKLM_*",)) for value in values for n in value.names):
            self.found.note("own-variables", findings.HARD_STOP, "reads the daemon's own variables")
        folded = [structure.folded(value, self, where) for value in values]
        if any(isinstance(p, shell_words.Substitution) and not p.quoted for p in word.parts):
            return [piece for value in folded for piece in structure.fields(value)]
        return folded

    def _redirects(self, redirects: Sequence[shell_words.Redirect], where: scope.Scope) -> None:
        for redirect in redirects:
            if redirect.operator in ("<<", "<<-", "<<<"):
                self._text_input(redirect, where)
                continue
            values = self._expand(redirect.target, where)
            target = values[0] if len(values) == 1 else scope.Value(paths.UNKNOWN)
            if redirect.operator in (">&", "<&") and re.fullmatch(r"\d{1,2}-?|-", target.text):
                continue
            is_write = redirect.operator in _WRITES
            programs.redirect(self.rules, is_write, target, where, self.found)

    def _text_input(self, redirect: shell_words.Redirect, where: scope.Scope) -> None:
        self.found.note("text-input", findings.ASK, "feeds text to a program")
        if redirect.operator == "<<<":
            self._expand(redirect.target, where)
        elif redirect.expands and redirect.body:
            for source in scope.substitutions(redirect.body):
                self.found.note(
                    "substitution", findings.NEVER_ALWAYS, "runs a command inside another one"
                )
                self.nested(source, where.copy())

    def call(self, values: list[scope.Value], where: scope.Scope, feed: feeds.Feed) -> feeds.Feed:
        """Judge a program with its words; returns what it would write, where that is known."""
        head, words = values[0], values[1:]
        self.budget.take_call(len(words))
        if head.text in self.aliases and head.text not in self.calling:
            self._within(head.text, self.aliases[head.text], words, where)
            return feeds.NOTHING
        if head.text in self.functions:
            self._called(head.text, words, where, feed)
            return feeds.NOTHING
        if not head.known or head.globbed:
            self._nameless(head, words, where)
            return feeds.NOTHING
        program = programs.name_of(head, self.found)
        inner = wrappers.unwrap(self.rules, program, words)
        if inner is not None:
            self._wrapped(program, words, inner, where, feed)
        else:
            programs.judge(self.rules, program, words, where, self.found, self.text)
            self._tails(program, words, where, feed)
        if program in builtins.READERS:
            builtins.read(words, feed.text, where)
        elif program in builtins.EFFECTS:
            builtins.EFFECTS[program](self, words, where)
        self._code(program, words, where, feed)
        if feed.text is not None and program in self.rules.names.asks_password:
            self.found.note("password", findings.HARD_STOP, "gives a password in the command")
        return feeds.output(program, words, feed)

    def _within(self, name: str, text: str, words: list[scope.Value], where: scope.Scope) -> None:
        """An alias: its text with the words behind it."""
        self.found.note("alias", findings.NEVER_ALWAYS, "runs an alias that it defines")
        self.calling = (*self.calling, name)
        self.nested(" ".join((text, *(structure.quoted(w.shortest) for w in words))), where)
        self.calling = self.calling[:-1]

    def _called(
        self, name: str, words: list[scope.Value], where: scope.Scope, feed: feeds.Feed
    ) -> None:
        """A function: its body with its words as positional parameters."""
        self.found.note("function", findings.NEVER_ALWAYS, "defines what a word means")
        if name in self.calling or len(self.calling) >= NESTED_TEXTS:
            return
        self.calling = (*self.calling, name)
        inner = where.copy()
        inner.positional = tuple(word.text for word in words)
        self.budget.take_command()
        self.visit(self.functions[name], inner, feed)
        self.calling = self.calling[:-1]

    def _nameless(self, head: scope.Value, words: list[scope.Value], where: scope.Scope) -> None:
        """A program that only the shell will know: what it could destroy counts."""
        self.found.note(
            "made-name", findings.NEVER_ALWAYS, "runs a program whose name the shell makes"
        )
        programs.stops(self.rules, "rm", words, where, self.found, self.text)
        self._tail_words([scope.Value(head.shortest), *words], [], where)

    def _wrapped(
        self,
        program: str,
        words: list[scope.Value],
        inner: list[scope.Value],
        where: scope.Scope,
        feed: feeds.Feed,
    ) -> None:
        """A wrapper is never milder than asking, and asks once only for what merely reads."""
        self.found.note("wrapper", findings.ASK, f"runs another program behind {program}")
        programs.judge(self.rules, program, words, where, self.found, self.text, is_wrapper=True)
        if wrappers.is_odd(self.rules, program, words):
            self.found.note(
                "wrapper-options", findings.NEVER_ALWAYS, f"changes how {program} runs a program"
            )
        if re.search(r"[\s;|&$`<>(){}]", inner[0].text):
            self.nested(" ".join(word.text for word in inner), where.copy())
        elif program in ("xargs", "parallel"):
            self._tails(program, words, where, feed)
        before = dict(self.found.found)
        self.found.found.clear()
        self.budget.take_command()
        self.call(inner, where, feed)
        verdict = self.found.verdict
        inside = dict(self.found.found)
        self.found.found.clear()
        self.found.found.update({**before, **inside})
        if verdict is not findings.READONLY:
            self.found.note(
                "wrapped", findings.NEVER_ALWAYS, "hides a program that asks behind another one"
            )

    def _tails(
        self, program: str, words: list[scope.Value], where: scope.Scope, feed: feeds.Feed
    ) -> None:
        """Hard stops in the words of a program that may run them, and in texts among them."""
        schema = self.rules.schema(program, words[0].text if words else "")
        is_known = schema is not None and f"unknown-option-{program}" not in self.found.found
        if is_known or (schema is not None and schema.verdict == "allow-readonly"):
            return
        if program in ("echo", "printf", "test", "["):
            return
        roots = structure.roots_of(program, words)
        if roots:
            found = [structure.replaced(word, roots) for word in words]
            self._tail_words(found, roots, where)
        fed = [*words, *feed.names] if program in ("xargs", "parallel") else words
        is_shell = self.rules.is_one_of(program, self.rules.names.shells)
        names = self.rules.names
        is_runner = not rules.matches_any(program, names.runs_no_words + names.interpreters)
        self._tail_words(fed, roots, where, has_texts=not is_shell, is_sure=is_runner)

    def _tail_words(
        self,
        fed: list[scope.Value],
        roots: list[scope.Value],
        where: scope.Scope,
        *,
        has_texts: bool = True,
        is_sure: bool = True,
    ) -> None:
        for index, word in enumerate(fed[:TAIL_WORDS]):
            name = programs.bare_name(word.shortest)
            if name and self.rules.can_stop(name):
                rest = [*fed[index + 1 :], *roots]
                programs.stops(
                    self.rules, name, rest, where, self.found, self.text, is_sure=is_sure
                )
                self._code_stops(name, fed[index + 1 :], where)
            if has_texts and self._is_text(fed, index):
                self._suspect(word.shortest, where)

    def _code_stops(self, name: str, words: list[scope.Value], where: scope.Scope) -> None:
        inner = Walk(self.rules, findings.Findings(), self.budget, self.text, self.depth)
        inner._code(name, words, where, feeds.NOTHING)
        self.found.add_stops(inner.found)

    def _is_text(self, words: list[scope.Value], index: int) -> bool:
        """Whether a word could be a command of its own, and not a message to people."""
        if not re.search(r"[\s|;&!=]", words[index].text):
            return False
        before = words[index - 1].text if index else ""
        return before not in self.rules.names.text_options

    def _suspect(self, text: str, where: scope.Scope) -> None:
        """A text that something might run: only a hard stop in it counts."""
        pieces = structure.commands_in(text) if self.depth < NESTED_TEXTS else []
        if not pieces:
            self.found.note("too-deep", findings.NEVER_ALWAYS, "is nested too deeply")
        for piece in pieces:
            self.budget.take_command()
            self.nested(piece, where.copy(), only_stops=True)

    def _code(
        self, program: str, words: list[scope.Value], where: scope.Scope, feed: feeds.Feed
    ) -> None:
        """What shells and interpreters are given to run: by option, by operand, by input."""
        if self.rules.is_one_of(program, self.rules.names.shells):
            text, positional = wrappers.shell_text(words)
            inner = where.copy()
            inner.positional = tuple(word.text for word in positional)
            if text is not None:
                self.nested(text, inner)
            if feed.text is not None:
                self.nested(feed.text, inner)
        elif self.rules.is_one_of(program, self.rules.names.interpreters):
            codes = [word.shortest for word in words]
            for code in codes if feed.text is None else [*codes, feed.text]:
                self._suspects_of(code, where)

    def _suspects_of(self, code: str, where: scope.Scope) -> None:
        for rule, reason in code_text.hard_stops(code):
            self.found.note(rule, findings.HARD_STOP, reason, changes=True)
        for suspect in code_text.suspects(code):
            self.budget.take_command()
            self.nested(suspect, where.copy(), only_stops=True)
