"""Exports: what they tell and leave out, and that no text in one passes for a part of it."""

import json
import pathlib
import typing
from collections.abc import Iterator, Mapping

import grpc
import markdown_it
import pytest
from hypothesis import given, strategies as st

from daemon.domain import decisions, events, ids, messages, principals, state, views
from daemon.rpc import export_formats
from proto.ducklm.v1 import conversations_pb2
from tests import running_daemon
from tests.integration.rpc import methods, recorded, served

C, T = recorded.CONVERSATION, recorded.TASK
Request = conversations_pb2.ExportConversationRequest
(EXPORT,) = [one for one in methods.every() if one.name.endswith("/Export")]
HOSTILE = "```\n# not a heading\n![x](http://evil/x.png)\n<b>~~~\r\n````\n- no\x1b[2J"


def text(name: str) -> ids.ContentId:
    return ids.ContentId(f"content-{name}")


CALL = ids.CallId("call-1")
_HERE = principals.Origin(principal=recorded.PERSON)
LOG: tuple[events.Event, ...] = (
    events.TaskSubmitted(task_id=T, conversation_id=C, origin=_HERE, text=text("said")),
    events.ModelCallFinished(
        task_id=T,
        call_id=ids.CallId("model-1"),
        text=text("draft"),
        finish_reason="stop",
        slot="s",
        usage=messages.Usage(),
        reasoning=text("reasoning"),
    ),
    events.PlanMade(
        task_id=T,
        text=text("directive"),
        steps=(
            events.PlannedStep(step_id="a", goal=text("goal"), kind="tool"),
            events.PlannedStep(step_id="b", goal=text("goal"), kind="respond", after=("a",)),
        ),
    ),
    events.ToolCallProposed(
        task_id=T, call_id=CALL, tool="shell_exec", arguments=text("arguments"), step_id="a"
    ),
    events.TaskSteered(task_id=T, origin=_HERE, text=text("further")),
    events.ToolCallEnded(
        task_id=T,
        call_id=CALL,
        outcome=events.CallOutcome.FINISHED,
        result=text("result"),
        exit_code=3,
        artifact=ids.ArtifactId("abc"),
        files=("a`b.py",),
        diff=text("diff"),
    ),
    events.StepEnded(
        task_id=T, step_id="a", outcome=events.StepOutcome.DONE, result=text("result")
    ),
    events.StepEnded(
        task_id=T, step_id="b", outcome=events.StepOutcome.DONE, result=text("written")
    ),
    events.AnswerGiven(task_id=T, text=text("answer")),
)
NAMES = (
    *("said", "reasoning", "goal", "arguments", "further", "result", "diff", "written", "answer"),
    "title",
)
TEXTS = {f"content-{name}": f"the {name}" for name in NAMES}


@pytest.fixture
def folder() -> Iterator[pathlib.Path]:
    with running_daemon.folder() as made:
        yield made


def store(
    texts: Mapping[str, str] = TEXTS, tasks: tuple[views.TaskView, ...] = (recorded.task(),)
) -> recorded.Store:
    view = recorded.conversation(title=text("title"), folder="/p")
    return recorded.Store(view, tasks, {one.task_id: LOG for one in tasks}, texts)


async def exported(
    folder: pathlib.Path, request: Request, of: recorded.Store
) -> list[conversations_pb2.ExportPiece]:
    request.conversation_id = C
    box = recorded.Inbox(decisions.ConversationKept(conversation_id=C))
    async with recorded.serving(box, of, folder) as channel:
        stream = channel.unary_stream(
            EXPORT.name, methods.to_bytes, conversations_pb2.ExportPiece.FromString
        )(request, timeout=methods.CALL_S, metadata=methods.bearer(served.OWNER))
        return [piece async for piece in stream]


async def whole(folder: pathlib.Path, request: Request, of: recorded.Store) -> str:
    return "".join(piece.text for piece in await exported(folder, request, of))


FULL = """\
# Conversation

- id: `conversation-1`
- title: `the title`
- of: `telegram:home:7`
- begun: 2030-03-17T17:46:40Z
- mode: build
- project: `/p`

## 1

### `telegram:home:7`, 2030-03-17T17:46:40Z

```text
the said
```

### thought

```text
the reasoning
```

### plan

- `a` (tool): `the goal`
- `b` (respond, after `a`): `the goal`

### call of `shell_exec`: finished, exit 3

```json
the arguments
```

```text
the result
```

whole output: artifact `abc`

changed: `` a`b.py ``

```diff
the diff
```

### a further word of `telegram:home:7`, 2030-03-17T17:46:40Z

```text
the further
```

### step `a`: done

### step `b`: done

```text
the written
```

### answer

```markdown
the answer
```
"""


@pytest.mark.spec("K-01")
async def test_markdown_with_everything(folder: pathlib.Path) -> None:
    assert await whole(folder, Request(reasoning=True), store()) == FULL


def told(answer: str) -> set[str]:
    return {name for name in NAMES if f"the {name}" in answer}


@pytest.mark.spec("K-01")
@pytest.mark.parametrize("kind", [Request.MARKDOWN, Request.JSON])
@pytest.mark.parametrize(
    ("request_of", "left_out"),
    [
        (Request(), {"reasoning"}),
        (Request(reasoning=True), set()),
        (Request(results=False), {"reasoning", "result", "diff", "written"}),
        (
            Request(reasoning=True, tools=False),
            {"goal", "arguments", "result", "diff", "written"},
        ),
    ],
)
async def test_what_is_left_out(
    folder: pathlib.Path, kind: Request.Format.ValueType, request_of: Request, left_out: set[str]
) -> None:
    request = Request.FromString(request_of.SerializeToString())
    request.format = kind
    assert told(await whole(folder, request, store())) == set(NAMES) - left_out


@pytest.mark.spec("K-01")
async def test_json_is_one_object(folder: pathlib.Path) -> None:
    tasks = (recorded.task(1), recorded.task(2, ended=state.TaskState.FAILED))
    answer = json.loads(await whole(folder, Request(format=Request.JSON), store(tasks=tasks)))
    assert answer["conversation"]["title"] == "the title"
    assert [turn["task_id"] for turn in answer["turns"]] == ["task-1", "task-2"]
    assert [turn["state"] for turn in answer["turns"]] == ["completed", "failed"]
    entries = answer["turns"][0]["entries"]
    assert [one["kind"] for one in entries] == [
        *("message", "plan", "call", "message", "step", "step", "answer")
    ]
    assert entries[0] == {
        "kind": "message",
        "principal": "telegram:home:7",
        "text": "the said",
        "at": "2030-03-17T17:46:40Z",
        "further": False,
    }
    assert entries[2]["files"] == ["a`b.py"]
    assert "result" not in entries[4]  # its call has told it
    assert entries[5]["result"] == "the written"


async def test_an_empty_conversation(folder: pathlib.Path) -> None:
    answer = await whole(folder, Request(format=Request.JSON), store(tasks=()))
    assert json.loads(answer)["turns"] == []
    assert (await whole(folder, Request(), store(tasks=()))).startswith("# Conversation\n")


@pytest.mark.spec("K-01")
@pytest.mark.parametrize(("last", "numbers"), [(0, range(1, 9)), (2, (7, 8)), (99, range(1, 9))])
async def test_the_last_turns_over_pages_without_summaries(
    folder: pathlib.Path, last: int, numbers: typing.Iterable[int]
) -> None:
    tasks = [recorded.task(number) for number in range(1, 9)]
    tasks.insert(8, recorded.task(9, events.TaskKind.COMPACT))
    request = Request(format=Request.JSON, last_turns=last)
    answer = json.loads(await whole(folder, request, store(tasks=tuple(tasks))))
    assert [turn["task_id"] for turn in answer["turns"]] == [f"task-{one}" for one in numbers]


@pytest.mark.spec("K-18")
async def test_forgotten_texts_say_so(folder: pathlib.Path) -> None:
    answer = await whole(folder, Request(reasoning=True), store(texts={}))
    assert answer.count("*(forgotten)*") == 11
    assert "the " not in answer
    loaded = json.loads(
        await whole(folder, Request(format=Request.JSON, reasoning=True), store(texts={}))
    )
    assert loaded["conversation"]["title"] is None
    assert [one["text"] for one in loaded["turns"][0]["entries"] if "text" in one] == [None] * 4


async def test_marks_of_a_turn(folder: pathlib.Path) -> None:
    task = recorded.task(ended=state.TaskState.CANCELLED).but({"undone": True, "good": False})
    answer = await whole(folder, Request(), store(tasks=(task,)))
    assert answer.endswith("*state: cancelled*\n\n*undone*\n\n*feedback: bad*\n")


async def test_long_texts_come_in_pieces(folder: pathlib.Path) -> None:
    texts = TEXTS | {"content-result": "鴨" * 700_000}
    pieces = await exported(folder, Request(), store(texts))
    assert len(pieces) == 4
    assert max(piece.ByteSize() for piece in pieces) < 4 * 1024 * 1024
    assert "".join(piece.text for piece in pieces).count("鴨") == 700_000


async def test_an_unknown_conversation(folder: pathlib.Path) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await exported(folder, Request(), recorded.Store())
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND


def structure(written: str) -> tuple[list[str], list[str]]:
    """The headings of a Markdown text, and all kinds of tokens in it."""
    tokens = markdown_it.MarkdownIt("commonmark").parse(written)
    headings = [
        tokens[at + 1].content for at, one in enumerate(tokens) if one.type == "heading_open"
    ]
    kinds = [one.type for one in tokens]
    kinds += [child.type for one in tokens for child in one.children or ()]
    return headings, kinds


@pytest.mark.spec("K-01")
async def test_no_text_passes_for_a_part_of_the_export(folder: pathlib.Path) -> None:
    harmless = structure(await whole(folder, Request(reasoning=True), store()))
    hostile = store(dict.fromkeys(TEXTS, HOSTILE))
    assert structure(await whole(folder, Request(reasoning=True), hostile)) == harmless


@given(st.text(alphabet="`~\n\r\\ #-<>![]()*_ax\t", max_size=60))
def test_whatever_a_text_is_it_stays_in_its_fence_and_its_span(foreign: str) -> None:
    tokens = markdown_it.MarkdownIt("commonmark").parse(export_formats.fenced(foreign, "text"))
    assert [one.type for one in tokens] == ["fence"]
    wanted = foreign.replace("\r\n", "\n").replace("\r", "\n")
    assert tokens[0].content == (wanted if wanted.endswith("\n") else wanted + "\n")
    (inline,) = [
        one
        for one in markdown_it.MarkdownIt("commonmark").parse(
            f"- of {export_formats.span(foreign)}."
        )
        if one.type == "inline"
    ]
    kinds = [child.type for child in inline.children or ()]
    flat = " ".join(foreign.split())
    assert kinds == (["text", "code_inline", "text"] if flat else ["text"])
    code = [child.content for child in inline.children or () if child.type == "code_inline"]
    assert code == ([flat] if flat else [])
