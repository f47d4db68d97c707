"""Which slot serves a role, and how the slots stand. Starts nothing: a slot starts with its use.

A role that names no slot is served by the thinker's, recall by the json_compiler's where that has
some. Failover to a role's next slot comes with the endpoints; until then the first one serves.
"""

from collections.abc import Mapping, Sequence

from daemon.domain import messages, views
from daemon.models import gguf
from daemon.runtime import ports

_Roles = Mapping[messages.Role, Sequence[str]]


def names(roles: _Roles, role: messages.Role) -> Sequence[str]:
    """The slots that serve a role, the first one first; the thinker has some."""
    found = roles.get(role)
    if not found and role is messages.Role.RECALL:
        found = roles.get(messages.Role.JSON_COMPILER)
    return found or roles[messages.Role.THINKER]


class Shared:
    """A further slot on a loaded copy that another slot has: it costs nothing, and ends nothing."""

    def __init__(self, name: str, model: ports.Model) -> None:
        self._name = name
        self.model = model

    @property
    def name(self) -> str:
        return self._name

    @property
    def context_tokens(self) -> int:
        return self.model.context_tokens

    async def generate(
        self, request: messages.ModelRequest, feed: ports.Feed
    ) -> messages.ModelResult:
        """See `ports.Model.generate`."""
        result = await self.model.generate(request, feed)
        return result.but({"slot": self._name})

    async def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """See `ports.Model.count`."""
        return await self.model.count(texts)

    async def stop(self) -> None:
        """Leave it to the slot that has the copy."""


class Slots:
    """The slots of one daemon, by name, and the roles that name them in order."""

    def __init__(
        self,
        models: Mapping[str, ports.Model],
        roles: _Roles,
        details: Mapping[str, str],
        notices: Sequence[str] = (),
    ) -> None:
        self._models = models
        self._roles = roles
        self._details = details
        self.notices = tuple(notices)
        """What the owner should know of how models are loaded."""

    def slot(self, role: messages.Role) -> ports.Model:
        """The slot that serves a role."""
        return self._models[names(self._roles, role)[0]]

    def model(self, name: str) -> ports.Model:
        """A slot by its name."""
        return self._models[name]

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
    if isinstance(model, Shared):
        return _state(model.model)
    if isinstance(model, gguf.GgufModel):
        return "idle" if model.pid is None else "ready"
    return "ready"
