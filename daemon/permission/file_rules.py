"""The verdict over the paths that a call names: where each is written, and where it leads.

Pure over what the inspection found. Never follows a link itself, and never lets the written path
excuse the real one, or the real one the written: the strictest of all holds. Here a path is meant
literally: globs are characters, and only a leading `~` is the home. The folders of the place must
be real ones, without links.
"""

import dataclasses
from collections.abc import Sequence

from daemon.domain import base, verdicts
from daemon.permission import card, findings, paths, rules
from tools import contract

Kind = paths.Kind

_REASON_CHARS = 200
_JUDGED_DEPTH = 60
"""Folders in a path; `paths` looks at no more than 64."""
_LITERAL = str.maketrans({"*": "\ue000a", "?": "\ue000b", "[": "\ue000c", "\ue000": "\ue000\ue000"})
"""What `paths` takes for marks of a pattern, written so that it does not, each in its own way."""
_NAMES_ALIKE = frozenset((Kind.SECRET, Kind.AUTORUN, Kind.ACCOUNTS, Kind.LOGINS, Kind.STATE))
"""What a name is in whatever case it is written: some file systems know no difference."""

_Note = tuple[frozenset[Kind], str, verdicts.Verdict, str]
_READS: tuple[_Note, ...] = (
    (
        frozenset((Kind.STATE,)),
        "own-state",
        findings.HARD_STOP,
        "reaches into the daemon's own state or policy",
    ),
    (
        frozenset((Kind.ACCOUNTS,)),
        "accounts",
        findings.HARD_STOP,
        "touches the password hashes or who may become root",
    ),
    (
        frozenset((Kind.DISK,)),
        "disk",
        findings.HARD_STOP,
        "reads or writes a raw disk or the machine's memory",
    ),
    (
        frozenset((Kind.PROCESS, Kind.OWN_PROCESS)),
        "process-memory",
        findings.HARD_STOP,
        "reads a process's memory, files or environment",
    ),
    (
        frozenset((Kind.SECRET,)),
        "secret",
        findings.NEVER_ALWAYS,
        "reads what looks like a secret",
    ),
    (
        frozenset((Kind.DEVICE, Kind.NETWORK)),
        "device",
        findings.NEVER_ALWAYS,
        "reads a device",
    ),
    (
        frozenset((Kind.OUTSIDE,)),
        "outside",
        findings.ASK,
        "reads a file outside the working folder",
    ),
)
_WRITES: tuple[_Note, ...] = (
    *_READS[:4],
    (
        frozenset((Kind.HOLDS_STATE,)),
        "holds-own-state",
        findings.HARD_STOP,
        "takes a folder that holds the daemon's own state or policy",
    ),
    (
        frozenset((Kind.CRITICAL,)),
        "critical",
        findings.HARD_STOP,
        "writes over a system folder or a home",
    ),
    (frozenset((Kind.KERNEL,)), "kernel", findings.HARD_STOP, "changes the running kernel"),
    (
        frozenset((Kind.LOGINS,)),
        "logins",
        findings.HARD_STOP,
        "changes who may log in to this machine",
    ),
    (
        frozenset((Kind.DEVICE, Kind.NETWORK, Kind.HARMLESS)),
        "write-device",
        findings.HARD_STOP,
        "writes over a device",
    ),
    (
        frozenset((Kind.AUTORUN,)),
        "autorun",
        findings.NEVER_ALWAYS,
        "writes what other programs run later",
    ),
    (frozenset((Kind.SECRET,)), "write-secret", findings.NEVER_ALWAYS, "writes a secret file"),
    (
        frozenset((Kind.OUTSIDE,)),
        "write-outside",
        findings.NEVER_ALWAYS,
        "writes a file outside the working folder",
    ),
    (
        frozenset((Kind.SYSTEM,)),
        "write-system",
        findings.NEVER_ALWAYS,
        "writes into a folder of the system",
    ),
    (frozenset(Kind), "write", findings.ASK, "writes a file"),
)


class FileJudgement(base.Value):
    """What policy says of the paths of a call. `rules` are the findings' names."""

    verdict: verdicts.Verdict
    reasons: tuple[str, ...]
    always_allowed: bool
    rules: tuple[str, ...] = ()


def judge(
    known: rules.Rules, touched: Sequence[contract.Touched], place: findings.Place
) -> FileJudgement:
    """The strictest over every path that a file tool's call touches."""
    found = findings.Findings()
    if not touched:
        found.note("nothing", findings.NEVER_ALWAYS, "names no path that could be judged")
    for one in touched:
        for path in (one.written, one.real):
            _note(known, path, one.writes, place, found)
        if one.writes and one.links:
            found.note(
                "hard-link",
                findings.NEVER_ALWAYS,
                "the file has another name elsewhere",
                changes=True,
            )
        _note_link(one, place, found)
    return _judgement(found, found.verdict)


def raise_for_links(
    verdict: verdicts.Verdict,
    known: rules.Rules,
    touched: Sequence[contract.Touched],
    place: findings.Place,
) -> FileJudgement:
    """A verdict that was given over written paths, made stricter where a link leads to worse.

    `reasons` and `rules` are those that are added; "always" is not offered for what was raised,
    since a link can be turned elsewhere.
    """
    added = findings.Findings()
    for one in touched:
        if _absolute(one.written, place) == _absolute(one.real, place):
            continue
        written, real = findings.Findings(), findings.Findings()
        _note(known, one.written, one.writes, place, written)
        _note(known, one.real, one.writes, place, real)
        worse = [finding for rule, finding in real.found.items() if rule not in written.found]
        for finding in worse:
            added.add(finding)
        if worse:
            _note_link(one, place, added)
    return _judgement(added, verdicts.strictest((verdict, added.verdict)))


def _judgement(found: findings.Findings, verdict: verdicts.Verdict) -> FileJudgement:
    is_linked = any(rule.startswith("link ") for rule in found.found)
    return FileJudgement(
        verdict=verdict,
        reasons=found.reasons(),
        always_allowed=verdict is findings.ASK and not is_linked,
        rules=tuple(found.found),
    )


def _absolute(path: str, place: findings.Place) -> str:
    if path == "~" or path.startswith("~/"):
        path = f"{place.home}/{path[2:]}"
    return paths.absolute(path, place.cwd)


def _note_link(one: contract.Touched, place: findings.Place, found: findings.Findings) -> None:
    """Say where the path leads, when that is not what is written."""
    real = _absolute(one.real, place)
    if _absolute(one.written, place) == real:
        return
    shown = card.visible(real).replace("\n", "\\u{a}")
    if len(shown) > _REASON_CHARS:
        shown = f"{shown[:_REASON_CHARS]}…"
    found.note(f"link {shown}", findings.READONLY, f"a link leads to {shown}")


def _note(
    known: rules.Rules,
    path: str,
    writes: bool,
    place: findings.Place,
    found: findings.Findings,
) -> None:
    """What it means to read or write there."""
    if "\0" in path or not path:
        found.note("no-path", findings.HARD_STOP, "names a path that cannot be")
        return
    if path.count("/") + place.cwd.count("/") > _JUDGED_DEPTH:
        found.note("deep", findings.NEVER_ALWAYS, "names a path too deep to judge", changes=writes)
    kinds = _kinds(known, path, place)
    if writes and paths.is_within(_absolute(path, place), "/proc"):
        kinds |= {Kind.KERNEL}
    for mark, rule, verdict, reason in _WRITES if writes else _READS:
        if kinds & mark:
            found.note(rule, verdict, reason, changes=writes)


def _kinds(known: rules.Rules, path: str, place: findings.Place) -> frozenset[Kind]:
    """Everything that a literal path may be, in whatever case its names are written."""
    whole = _absolute(path, place).translate(_LITERAL)
    literal = _literal(place)
    kinds = paths.classify(whole, literal, known.paths, literal.cwd)
    folded = whole.casefold()
    if folded == whole:
        return kinds
    alike = paths.classify(folded, _folded(literal), known.paths, literal.cwd.casefold())
    return kinds | (alike & _NAMES_ALIKE)


def _literal(place: findings.Place) -> findings.Place:
    return dataclasses.replace(
        place,
        cwd=place.cwd.translate(_LITERAL),
        home=place.home.translate(_LITERAL),
        state=place.state.translate(_LITERAL),
        config=place.config.translate(_LITERAL),
    )


def _folded(place: findings.Place) -> findings.Place:
    return dataclasses.replace(
        place,
        cwd=place.cwd.casefold(),
        home=place.home.casefold(),
        state=place.state.casefold(),
        config=place.config.casefold(),
    )
