"""What the services work on: the runtime's ways in and out, as one value."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from daemon.decide import turn
from daemon.domain import principals, views, world
from daemon.rpc import convert
from daemon.runtime import bus, clock, contents, inbox, model_calls, ports, vault
from proto.ducklm.v1 import approvals_pb2, conversations_pb2, tasks_pb2


def _utc() -> str:
    return "UTC"


@dataclass(frozen=True)
class Backend:
    """Writes go to the inbox, reads to the store, streams to the bus."""

    inbox: inbox.Inbox
    store: ports.Store
    artifacts: ports.Artifacts
    contents: contents.Contents
    bus: bus.Bus
    artifact_bytes: int
    vault: vault.Vault
    grants: Callable[[], Sequence[world.Grant]]
    """The live ones, as they are now."""
    is_owner: Callable[[principals.Principal], bool]
    folders: ports.ProjectFolders | None = None
    history: ports.History | None = None
    """None where the daemon keeps no projects."""
    rules: Callable[[], turn.Rules] | None = None
    """As they are now."""
    roles: model_calls.Roles | None = None
    files: ports.ProjectFiles | None = None
    state: Callable[[], world.World] | None = None
    """As it is now."""
    zone: Callable[[], str] = _utc
    """Whose clock schedules follow where nobody names another."""
    now_ms: Callable[[], int] = clock.SystemClock().now_ms

    async def task(self, view: views.TaskView) -> tasks_pb2.Task:
        """A task as it is sent, with its texts."""
        return convert.task(view, await self.contents.texts(convert.task_contents(view)))

    async def approval(self, view: views.ApprovalView) -> approvals_pb2.Approval:
        """An approval as it is sent, with its texts."""
        return convert.approval(view, await self.contents.texts(convert.approval_contents(view)))

    async def conversation(self, view: views.ConversationView) -> conversations_pb2.Conversation:
        """A conversation as it is sent, with its title."""
        titles = [view.title] if view.title else []
        return convert.conversation(view, await self.contents.texts(titles))
