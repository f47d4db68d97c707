"""What the critic says of a step, and the schema that its words have."""

import json

from daemon.decide import parse
from daemon.domain import directives

_SCORE = {"type": "integer", "minimum": 0, "maximum": 10}
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "correctness": _SCORE,
            "usefulness": _SCORE,
            "safety": _SCORE,
            "follows": {"enum": [one.value for one in directives.Recovery]},
            "note": {"type": "string", "maxLength": 200},
        },
        "required": ["correctness", "usefulness", "safety", "follows", "note"],
        "additionalProperties": False,
    }
)


def read(text: str) -> directives.Criticism | None:
    """A criticism; None where the critic's words are none, which then judge nothing."""
    found = parse.value(directives.Criticism, text.strip())
    return None if isinstance(found, parse.Malformed) else found
