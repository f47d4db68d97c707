"""The verdict over a shell command's text: the entry of this package for whoever runs commands.

`judge` answers for the text alone, in a place. What it cannot see (links, the program's inode, the
sandbox) is inspected elsewhere and can only make the verdict stricter: `paths` and `programs` name
what the verdict rests on and is to be looked up.
"""

from collections.abc import Mapping

from daemon.permission import (
    deception,
    findings,
    rules,
    scope,
    shell_syntax,
    structure,
    walk,
)

Place = findings.Place
CommandJudgement = findings.CommandJudgement
EXAMPLE_PLACE = Place(
    cwd="/home/agent/workspace",
    home="/home/agent",
    state="/var/lib/ducklm",
    config="/etc/ducklm",
)
"""Where the examples of the rules are judged, whatever the place of the daemon itself."""
_SHELL_ONLY = frozenset(
    ("cd", "command", "type", "ulimit", "umask", "times", "hash", "set", "export", "pushd", "popd")
)


def judge(known: rules.Rules, text: str, place: Place) -> CommandJudgement:
    """The verdict over a text that bash would run in a place."""
    reason = deception.refusal(text)
    if reason is not None:
        return _refusal(reason)
    try:
        found, seen = _found(known, text, place)
    except shell_syntax.ParseExhausted as error:
        return _refusal(str(error))
    verdict = found.verdict
    return CommandJudgement(
        verdict=verdict,
        reasons=found.reasons(),
        always_allowed=verdict is findings.ASK,
        argv=_argv(text, seen),
        rules=tuple(found.found),
        programs=tuple(sorted(found.programs)),
        paths=tuple(sorted(found.paths)),
    )


def load(table: Mapping[str, object]) -> rules.Rules:
    """The rules of a `permissions.toml`, every example confirmed.

    Raises:
        rules.PermissionsFault: the table is not well formed, or an example is judged otherwise.
    """
    return rules.load(table, _example)


def _example(known: rules.Rules, text: str) -> findings.Findings | None:
    try:
        return _found(known, text, EXAMPLE_PLACE)[0]
    except shell_syntax.ParseExhausted:
        return None


def _refusal(reason: str) -> CommandJudgement:
    return CommandJudgement(
        verdict=findings.HARD_STOP, reasons=(reason,), always_allowed=False, refused=True
    )


def _found(
    known: rules.Rules, text: str, place: Place
) -> tuple[findings.Findings, list[shell_syntax.Command]]:
    found = findings.Findings()
    deception.inspect(text, found)
    whole = walk.Walk(known, found, shell_syntax.Budget(), text)
    whole.run(text, scope.Scope.at(place))
    seen = whole.seen
    if not seen:
        found.note("nothing", findings.ASK, "runs no command")
    if len(seen) > walk.MANY_COMMANDS:
        found.note("many", findings.NEVER_ALWAYS, "holds too many commands to read at a glance")
    if len(seen) > 1 and found.changes:
        found.note(
            "several", findings.NEVER_ALWAYS, "does several things at once, and not only reads"
        )
    if found.verdict is findings.READONLY and not structure.read_alike(text, seen):
        found.note("not-understood", findings.NEVER_ALWAYS, "cannot be fully understood")
    return found, seen


def _argv(text: str, seen: list[shell_syntax.Command]) -> tuple[str, ...] | None:
    """The words of the only command, where no shell is needed to run them."""
    if len(seen) != 1 or seen[0].redirects or not seen[0].words:
        return None
    if not structure.read_alike(text, seen):
        return None
    words = [word.plain for word in seen[0].words]
    plain = tuple(word for word in words if word is not None)
    if len(plain) != len(words) or plain[0] in _SHELL_ONLY or "=" in plain[0]:
        return None
    return plain
