"""Writes out what was said in a conversation, in pieces: only one turn is held at a time."""

from collections.abc import AsyncGenerator

from daemon.domain import errors, views
from daemon.rpc import backend, export_formats, export_turns, paging, task_logs
from proto.ducklm.v1 import conversations_pb2

PIECE_CHARS = 256 * 1024
"""The most of one piece; a message's limit is in bytes, and each may need four."""

_Request = conversations_pb2.ExportConversationRequest
_FORMATS: dict[int, type[export_formats.Format]] = {
    _Request.FORMAT_UNSPECIFIED: export_formats.Markdown,
    _Request.MARKDOWN: export_formats.Markdown,
    _Request.JSON: export_formats.JsonText,
}


def check(request: _Request) -> None:
    """Raise errors.Refusal for what cannot be exported."""
    if request.last_turns < 0:
        raise errors.Refusal(
            errors.RefusalKind.INVALID, f"last_turns is 0 or more, not {request.last_turns}."
        )


async def pieces(
    served: backend.Backend, view: views.ConversationView, request: _Request
) -> AsyncGenerator[str]:
    """The export's text, in pieces."""
    written = _FORMATS[request.format]()
    wanted = _wanted(request)
    titles = await served.contents.texts([view.title] if view.title else [])
    yield written.begin(view, titles.get(view.title) if view.title else None)
    told = await _told(served, view, request.last_turns)
    for number, task in enumerate(told, 1):
        text = written.turn(number, await _turn(served, task, wanted))
        text = text if number == 1 else written.between + text
        for start in range(0, len(text), PIECE_CHARS):
            yield text[start : start + PIECE_CHARS]
    if written.end:
        yield written.end


def _wanted(request: _Request) -> export_turns.Wanted:
    default = export_turns.Wanted()
    return export_turns.Wanted(
        reasoning=request.reasoning if request.HasField("reasoning") else default.reasoning,
        tools=request.tools if request.HasField("tools") else default.tools,
        results=request.results if request.HasField("results") else default.results,
    )


async def _told(
    served: backend.Backend, view: views.ConversationView, last: int
) -> list[views.TaskView]:
    """The tasks to tell of, oldest first; the last so many, or all."""
    found: list[views.TaskView] = []
    before: int | None = None
    while True:
        page = await served.store.tasks(paging.MOST_ROWS, before, view.conversation_id)
        found += [task for task in page.rows if export_turns.is_told(task)]
        before = page.next_before
        if before is None or 0 < last <= len(found):
            break
    return list(reversed(found[:last] if last else found))


async def _turn(
    served: backend.Backend, task: views.TaskView, wanted: export_turns.Wanted
) -> export_turns.Turn:
    teller = export_turns.Teller(task, wanted)
    async for page in task_logs.pages(served, task.task_id):
        texts = await served.contents.texts(export_turns.contents(page, wanted))
        for recorded in page:
            teller.add(recorded, texts)
    return teller.turn
