"""What profiles and skills have in common on the wire: names, sources, and generation settings."""

import pydantic

from daemon.decide import turn
from daemon.domain import errors, messages, presets
from daemon.rpc import backend
from proto.ducklm.v1 import profiles_pb2

_KIND = errors.RefusalKind
ROLES = tuple(role.value for role in messages.Role if role is not messages.Role.EMBEDDINGS)


def rules(served: backend.Backend) -> turn.Rules:
    """The rules as they are now.

    Raises:
        errors.Refusal: this daemon has none.
    """
    if served.rules is None:
        raise errors.Refusal(_KIND.UNAVAILABLE, "This daemon has no profiles and no skills.")
    return served.rules()


def name(given: str) -> str:
    """A name for something to be set.

    Raises:
        errors.Refusal: it can be none.
    """
    if not presets.NAME.fullmatch(given):
        raise errors.Refusal(_KIND.INVALID, f"name is {presets.NAME_TOLD}.")
    return given


def source(kept: bool) -> str:
    return "set" if kept else "files"


def refused(error: pydantic.ValidationError) -> errors.Refusal:
    """What is wrong with the first field that is, in one sentence."""
    first = error.errors(include_url=False)[0]
    reason = first["msg"].removeprefix("Value error, ")
    key = ".".join(str(part) for part in first["loc"])
    return errors.Refusal(_KIND.INVALID, f"{key}: {reason}.")


def given_generation(request: profiles_pb2.Generation) -> presets.Generation:
    """What is set of a request's settings.

    Raises:
        pydantic.ValidationError: a value is out of its bounds.
    """
    return presets.Generation.model_validate(
        {field.name: value for field, value in request.ListFields()}
    )


def generation(given: presets.Generation) -> profiles_pb2.Generation:
    """What settings say, as they are sent."""
    return profiles_pb2.Generation(**given.model_dump(exclude_none=True))


def effective(given: turn.Generation) -> profiles_pb2.Generation:
    """How a role generates in the end; the daemon's limit stands where it has no own."""
    sampling = given.sampling
    sent = profiles_pb2.Generation(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        min_p=sampling.min_p,
        repeat_penalty=sampling.repeat_penalty,
        seed=sampling.seed,
        thinking=given.thinking_tokens > 0,
        thinking_tokens=given.thinking_tokens or None,
    )
    if given.answer_tokens:
        sent.answer_tokens = given.answer_tokens
    return sent
