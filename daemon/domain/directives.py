"""What a model can ask for: one closed JSON object, discriminated by `kind`."""

import json
from enum import StrEnum
from typing import Annotated, Literal, get_args

import pydantic

from daemon.domain import base

MOST_STEPS = 12
_MOST_GOAL_CHARS = 2000

Kind = Literal["respond", "tool", "plan", "coder", "fail"]
KINDS: frozenset[str] = frozenset(get_args(Kind))
StepKind = Literal["tool", "coder", "respond"]
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Respond(base.Value):
    kind: Literal["respond"]
    text: str


class UseTool(base.Value):
    kind: Literal["tool"]
    tool: str
    arguments: dict[str, pydantic.JsonValue]


class PlanStep(base.Value):
    """One step; `after` are the ids of those that must be done before."""

    id: str = pydantic.Field(pattern=r"^[A-Za-z0-9_-]{1,32}$")
    goal: str = pydantic.Field(max_length=_MOST_GOAL_CHARS)
    kind: StepKind
    tool: str | None = None
    arguments: dict[str, pydantic.JsonValue] | None = None
    after: tuple[str, ...] = ()


class Plan(base.Value):
    kind: Literal["plan"]
    steps: tuple[PlanStep, ...] = pydantic.Field(min_length=1, max_length=MOST_STEPS)


class Coder(base.Value):
    kind: Literal["coder"]
    instruction: str
    files: tuple[str, ...] = ()


class Fail(base.Value):
    kind: Literal["fail"]
    reason: str


Directive = Respond | UseTool | Plan | Coder | Fail

ExecutionDirective: pydantic.TypeAdapter[Directive] = pydantic.TypeAdapter(
    Annotated[Directive, pydantic.Field(discriminator="kind")],
    config=pydantic.ConfigDict(defer_build=True),
)


class Recovery(StrEnum):
    """How a plan goes on after a step."""

    CONTINUE = "continue"
    RETRY = "retry"
    RESPOND = "respond"
    """Leave the rest of the plan and answer with what there is."""
    FAIL = "fail"


class Criticism(base.Value):
    """What a critic says of a step: scores from 0 to 10, what follows, and why."""

    correctness: int = pydantic.Field(ge=0, le=10)
    usefulness: int = pydantic.Field(ge=0, le=10)
    safety: int = pydantic.Field(ge=0, le=10)
    follows: Recovery = pydantic.Field(strict=False)
    note: str = ""


def arguments_json(arguments: dict[str, pydantic.JsonValue]) -> str:
    """A tool's arguments as the JSON text that is kept, shown, bound and run."""
    return _ENCODER.encode(arguments)
