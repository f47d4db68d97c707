"""Deliveries as a bot shows and reports them: a daemon's script, and the calls written down."""

import asyncio
import contextlib
import datetime
import pathlib
import tempfile
from collections.abc import AsyncIterator

import pytest
from google.protobuf import timestamp_pb2
from grpc import aio

from bots import client
from bots.telegram import calls, deliveries, lanes, texts
from proto.ducklm.v1 import approvals_pb2, channels_pb2, common_pb2, tasks_pb2
from tests.unit.bots.telegram import showing

D = channels_pb2.Delivery


@pytest.fixture
async def stage() -> AsyncIterator[showing.Stage]:
    made = showing.Stage()
    with tempfile.TemporaryDirectory() as folder:
        server = aio.server()
        server.add_generic_rpc_handlers(made.daemon.services())
        address = f"unix:{pathlib.Path(folder) / 's'}"
        server.add_insecure_port(address)
        await server.start()
        daemon, sending = client.Client(client.Place(address, "token")), lanes.Lanes()
        made.running = asyncio.create_task(deliveries.Deliveries(daemon, made.api, sending).run())
        try:
            yield made
        finally:
            made.running.cancel()
            with contextlib.suppress(asyncio.CancelledError, ExceptionGroup):
                await made.running
            await sending.close()
            await daemon.close()
            await server.stop(0)


def task(answer: str = "", took_s: int = 1) -> tasks_pb2.Task:
    return tasks_pb2.Task(
        task_id="t-1",
        state=common_pb2.COMPLETED if answer else common_pb2.RUNNING,
        answer=answer,
        created_at=timestamp_pb2.Timestamp(seconds=1000),
        updated_at=timestamp_pb2.Timestamp(seconds=1000 + took_s),
    )


def delivery(
    kind: D.Kind.ValueType,
    revision: int = 1,
    *,
    ids: tuple[str, ...] = (),
    chat: str = "5",
    topic: str = "",
    text: str = "",
    of: tasks_pb2.Task | None = None,
    approval: approvals_pb2.Approval | None = None,
) -> channels_pb2.Delivery:
    return channels_pb2.Delivery(
        delivery_id="d",
        kind=kind,
        revision=revision,
        platform_ids=ids,
        chat=chat,
        topic=topic,
        reply_to="3",
        seq=10,
        text=text,
        task=of,
        approval=approval,
    )


def preview(ids: tuple[str, ...] = ()) -> D:
    return delivery(D.PREVIEW, ids=ids, of=task())


def final(answer: str, revision: int = 2, ids: tuple[str, ...] = (), took_s: int = 1) -> D:
    return delivery(D.FINAL, revision, ids=ids, of=task(answer, took_s))


LONG = "\n\n".join(f"{number} " + "x" * 3000 for number in range(2))
DOTS = texts.STARTING


async def test_an_answer_is_edited_into_a_message_that_is_reported_before(
    stage: showing.Stage,
) -> None:
    stage.give(preview())
    await stage.until("report d 1 SENT [101]")
    stage.give(final("Paris."))
    await stage.until("report d 2 SHOWN [101]")
    lines = [one for one in stage.log if not one.startswith("edit") or "Paris." in one]
    assert lines == [
        f"send 5/: {DOTS}",
        "report d 1 SENT [101]",
        "edit 101: Paris.",
        "report d 2 SHOWN [101]",
    ]


async def test_how_long_it_takes_is_counted_from_the_task_s_begin(stage: showing.Stage) -> None:
    given = preview(("50",))
    begun = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=100)
    given.task.created_at.FromDatetime(begun)
    stage.give(given)
    await stage.until("edit 50")
    (line,) = [one for one in stage.log if one.startswith("edit 50")]
    assert 100 <= int(line.split()[-2]) <= 100 + showing.LIMIT_S


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (  # a restart after the first of two placeholders
            final(LONG, ids=("50",)),
            [
                f"send 5/: {DOTS}",
                "report d 2 SENT [50,101]",
                "edit 50: 0 x",
                "edit 101: 1 x",
                "report d 2 SHOWN [50,101]",
            ],
        ),
        (  # a restart before the report that it is shown
            final("Paris.", ids=("50",)),
            ["edit 50: Paris.", "report d 2 SHOWN [50]"],
        ),
        (  # fewer messages than before
            final("Paris.", ids=("50", "51")),
            ["delete 51", "edit 50: Paris.", "report d 2 SHOWN [50]"],
        ),
        (  # people want to hear of what took long
            final("Paris.", ids=("50",), took_s=40),
            ["delete 50", "send 5/: Paris.", "report d 2 SHOWN [101]"],
        ),
        (  # its conversation was deleted
            delivery(D.FINAL, 2, ids=("50",)),
            ["delete 50", "report d 2 SHOWN [50]"],
        ),
        (  # too long for messages
            final("\n\n".join(f"{n} " + "x" * 3500 for n in range(9)), ids=("50",)),
            ["edit 50: 0 x", "document 5/: answer.md", "report d 2 SHOWN [50]"],
        ),
    ],
)
async def test_the_end_of_a_task(stage: showing.Stage, given: D, wanted: list[str]) -> None:
    stage.give(given)
    await stage.until("SHOWN")
    assert len(stage.log) == len(wanted)
    for line, begin in zip(stage.log, wanted, strict=True):
        assert line.startswith(begin)


REFUSALS: dict[str, tuple[str, list[calls.Fault], str]] = {
    "blocked": ("hello", [calls.Gone("bot was blocked")], "report d 1 GONE []"),
    "no topic": ("hello", [calls.Refused("message thread not found")], "report d 1 FAILED []"),
    "marks": ("hello", [calls.Refused("can't parse entities")], "report d 1 SHOWN [101]"),
    "moved": ("hello", [calls.Moved("-1005")], "move 5 -1005"),
    "lost": ("hello", [calls.Unreachable("x")], "report d 1 SHOWN [101]"),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_what_telegram_refuses_is_reported_once_or_mended(
    stage: showing.Stage, name: str
) -> None:
    text, faults, end = REFUSALS[name]
    stage.api.faults[text] = faults
    stage.give(delivery(D.NOTICE, topic="7", text=f"**{text}**"))
    await stage.until(end)
    assert stage.log[0] == f"refused send 5/7: {text}*"
    assert sum(one.startswith("send 5/7") for one in stage.log) == ("SHOWN" in end)
    if name == "marks":
        assert stage.log[1] == f"send 5/7: {text}"


async def test_a_moved_chat_is_shown_all_of_it_where_it_is_now(stage: showing.Stage) -> None:
    stage.api.faults["send 5/"] = [calls.Moved("-1005")]
    stage.give(delivery(D.NOTICE, text="hello"))
    await stage.until("move 5 -1005")
    stage.give(delivery(D.NOTICE, 2, chat="-1005", text="hello"))
    await stage.until("report d 2 SHOWN [101]")
    assert "send -1005/ to 3: hello" in stage.log


async def test_what_is_told_to_the_old_chat_later_moves_as_well(stage: showing.Stage) -> None:
    for number, name in enumerate(("d", "e"), 1):
        stage.api.faults["send 5/"] = [calls.Moved("-1005")]
        late = delivery(D.NOTICE, text="hello")
        late.delivery_id = name
        stage.give(late)
        await stage.until("move 5 -1005", number)


async def test_a_notice_that_is_to_be_seen_elsewhere_now_is_sent_while_it_counts(
    stage: showing.Stage,
) -> None:
    waits = delivery(D.NOTICE, 2, chat="-1005", of=task())
    waits.waits = True
    stage.give(waits)
    await stage.until("report d 2 SHOWN [101]")
    over = delivery(D.NOTICE, 2, chat="-1005", of=task())
    over.delivery_id = "e"
    stage.give(over)
    await stage.until("report e 2 SHOWN []")
    assert sum(one.startswith("send") for one in stage.log) == 1


async def test_a_token_that_is_none_any_more_ends_it_and_fails_nothing(
    stage: showing.Stage,
) -> None:
    stage.api.faults["hello"] = [calls.Unauthorized("Unauthorized")]
    stage.give(delivery(D.NOTICE, text="hello"))
    assert stage.running is not None
    with pytest.raises(ExceptionGroup) as raised:
        await asyncio.wait_for(asyncio.shield(stage.running), showing.LIMIT_S)
    assert raised.group_contains(calls.Unauthorized)
    assert stage.log == ["refused send 5/: hello"]


async def test_a_message_that_somebody_deleted_is_sent_anew(stage: showing.Stage) -> None:
    stage.api.faults["edit 50"] = [calls.Refused("message to edit not found")]
    stage.give(final("Paris.", ids=("50",)))
    await stage.until("report d 2 SHOWN [101]")
    assert stage.log[1] == "send 5/: Paris."


async def test_a_report_that_is_refused_stops_nothing_else(stage: showing.Stage) -> None:
    stage.daemon.refused.add("d")
    stage.api.faults["hello"] = [calls.Gone("bot was blocked")]
    stage.give(delivery(D.NOTICE, text="hello"))
    await stage.until("report d 1 GONE []")
    other = delivery(D.NOTICE, text="goodbye")
    other.delivery_id = "e"
    stage.give(other)
    await stage.until("report e 1 SHOWN [101]")


async def test_what_the_daemon_refuses_once_is_tried_again_and_sent_once(
    stage: showing.Stage,
) -> None:
    stage.daemon.refused.add("d")
    stage.give(delivery(D.NOTICE, text="hello"))
    await stage.until("report d 1 SHOWN [101]")
    stage.daemon.refused.clear()
    await stage.until("report d 1 SHOWN [101]", 2)
    assert sum(one.startswith("send") for one in stage.log) == 1


async def test_a_new_stream_shows_nothing_twice_that_is_being_shown(stage: showing.Stage) -> None:
    stage.give(preview())
    await stage.until("report d 1 SENT [101]")
    stage.give(None)
    again = preview(ids=("101",))
    stage.give(again, final("Paris.", ids=("101",)))
    await stage.until("report d 2 SHOWN [101]")
    assert stage.daemon.streams == 2
    assert sum(one.startswith("send") for one in stage.log) == 1


def approval(status: approvals_pb2.ApprovalStatus.ValueType) -> approvals_pb2.Approval:
    return approvals_pb2.Approval(approval_id="a-1", task_id="t-1", status=status)


async def test_a_card_has_its_buttons_only_where_the_daemon_knows_it(stage: showing.Stage) -> None:
    stage.give(delivery(D.APPROVAL, approval=approval(approvals_pb2.PENDING)))
    await stage.until("report d 1 SHOWN [101]")
    assert [one.split(":")[0] for one in stage.log] == [
        "send 5/",
        "report d 1 SENT [101]",
        "edit 101",
        "report d 1 SHOWN [101]",
    ]
    stage.give(delivery(D.APPROVAL, 2, approval=approval(approvals_pb2.DENIED), ids=("101",)))
    await stage.until("report d 2 SHOWN [101]")
    assert stage.log[-2].startswith("edit 101")


async def test_a_card_that_nobody_saw_and_that_is_decided_is_not_sent(stage: showing.Stage) -> None:
    stage.give(delivery(D.APPROVAL, 2, approval=approval(approvals_pb2.DENIED)))
    await stage.until("report d 2 SHOWN []")
    assert len(stage.log) == 1


@pytest.mark.spec("C-05")
async def test_a_scheduled_result_is_a_new_message_in_its_topic(stage: showing.Stage) -> None:
    given = delivery(D.SCHEDULE, chat="-100", topic="4", of=task("**Quack**"))
    given.reply_to = ""
    given.run.name, given.run.late_ms = "News", 12 * 60_000
    stage.give(given)
    await stage.until("SHOWN")
    assert [line for line in stage.log if not line.startswith("list")] == [
        "send -100/4: ⏰ News · 12 min late\nQuack*",
        "report d 1 SHOWN [101]",
    ]
