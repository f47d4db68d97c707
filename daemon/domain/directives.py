"""What a model can ask for: one closed JSON object, discriminated by `kind`."""

import json
from typing import Annotated, Literal

import pydantic

from daemon.domain import base

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Respond(base.Value):
    kind: Literal["respond"]
    text: str


class UseTool(base.Value):
    kind: Literal["tool"]
    tool: str
    arguments: dict[str, pydantic.JsonValue]


class PlanStep(base.Value):
    id: str
    goal: str
    kind: Literal["tool", "coder", "respond"]
    tool: str | None = None
    arguments: dict[str, pydantic.JsonValue] | None = None
    after: tuple[str, ...] = ()


class Plan(base.Value):
    kind: Literal["plan"]
    steps: tuple[PlanStep, ...] = pydantic.Field(min_length=1)


class Coder(base.Value):
    kind: Literal["coder"]
    instruction: str
    files: tuple[str, ...] = ()


class Fail(base.Value):
    kind: Literal["fail"]
    reason: str


Directive = Respond | UseTool | Plan | Coder | Fail
KINDS = frozenset({"respond", "tool", "plan", "coder", "fail"})

ExecutionDirective: pydantic.TypeAdapter[Directive] = pydantic.TypeAdapter(
    Annotated[Directive, pydantic.Field(discriminator="kind")],
    config=pydantic.ConfigDict(defer_build=True),
)


def arguments_json(arguments: dict[str, pydantic.JsonValue]) -> str:
    """A tool's arguments as the JSON text that is kept, shown, bound and run."""
    return _ENCODER.encode(arguments)
