"""What a judge says of a command, part by part: the vocabulary that the rules and parsers share.

Answers for the place that a command runs in. Never decides.
"""

from dataclasses import dataclass, field

from daemon.domain import base, verdicts

Verdict = verdicts.Verdict

READONLY = Verdict.ALLOW_READONLY
ASK = Verdict.ASK
NEVER_ALWAYS = Verdict.ASK_NEVER_ALWAYS
HARD_STOP = Verdict.HARD_STOP


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command would run, all paths absolute. `ports` are the daemon's own on loopback."""

    cwd: str
    home: str
    state: str
    config: str
    ports: frozenset[int] = frozenset((7411, 50051))


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason to be strict; `changes` says that something would be different afterwards."""

    rule: str
    verdict: Verdict
    reason: str
    changes: bool = False


@dataclass(slots=True)
class Findings:
    """What was found so far, each rule once; the programs, and every path that is to be looked up:
    a verdict rests on where they lead."""

    found: dict[str, Finding] = field(default_factory=dict)
    programs: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)

    def add(self, finding: Finding) -> None:
        """Keep a finding; of one rule the first stays."""
        self.found.setdefault(finding.rule, finding)

    def add_stops(self, other: "Findings") -> None:
        """Keep the hard stops of another judgement."""
        for finding in other.found.values():
            if finding.verdict is HARD_STOP:
                self.add(finding)

    def note(self, rule: str, verdict: Verdict, reason: str, *, changes: bool = False) -> None:
        """Keep a finding from its parts."""
        self.add(Finding(rule, verdict, reason, changes))

    @property
    def verdict(self) -> Verdict:
        """The strictest of all."""
        return verdicts.strictest(finding.verdict for finding in self.found.values())

    @property
    def changes(self) -> bool:
        """Whether anything would be different afterwards."""
        return any(finding.changes for finding in self.found.values())

    def reasons(self) -> tuple[str, ...]:
        """In plain words, the strictest first, each once."""
        ordered = sorted(self.found.values(), key=lambda f: verdicts.ORDER[f.verdict], reverse=True)
        return tuple(dict.fromkeys(finding.reason for finding in ordered))


class CommandJudgement(base.Value):
    """What policy says of a command. `refused` goes before the verdict, which then is a hard stop.
    `argv` are plain words that run without a shell; `rules` are the findings' names."""

    verdict: verdicts.Verdict
    reasons: tuple[str, ...]
    always_allowed: bool
    argv: tuple[str, ...] | None = None
    refused: bool = False
    rules: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
