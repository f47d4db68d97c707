"""Reads a model's reply: plain words are an answer, a JSON object must be a valid directive."""

import json
import math
import re
from dataclasses import dataclass

import pydantic

from daemon.domain import directives

_LONGEST_DIGITS = 300
_SHOWN_DIGITS = 20

_CLAIM = re.compile(rf'"kind"\s*:\s*"(?:{"|".join(sorted(directives.KINDS))})"')
"""What tells a directive from an answer that happens to be JSON, such as a manifest."""


@dataclass(frozen=True)
class Malformed:
    """The reply looks like a directive and is none; `reason` is one sentence."""

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


def reply(text: str) -> directives.Directive | Malformed:
    """What the model wants. Text that does not claim to be a directive is an answer."""
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}") and _CLAIM.search(stripped)):
        return directives.Respond(kind="respond", text=stripped)
    try:
        _DECODER.decode(stripped)
        return directives.ExecutionDirective.validate_json(stripped)
    except _NotTaken as error:
        return Malformed(str(error))
    except json.JSONDecodeError as error:
        return Malformed(f"it is not valid JSON: {error.msg} at character {error.pos}")
    except RecursionError:
        return Malformed("it is nested too deeply")
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the object"
        return Malformed(f"{place}: {first['msg']}")
