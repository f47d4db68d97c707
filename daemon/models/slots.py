"""Which slot serves a role, and how the slots stand. Starts nothing: a slot starts with its use.

A role that names no slot is served by the thinker's. Failover to a role's next slot comes with the
endpoints; until then the first one serves.
"""

from collections.abc import Mapping, Sequence

from daemon.domain import messages, views
from daemon.models import gguf
from daemon.runtime import ports


class Slots:
    """The slots of one daemon, by name, and the roles that name them in order."""

    def __init__(
        self,
        models: Mapping[str, ports.Model],
        roles: Mapping[messages.Role, Sequence[str]],
        details: Mapping[str, str],
    ) -> None:
        self._models = models
        self._roles = roles
        self._details = details

    def slot(self, role: messages.Role) -> ports.Model:
        """The slot that serves a role."""
        names = self._roles.get(role) or self._roles[messages.Role.THINKER]
        return self._models[names[0]]

    def views(self) -> tuple[views.SlotView, ...]:
        """How each slot stands, in order of name."""
        return tuple(
            views.SlotView(
                name=name,
                state=_state(model),
                roles=tuple(role for role, names in self._roles.items() if name in names),
                context_tokens=model.context_tokens,
                detail=self._details[name],
            )
            for name, model in sorted(self._models.items())
        )

    async def stop(self) -> None:
        """End what the slots run."""
        for model in self._models.values():
            await model.stop()


def _state(model: ports.Model) -> str:
    if isinstance(model, gguf.GgufModel):
        return "idle" if model.pid is None else "ready"
    return "ready"
