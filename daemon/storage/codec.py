"""Events to JSON and back, for logs of this version and of every earlier one.

Closed schemas only: what does not parse is an error that names the event, never a guess.
"""

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any, get_args

import pydantic

from daemon.domain import errors, events

Body = dict[str, Any]
Lift = Callable[[Body], Body]
"""Turns the JSON object of an event into what the next version writes for it."""

LIFTS: Mapping[tuple[str, int], Lift] = {}
"""By (type, version) as stored. A type that a version did not change needs no entry."""

WITH_THE_FIRST = pydantic.ConfigDict(defer_build=True)
"""For a reader that is built with the first value that it reads: a start has no use for most."""

EVENT_CLASSES: Mapping[str, type[events.Event]] = {
    str(cls.model_fields["type"].default): cls for cls in get_args(events.Event)
}


@functools.cache
def _validator(type_name: str) -> Any:
    """What reads events of a type; built with the first one of it."""
    cls = EVENT_CLASSES[type_name]
    cls.model_rebuild()
    return cls.__pydantic_validator__


class Codec:
    """Encodes events as one version and decodes that version and, by lifting, earlier ones."""

    def __init__(
        self,
        version: int = events.VERSION,
        lifts: Mapping[tuple[str, int], Lift] = LIFTS,
    ) -> None:
        self.version = version
        self._lifts = lifts

    def encode(self, event: events.Event) -> str:
        """The event as a JSON object."""
        return event.__pydantic_serializer__.to_json(event).decode()

    def decode(self, seq: int, type_name: str, version: int, body: str) -> events.Event:
        """The event that was stored with this type, version and JSON object.

        Raises:
            errors.StorageFault: it is of a newer version, of an unknown type, or damaged.
        """
        try:
            if version != self.version:
                type_name, body = self._lift(seq, type_name, version, body)
            event: events.Event = _validator(type_name).validate_json(body)
        except KeyError as error:
            raise errors.StorageFault(
                f"Event {seq} of the log has the unknown type {type_name!r}."
            ) from error
        except ValueError as error:
            raise errors.StorageFault(f"Event {seq} of the log cannot be read.") from error
        return event

    def _lift(self, seq: int, type_name: str, version: int, body: str) -> tuple[str, str]:
        if version > self.version:
            raise errors.StorageFault(f"Event {seq} of the log was written by a newer version.")
        lifted = json.loads(body)
        if not isinstance(lifted, dict):
            raise ValueError("not a JSON object")
        for step in range(version, self.version):
            lift = self._lifts.get((str(lifted["type"]), step))
            lifted = lift(lifted) if lift is not None else lifted
        return str(lifted["type"]), json.dumps(lifted)


def to_json(value: pydantic.BaseModel) -> str:
    """A value of the domain as JSON."""
    return value.__pydantic_serializer__.to_json(value).decode()
