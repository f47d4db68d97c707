"""One program with its words: what its schema allows, what the rules say, what it reads or writes.

Answers for a single call. A program without a schema is never read-only, and a word that is not
known completely never makes it so. What a program starts in its turn is `walk`'s work.
"""

from collections.abc import Sequence
from dataclasses import replace

from daemon.permission import (
    deception,
    expressions,
    findings,
    invocation,
    options,
    paths,
    rules,
    scope,
)

Access = invocation.Access
Kind = paths.Kind

_BINARY_FOLDERS = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/")
_TREE_OPTIONS = ("-r", "-R", "--recursive")


def name_of(head: scope.Value, found: findings.Findings) -> str:
    """The program that a first word names; a path to a folder of the system's is its name."""
    text = head.text
    if not head.plain:
        found.note("made-name", findings.NEVER_ALWAYS, "runs a program whose name the shell makes")
    if deception.is_misleading_name(text):
        found.note(
            "misleading-name",
            findings.NEVER_ALWAYS,
            "runs a program whose name is not written in plain letters",
        )
        text = deception.folded(text)
    name = text.rpartition("/")[2]
    if not bare_name(text):
        found.note(
            "program-file",
            findings.NEVER_ALWAYS,
            "runs code from a file that can change",
            changes=True,
        )
    return name


def bare_name(text: str) -> str:
    """The name of a program of the system's; nothing where it is a file elsewhere."""
    if "/" not in text:
        return text
    folder, _, name = text.rpartition("/")
    is_own = (
        ".." not in text
        and text.startswith("/")
        and paths.absolute(folder or "/", "/") + "/" in _BINARY_FOLDERS
    )
    return name if is_own else ""


def judge(
    known: rules.Rules,
    program: str,
    words: Sequence[scope.Value],
    where: scope.Scope,
    found: findings.Findings,
    text: str = "",
    *,
    is_wrapper: bool = False,
) -> None:
    """Add what there is to find about one call; of a wrapper only what the rules say."""
    if program in ("tar", "bsdtar") and words and words[0].text.isalpha():
        words = [replace(words[0], text=f"-{words[0].text}"), *words[1:]]
    call = invocation.Invocation(
        program,
        words,
        where,
        known.paths,
        is_network=known.is_one_of(program, known.names.network),
        text=text,
    )
    recognised = is_wrapper
    if is_wrapper:
        _uncertain(words, found)
    elif program in expressions.JUDGES:
        recognised = _expression(known, call, found)
    elif (schema := known.schema(program, words[0].text if words else "")) is not None:
        recognised = True
        _schema(known, schema, call, found)
    for rule in known.of(program) if words else known.bound_to(program):
        if rule.holds(call):
            found.add(rule.finding())
            recognised = recognised or bool(rule.programs)
    if not recognised and known.is_one_of(
        program, (*known.names.shells, *known.names.interpreters)
    ):
        found.note("code", findings.NEVER_ALWAYS, "runs code", changes=True)
    elif not recognised:
        found.note(
            "unknown-program",
            findings.NEVER_ALWAYS,
            f"runs {program[:40]!a}, a program without rules",
            changes=True,
        )
    found.programs.add(program)
    _look_up(call, found)


def variable(
    known: rules.Rules, name: str, text: str, found: findings.Findings, *, alone: bool
) -> None:
    """Add what it means that a variable is set, alone or for one command."""
    names = known.names
    is_given = bool(text) and paths.UNKNOWN not in text
    if is_given and rules.matches_any(name, names.password_variables):
        found.note("password", findings.HARD_STOP, "gives a password in the command")
    is_harmless = rules.matches_any(name, names.harmless_variables)
    if rules.matches_any(name, names.shell_variables) or not (alone or is_harmless):
        found.note(
            "environment",
            findings.NEVER_ALWAYS,
            "sets a variable that can change what programs do",
        )
    else:
        found.note("assignment", findings.ASK, "sets a variable")


def stops(
    known: rules.Rules,
    program: str,
    words: Sequence[scope.Value],
    where: scope.Scope,
    found: findings.Findings,
    text: str = "",
    *,
    is_sure: bool = True,
) -> None:
    """Add only the hard stops of a call; where it is a guess, not those of the bare name."""
    inner = findings.Findings()
    judge(known, program, words, where, inner, text)
    for name in () if is_sure else known.bare:
        inner.found.pop(name, None)
    found.add_stops(inner)


def redirect(
    known: rules.Rules,
    is_write: bool,
    target: scope.Value,
    where: scope.Scope,
    found: findings.Findings,
) -> None:
    """Add what there is to find about a redirection to or from a file."""
    access = Access.WRITE if is_write else Access.READ
    call = invocation.Invocation(
        ">" if is_write else "<",
        [target],
        where,
        known.paths,
        is_network=target.text.startswith("/dev/"),
        known_paths=[(target.text, access)],
    )
    _uncertain([target], found)
    if is_write:
        _writes(call, found)
    else:
        _reads(call, found, is_tree=False, is_content=True)
    for rule in known.of(call.program):
        if rule.holds(call):
            found.add(rule.finding())
    _look_up(call, found)


def _look_up(call: invocation.Invocation, found: findings.Findings) -> None:
    """Have every path that the words may name looked up: where it leads is bound to the answer."""
    for path, _ in call.candidates:
        if path and Kind.HARMLESS not in call.kinds(path):
            found.paths.add(path if path.startswith("/") else f"{call.where.cwd}/{path}")


def _uncertain(words: Sequence[scope.Value], found: findings.Findings) -> None:
    """Words that only the shell completes keep a program from being read-only."""
    if any(word.odd for word in words):
        found.note("evaluated", findings.NEVER_ALWAYS, "holds an expansion that can run code")
    elif any(word.globbed for word in words):
        found.note("glob", findings.ASK, "names files by a pattern that is expanded later")
    elif any(not word.plain for word in words):
        found.note("expansion", findings.ASK, "holds words that only the shell completes")


def _expression(known: rules.Rules, call: invocation.Invocation, found: findings.Findings) -> bool:
    """A program whose operands are a language: find, test, sed and their kin."""
    answer = expressions.JUDGES[call.program]([word.text for word in call.words])
    _uncertain(call.words, found)
    if answer.verdict is not findings.READONLY:
        found.note(
            f"expression-{call.program.replace('[', 'test')}",
            answer.verdict,
            answer.reason,
            changes=answer.changes,
        )
    if answer.verdict is not findings.NEVER_ALWAYS:
        call.known_paths = [(call.words[index].text, Access.READ) for index in answer.reads]
        call.known_operands = [call.words[index] for index in answer.reads]
        is_tree = call.program == "find"
        _reads(call, found, is_tree=is_tree, is_content=not is_tree)
        if is_tree and "outside" in found.found and _seeks_secret(call):
            found.note(
                "seeks-secret", findings.NEVER_ALWAYS, "searches for what looks like a secret"
            )
    elif call.program == "find":
        call.known_operands = _find_roots(call.words)
    return True


def _seeks_secret(call: invocation.Invocation) -> bool:
    """Whether find looks for the name of a secret file."""
    return any(
        paths.Kind.SECRET in call.kinds(word.text.replace("*", filling).replace("?", filling))
        for before, word in zip(call.words, call.words[1:], strict=False)
        for filling in ("", "x")
        if before.text in ("-name", "-iname", "-path", "-ipath", "-wholename", "-regex")
    )


def _find_roots(words: Sequence[scope.Value]) -> list[scope.Value]:
    roots: list[scope.Value] = []
    for word in words:
        if word.text.startswith("-") and len(word.text) > 1 and roots:
            break
        if not word.text.startswith("-"):
            roots.append(word)
    return roots


def _schema(
    known: rules.Rules,
    schema: options.Schema,
    call: invocation.Invocation,
    found: findings.Findings,
) -> None:
    behind = call.words[1:] if schema.first else call.words
    reading = options.read(schema, list(behind))
    verdict = findings.Verdict(schema.verdict)
    if verdict is not findings.READONLY:
        found.note(
            f"program-{call.program}",
            verdict,
            schema.reason or "is a program that asks",
            changes=schema.changes,
        )
    for name, kind, value in reading.valued:
        if not options.fits(kind, value.text):
            reading.faults.append(name)
    for value, kind in zip(reading.operands, reading.operand_kinds, strict=True):
        if not options.fits(kind, value.text):
            reading.faults.append("operands")
    if reading.faults:
        found.note(
            f"unknown-option-{call.program}",
            findings.Verdict(schema.unknown),
            schema.unknown_reason
            or f"gives {call.program} something that is not known to be harmless"
            f" ({', '.join(reading.faults)[:60]!a})".replace("'", ""),
            changes=schema.unknown != "ask",
        )
    _uncertain(call.words, found)
    if reading.faults and schema.verdict != "allow-readonly":
        return
    pairs = [(value, kind) for _, kind, value in reading.valued]
    pairs += zip(reading.operands, reading.operand_kinds, strict=True)
    known_paths = [
        (value.text, Access.WRITE if kind == "write" else Access.READ)
        for value, kind in pairs
        if kind in ("path", "tree", "write")
    ]
    if not reading.faults:
        call.known_paths = known_paths
        call.known_operands = (
            [*call.words[:1], *reading.operands] if schema.first else (reading.operands)
        )
    is_tree = schema.operands == "tree" or any(call.has_option(o) for o in _TREE_OPTIONS)
    _reads(call, found, is_tree=is_tree, is_content=call.program not in known.names.unread)
    _writes(call, found)


def _reads(
    call: invocation.Invocation, found: findings.Findings, *, is_tree: bool, is_content: bool
) -> None:
    """Reading outside the workspace asks; what is searched whole there is never remembered."""
    for path, access in call.candidates:
        kinds = call.kinds(path)
        if access is Access.WRITE or Kind.HARMLESS in kinds:
            continue
        if Kind.SECRET in kinds and is_content:
            found.note("secret", findings.NEVER_ALWAYS, "reads what looks like a secret")
        elif kinds & {Kind.OUTSIDE, Kind.DEVICE}:
            if is_tree and is_content and kinds & {Kind.CRITICAL, Kind.HOLDS_STATE}:
                found.note(
                    "bulk-search", findings.NEVER_ALWAYS, "searches all files outside the workspace"
                )
            found.note("outside", findings.ASK, "reads outside the workspace")
            if is_content and kinds & {Kind.PROCESS, Kind.OWN_PROCESS}:
                found.note("process", findings.NEVER_ALWAYS, "reads a process's own files")


def _writes(call: invocation.Invocation, found: findings.Findings) -> None:
    for path, access in call.candidates:
        if access is Access.WRITE:
            written(call.kinds(path), found)
    if any(not word.plain for word in call.words) and "write" in found.found:
        found.note(
            "write-unknown",
            findings.NEVER_ALWAYS,
            "changes files that only the shell will name",
            changes=True,
        )


def written(kinds: frozenset[paths.Kind], found: findings.Findings) -> None:
    """What it means to write there."""
    if Kind.HARMLESS in kinds:
        return
    if Kind.AUTORUN in kinds:
        found.note(
            "autorun", findings.NEVER_ALWAYS, "writes what other programs run later", changes=True
        )
    if Kind.SECRET in kinds:
        found.note("write-secret", findings.NEVER_ALWAYS, "writes a secret file", changes=True)
    if Kind.NETWORK in kinds:
        found.note("network-file", findings.NEVER_ALWAYS, "sends data out", changes=True)
    if kinds & {Kind.OUTSIDE, Kind.SYSTEM, Kind.DEVICE}:
        found.note(
            "write-outside", findings.NEVER_ALWAYS, "writes outside the workspace", changes=True
        )
    found.note("write", findings.ASK, "writes a file", changes=True)
