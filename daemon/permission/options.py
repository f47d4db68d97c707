"""Reads a command's words by a closed schema of its program: options, their values, operands.

Answers for whether every option is one that the schema names, spelt in full. Knows no program.
"""

import re
from dataclasses import dataclass, field

import pydantic

from daemon.domain import base
from daemon.permission import scope

_NUMBER = re.compile(r"[+-]?\d{1,9}([.]\d{1,6})?[bkKmMGTs]?B?")
_SPAN = re.compile(r"\d{1,9}(-\d{0,9})?(,\d{1,9}(-\d{0,9})?)*|-\d{1,9}(,\d{1,9}(-\d{0,9})?)*")


class Schema(base.Value):
    """What a program may be given without being asked about, or, under `ask`, without more than
    that. Short flags stand together in `flags`; `values` names options that take one, with its kind
    (text, number, span, path, choice); a kind with `?` may only be given behind `=`."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=False)

    programs: tuple[str, ...]
    verdict: str = "allow-readonly"
    reason: str = ""
    changes: bool = False
    first: str = ""
    flags: str = ""
    options: tuple[str, ...] = ()
    values: dict[str, str] = {}
    operands: str = "none"
    least: int = 0
    most: int = 1000
    leading: str = ""
    unless: tuple[str, ...] = ()
    posix: bool = False
    unknown: str = "ask"
    unknown_reason: str = ""


@dataclass(slots=True)
class Reading:
    """A command's words, sorted. `faults` says what the schema does not know."""

    operands: list[scope.Value] = field(default_factory=list)
    operand_kinds: list[str] = field(default_factory=list)
    options: set[str] = field(default_factory=set)
    valued: list[tuple[str, str, scope.Value]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def read(schema: Schema, words: list[scope.Value]) -> Reading:
    """Sort the words behind the program's name (and its first word, where the schema has one)."""
    reading = Reading()
    index, ended = 0, False
    while index < len(words):
        value = words[index]
        index += 1
        text = value.text
        if ended or text == "-" or not text.startswith("-"):
            reading.operands.append(value)
            ended = ended or schema.posix
        elif text == "--":
            ended = True
        elif text.startswith("--"):
            index += _long(schema, value, words[index : index + 1], reading)
        else:
            index += _short(schema, value, words[index : index + 1], reading)
    _operands(schema, reading)
    return reading


def _long(
    schema: Schema, value: scope.Value, following: list[scope.Value], reading: Reading
) -> int:
    name, equals, given = value.text.partition("=")
    kind = schema.values.get(name, "")
    if not kind:
        if name in schema.options and not equals:
            reading.options.add(name)
        else:
            reading.faults.append(name)
        return 0
    if equals:
        reading.valued.append((name, kind.rstrip("?"), _rest(value, given)))
        return 0
    if kind.endswith("?"):
        reading.options.add(name)
        return 0
    if not following:
        reading.faults.append(name)
        return 0
    reading.valued.append((name, kind, following[0]))
    return 1


def _short(
    schema: Schema, value: scope.Value, following: list[scope.Value], reading: Reading
) -> int:
    text = value.text
    if text in schema.options:
        reading.options.add(text)
        return 0
    if text in schema.values:
        return _whole(schema, value, following, reading)
    if "number" in schema.flags.split(" ")[1:] and text[1:].isdigit():
        return 0
    flags = schema.flags.split(" ")[0]
    for position, letter in enumerate(text[1:], 1):
        name = f"-{letter}"
        kind = schema.values.get(name)
        if kind is not None:
            given = text[position + 1 :]
            if given or kind.endswith("?"):
                reading.valued.append((name, kind.rstrip("?"), _rest(value, given)))
                return 0
            if not following:
                reading.faults.append(name)
                return 0
            reading.valued.append((name, kind, following[0]))
            return 1
        if letter not in flags:
            reading.faults.append(name)
            return 0
        reading.options.add(name)
    return 0


def _whole(
    schema: Schema, value: scope.Value, following: list[scope.Value], reading: Reading
) -> int:
    kind = schema.values[value.text]
    if kind.endswith("?"):
        reading.options.add(value.text)
        return 0
    if not following:
        reading.faults.append(value.text)
        return 0
    reading.valued.append((value.text, kind, following[0]))
    return 1


def _rest(value: scope.Value, text: str) -> scope.Value:
    return scope.Value(text, value.plain, value.globbed, value.names, value.sources, value.odd)


def _operands(schema: Schema, reading: Reading) -> None:
    given = {name for name, _, _ in reading.valued} | reading.options
    leads = bool(schema.leading) and not given & set(schema.unless)
    kinds = ([schema.leading] if leads else []) + [schema.operands] * len(reading.operands)
    reading.operand_kinds = kinds[: len(reading.operands)]
    if not schema.least <= len(reading.operands) <= schema.most:
        reading.faults.append(f"{len(reading.operands)} operands")
    if "none" in reading.operand_kinds:
        reading.faults.append("operands")


def fits(kind: str, text: str) -> bool:
    """Whether a value is of its kind; what paths mean is judged elsewhere."""
    if kind == "number":
        return _NUMBER.fullmatch(text) is not None
    if kind == "span":
        return _SPAN.fullmatch(text) is not None
    if kind == "format":
        return text.startswith("+")
    if kind == "word":
        return re.fullmatch(r"[A-Za-z0-9_.,:%@+/-]{0,64}", text) is not None
    return True
