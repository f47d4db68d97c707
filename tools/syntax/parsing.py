"""A program: reads one text from its input, and prints the first fault of its syntax as JSON.

Started as `python -I parsing.py LANGUAGE`; prints `{}` when there is none, else the fault with its
line and column, from 1, 0 where nobody knows. Bounds itself first, reads no file, and runs nothing.
Imports nothing of the project's.
"""

import json
import re
import resource
import sys
import tomllib
import warnings
from typing import NamedTuple

MEMORY_BYTES = 1024 * 1024 * 1024
CPU_SECONDS = 4
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)")


class Fault(NamedTuple):
    """Where the text is not as its language wants it, and why."""

    line: int
    column: int
    message: str


def python(text: str) -> Fault | None:
    try:
        compile(text, "text", "exec", dont_inherit=True)
    except SyntaxError as error:
        return Fault(error.lineno or 0, error.offset or 0, error.msg)
    except ValueError as error:
        return Fault(0, 0, str(error))
    return None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def as_json(text: str) -> Fault | None:
    try:
        json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        return Fault(error.lineno, error.colno, error.msg)
    except ValueError as error:
        return Fault(0, 0, str(error))
    return None


def toml(text: str) -> Fault | None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        found = _AT.search(said)
        line, column = (found[1] or 0, found[2] or 0) if found else (0, 0)
        return Fault(int(line), int(column), _AT.sub("", said))
    return None


def yaml(text: str) -> Fault | None:
    import yaml as library

    try:
        for _ in library.compose_all(text, library.CSafeLoader):
            pass
    except library.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(filter(None, (error.context, error.problem)))
        return Fault(mark.line + 1 if mark else 0, mark.column + 1 if mark else 0, said)
    except library.YAMLError as error:
        return Fault(0, 0, str(error))
    return None


def html(text: str) -> Fault | None:
    """What a parser has to mend; a missing doctype is none, since a file may be a part."""
    import html5lib
    from html5lib import constants

    parser = html5lib.HTMLParser()
    parser.parse(text)
    for (line, column), code, given in parser.errors:
        if "doctype" not in code:
            said = constants.E.get(code, code)
            return Fault(line, column + 1, said % given if given else said)
    return None


PARSERS = {"python": python, "json": as_json, "toml": toml, "yaml": yaml, "html": html}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    warnings.simplefilter("ignore")
    text = sys.stdin.buffer.read().decode()
    fault = PARSERS[sys.argv[1]](text)
    sys.stdout.write(json.dumps({} if fault is None else fault._asdict()))


if __name__ == "__main__":
    main()
