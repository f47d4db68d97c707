"""`ducklmd policy check`: what the policy would say of commands, one JSON object a line.

Reads `{"id": …, "command": …}` and prints `{"id": …, "verdict": …, "reasons": […]}`. Loads no part
of the daemon but its rules, takes no lock and touches no state. Runs nothing.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from daemon import exits
from daemon.config import permissions
from daemon.domain import errors
from daemon.permission import command, rules

REFUSED = "refused"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ducklmd policy", description="Say what the policy would decide."
    )
    check = parser.add_subparsers(required=True).add_parser("check")
    for name in ("cwd", "home", "state", "config"):
        default = getattr(command.EXAMPLE_PLACE, name)
        check.add_argument(f"--{name}", default=default, help=f"(default: {default})")
    return parser


def run(arguments: Sequence[str], lines: Iterable[str], out: TextIO, err: TextIO) -> int:
    """Judge every line; returns the exit code: 2 where a line is no such object."""
    given = _parser().parse_args(arguments)
    place = command.Place(
        cwd=_folder(given.cwd),
        home=_folder(given.home),
        state=_folder(given.state),
        config=_folder(given.config),
    )
    try:
        known = permissions.load([Path(given.config)]).rules
    except errors.ConfigFault as fault:
        for line in fault.faults:
            err.write(f"ducklmd: {line}\n")
        return exits.Exit.SETTINGS
    code = exits.Exit.STOPPED
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        answer = _answer(known, line, place)
        if answer is None:
            err.write(f'ducklmd: line {number} is no {{"id": …, "command": …}}\n')
            code = exits.Exit.USAGE
            continue
        out.write(answer + "\n")
        out.flush()
    return code


def _folder(given: str) -> str:
    return str(Path(given).absolute())


def _answer(known: rules.Rules, line: str, place: command.Place) -> str | None:
    try:
        given = json.loads(line)
    except ValueError:
        return None
    if not isinstance(given, dict) or not isinstance(given.get("command"), str):
        return None
    judged = command.judge(known, given["command"], place)
    verdict = REFUSED if judged.refused else judged.verdict.value
    return json.dumps({"id": given.get("id"), "verdict": verdict, "reasons": judged.reasons})
