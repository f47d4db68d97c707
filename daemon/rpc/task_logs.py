"""Reads back what one task did, from its part of the log, a page at a time."""

import json
from collections.abc import AsyncGenerator, Collection, Sequence

from daemon.domain import events, ids
from daemon.rpc import backend
from proto.ducklm.v1 import conversations_pb2

PAGE_EVENTS = 200
_LINE_CHARS = 200


async def pages(
    served: backend.Backend, task_id: ids.TaskId, after_seq: int = 0
) -> AsyncGenerator[Sequence[events.Recorded]]:
    """The events of a task, oldest first."""
    while True:
        page = await served.store.log(after_seq, PAGE_EVENTS, task_id)
        if page:
            yield page
        if len(page) < PAGE_EVENTS:
            return
        after_seq = page[-1].seq


async def left_calls(
    served: backend.Backend, task_id: ids.TaskId, call_ids: Collection[ids.CallId]
) -> list[conversations_pb2.LeftCall]:
    """What these calls of a task were, in the order in which they were proposed."""
    found: list[events.ToolCallProposed] = []
    if not call_ids:
        return []
    async for page in pages(served, task_id):
        for one in page:
            if isinstance(one.event, events.ToolCallProposed) and one.event.call_id in call_ids:
                found.append(one.event)
        if len(found) == len(call_ids):
            break
    texts = await served.contents.texts([one.arguments for one in found])
    return [
        conversations_pb2.LeftCall(
            call_id=one.call_id,
            tool=one.tool,
            arguments_json=texts.get(one.arguments) or "",
            line=line(one.tool, texts.get(one.arguments)),
        )
        for one in found
    ]


def line(tool: str, arguments: str | None) -> str:
    """What a call was, on one line: its command, or its tool and arguments."""
    if arguments is None:
        return f"{tool} (forgotten)"
    try:
        read = json.loads(arguments)
    except ValueError:
        read = None
    command = read.get("command") if isinstance(read, dict) else None
    said = command if isinstance(command, str) else f"{tool} {arguments}"
    flat = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in said)
    return flat if len(flat) <= _LINE_CHARS else flat[: _LINE_CHARS - 1] + "…"
