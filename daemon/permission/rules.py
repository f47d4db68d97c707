"""The owner's rules and schemas: a closed form, and examples that the judge itself must confirm.

A rule speaks of a program, its options, operands, targets and hosts, never of the bare text. All
its conditions must hold. Answers for what `permissions.toml` may say; reads no file.
"""

import fnmatch
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pydantic

from daemon.domain import base, verdicts
from daemon.permission import findings, hosts, invocation, options, paths

SCHEMA_VERSION = 1
KEPT_PROGRAMS = 4096


class PermissionsFault(ValueError):
    """The rules cannot be used: what is wrong, one line a fault."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


class _Table(base.Value):
    """A table of the file; lists stand for tuples in TOML."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=False)


class Rule(_Table):
    """What must hold for a finding. An empty condition always holds."""

    id: str = pydantic.Field(pattern=r"^[a-z][a-z0-9-]*$")
    verdict: verdicts.Verdict
    reason: str = pydantic.Field(min_length=8)
    changes: bool = True
    programs: tuple[str, ...] = ()
    not_programs: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    not_first: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    not_options: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    targets: tuple[paths.Kind, ...] = ()
    access: tuple[invocation.Access, ...] = ()
    reaches: tuple[hosts.Kind, ...] = ()
    names: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    matches: tuple[str, ...] = pydantic.Field(min_length=1)
    not_matches: tuple[str, ...] = pydantic.Field(min_length=1)

    def finding(self) -> findings.Finding:
        """What the rule says where it holds."""
        return findings.Finding(self.id, self.verdict, self.reason, self.changes)

    def holds(self, call: invocation.Invocation) -> bool:
        """Whether every condition holds for a call of one of its programs."""
        return (
            self._fits_words(call)
            and (not self.targets or call.has_target(frozenset(self.targets), self.access))
            and (not self.reaches or bool(call.hosts & set(self.reaches)))
            and (not self.names or any(matches_any(n, self.names) for n in call.names))
            and (not self.mentions or any(m in call.mentioned for m in self.mentions))
        )

    @property
    def is_bare(self) -> bool:
        """Whether a program's name alone is enough."""
        conditions = (self.first, self.options, self.operands, self.targets, self.reaches)
        return not any((*conditions, self.names, self.mentions))

    def _fits_words(self, call: invocation.Invocation) -> bool:
        if self.not_programs and matches_any(call.program, self.not_programs):
            return False
        first = call.operands[0].text if call.operands else ""
        if self.first and not matches_any(first, self.first):
            return False
        if self.not_first and matches_any(first, self.not_first):
            return False
        if self.options and not any(call.has_option(option) for option in self.options):
            return False
        if self.not_options and any(call.has_option(option) for option in self.not_options):
            return False
        return not self.operands or any(
            matches_any(word.text[:256], self.operands) for word in call.words
        )


class _Paths(_Table):
    own: tuple[str, ...]
    secret: tuple[str, ...]
    not_secret: tuple[str, ...]
    accounts: tuple[str, ...]
    logins: tuple[str, ...]
    autorun: tuple[str, ...]
    critical: tuple[str, ...]
    disks: tuple[str, ...]
    kernel: tuple[str, ...]
    system: tuple[str, ...]
    harmless: tuple[str, ...]


class Wrapper(_Table):
    """A program that runs the words behind its own options and `skip` operands."""

    values: tuple[str, ...] = ()
    skip: int = 0
    assigns: bool = False


class _Programs(_Table):
    """Names of programs by what they do with their words."""

    shells: tuple[str, ...]
    interpreters: tuple[str, ...]
    network: tuple[str, ...]
    text_options: tuple[str, ...]
    harmless_variables: tuple[str, ...]
    shell_variables: tuple[str, ...]
    unread: tuple[str, ...]
    asks_password: tuple[str, ...]
    runs_no_words: tuple[str, ...]
    password_variables: tuple[str, ...]


class _File(_Table):
    version: int
    paths: _Paths
    names: _Programs
    wrappers: dict[str, Wrapper]
    programs: tuple[options.Schema, ...]
    rules: tuple[Rule, ...]


@functools.lru_cache(maxsize=1024)
def _matcher(patterns: tuple[str, ...]) -> tuple[frozenset[str], re.Pattern[str] | None]:
    """The names of a list, and one expression for its patterns."""
    marked = [pattern for pattern in patterns if re.search(r"[*?\[]", pattern)]
    expression = "|".join(map(fnmatch.translate, marked))
    return frozenset(patterns), re.compile(expression) if marked else None


def matches_any(text: str, patterns: tuple[str, ...]) -> bool:
    """Whether a whole text fits one of the patterns."""
    names, expression = _matcher(patterns)
    return text in names or (expression is not None and expression.match(text) is not None)


@dataclass(slots=True)
class Rules:
    """The rules as the judge uses them, found by program."""

    names: _Programs
    paths: paths.PathNames
    wrappers: Mapping[str, Wrapper]
    rules: tuple[Rule, ...]
    schemas: Mapping[str, tuple[options.Schema, ...]]
    bare: frozenset[str]
    _by_program: dict[str, tuple[Rule, ...]] = field(default_factory=dict)
    _can_stop: dict[str, bool] = field(default_factory=dict)

    def of(self, program: str) -> tuple[Rule, ...]:
        """The rules that may hold for a program."""
        known = self._by_program.get(program)
        if known is None:
            known = tuple(
                rule
                for rule in self.rules
                if not rule.programs or matches_any(program, rule.programs)
            )
            if len(self._by_program) < KEPT_PROGRAMS:
                self._by_program[program] = known
        return known

    def bound_to(self, program: str) -> Sequence[Rule]:
        """Those among them that speak of programs: the only ones that hold without any word."""
        return [rule for rule in self.of(program) if rule.programs]

    def can_stop(self, program: str) -> bool:
        """Whether a hard stop is bound to this program by name."""
        known = self._can_stop.get(program)
        if known is None:
            known = any(
                rule.programs and rule.verdict is findings.HARD_STOP for rule in self.of(program)
            )
            if len(self._can_stop) < KEPT_PROGRAMS:
                self._can_stop[program] = known
        return known

    def schema(self, program: str, first: str) -> options.Schema | None:
        """The schema for a program, perhaps for its first word."""
        general = None
        for schema in self.schemas.get(program, ()):
            if schema.first == first and first:
                return schema
            general = general if schema.first else schema
        return general

    def is_one_of(self, program: str, patterns: tuple[str, ...]) -> bool:
        """Whether a program's name fits one of the patterns."""
        return matches_any(program, patterns)


Judge = Callable[[Rules, str], findings.Findings | None]


def parse(table: Mapping[str, object]) -> Rules:
    """The rules of a file, not yet tested against their examples.

    Raises:
        PermissionsFault: the table does not have the closed form.
    """
    try:
        file = _File.model_validate(table)
    except pydantic.ValidationError as error:
        raise PermissionsFault(
            [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        ) from error
    if file.version != SCHEMA_VERSION:
        raise PermissionsFault([f"version: {file.version} is not {SCHEMA_VERSION}"])
    repeated = {r.id for r in file.rules if sum(o.id == r.id for o in file.rules) > 1}
    if repeated:
        raise PermissionsFault([f"rules: {name} stands twice" for name in sorted(repeated)])
    schemas: dict[str, tuple[options.Schema, ...]] = {}
    for schema in file.programs:
        for name in schema.programs:
            schemas[name] = (*schemas.get(name, ()), schema)
    lists = {name: paths.NameList(value) for name, value in file.paths.model_dump().items()}
    return Rules(
        file.names,
        paths.PathNames(**lists),
        file.wrappers,
        file.rules,
        schemas,
        frozenset(r.id for r in file.rules if r.is_bare),
    )


def load(table: Mapping[str, object], judge: Judge) -> Rules:
    """The rules of a file, every example confirmed by the judge.

    Raises:
        PermissionsFault: the table is not well formed, or an example is judged otherwise.
    """
    rules = parse(table)
    faults: list[str] = []
    for rule in rules.rules:
        for example in rule.matches:
            found = judge(rules, example)
            if found is None or rule.id not in found.found:
                faults.append(f"rule {rule.id} does not match its example {example!r}")
        for example in rule.not_matches:
            found = judge(rules, example)
            if found is None or rule.id in found.found:
                faults.append(f"rule {rule.id} matches its counter-example {example!r}")
    if faults:
        raise PermissionsFault(faults)
    return rules
