"""Reads a model's reply: plain words, or one closed JSON object that is a valid directive."""

import json
import math
import re
from dataclasses import dataclass
from typing import TypeVar

import pydantic

from daemon.domain import base, directives

_LONGEST_DIGITS = 300
_SHOWN_DIGITS = 20

_KINDS = "|".join(sorted(directives.KINDS))
_CLAIM = re.compile(rf'"kind"\s*:\s*"(?:{_KINDS})"')
"""What tells a directive from an answer that happens to be JSON, such as a manifest."""
_INSIDE = re.compile(rf'\{{\s*"kind"\s*:\s*"(?:{_KINDS})"')
"""The beginning of a directive, with words around it."""

_Value = TypeVar("_Value", bound=base.Value)


@dataclass(frozen=True)
class Malformed:
    """The reply looks like what was asked for and is not; `reason` is one sentence."""

    reason: str


class _NotTaken(Exception):
    """JSON to a lenient reader, and nothing that may be kept, shown and run."""


def _closed(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NotTaken("a key stands twice in one object")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _NotTaken(f"{text[:_SHOWN_DIGITS]} is no number that can be kept")
    return number


def _whole(text: str) -> int:
    if len(text) > _LONGEST_DIGITS:
        raise _NotTaken(f"a number has more than {_LONGEST_DIGITS} digits")
    return int(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_closed, parse_float=_finite, parse_int=_whole, parse_constant=_finite
)


def is_action(text: str) -> bool:
    """Whether a reply, complete or cut, sets out to be a directive and not words."""
    return text.lstrip().startswith("{") and _CLAIM.search(text) is not None


def reply(text: str) -> directives.Directive | Malformed | None:
    """What the model wants; None for plain words, which claim to be no directive."""
    stripped = text.strip()
    if is_action(stripped) and stripped.endswith("}"):
        return directive(stripped)
    if _INSIDE.search(stripped) is not None:
        return Malformed("there is text around the JSON object")
    return None


def directive(text: str) -> directives.Directive | Malformed:
    """A directive of a reply that must be one."""
    fault = _fault(text)
    if fault is not None:
        return fault
    try:
        return directives.ExecutionDirective.validate_json(text)
    except pydantic.ValidationError as error:
        return _invalid(error)


def value(shape: type[_Value], text: str) -> _Value | Malformed:
    """A reply that must have one closed shape."""
    fault = _fault(text)
    if fault is not None:
        return fault
    try:
        return shape.model_validate_json(text)
    except pydantic.ValidationError as error:
        return _invalid(error)


def _fault(text: str) -> Malformed | None:
    try:
        _DECODER.decode(text)
    except _NotTaken as error:
        return Malformed(str(error))
    except json.JSONDecodeError as error:
        return Malformed(f"it is not valid JSON: {error.msg} at character {error.pos}")
    except RecursionError:
        return Malformed("it is nested too deeply")
    return None


def _invalid(error: pydantic.ValidationError) -> Malformed:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the object"
    return Malformed(f"{place}: {first['msg']}")
