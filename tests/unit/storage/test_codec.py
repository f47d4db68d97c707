"""Events as JSON: closed schemas, and older versions lifted step by step."""

import json

import pytest

from daemon.domain import errors, events, ids
from daemon.storage import codec

ANSWER = events.AnswerGiven(task_id=ids.TaskId("task-1"), text=ids.ContentId("content-1"))


def test_an_event_comes_back_as_it_was() -> None:
    plain = codec.Codec()
    assert plain.decode(1, "answer_given", events.VERSION, plain.encode(ANSWER)) == ANSWER


def rename_type(body: codec.Body) -> codec.Body:
    """Version 1 called it `reply_given`, and its text `content`."""
    assert body["type"] == "reply_given"
    return {"type": "answer_given", "task": body["task"], "text": body["content"]}


def rename_task(body: codec.Body) -> codec.Body:
    return {"type": body["type"], "task_id": body["task"], "text": body["text"]}


LIFTING = codec.Codec(
    version=4, lifts={("reply_given", 1): rename_type, ("answer_given", 3): rename_task}
)


@pytest.mark.parametrize(
    ("version", "body"),
    [
        (1, {"type": "reply_given", "task": "task-1", "content": "content-1"}),
        (2, {"type": "answer_given", "task": "task-1", "text": "content-1"}),
        (3, {"type": "answer_given", "task": "task-1", "text": "content-1"}),
        (4, {"type": "answer_given", "task_id": "task-1", "text": "content-1"}),
    ],
)
def test_every_earlier_version_is_lifted_to_this_one(version: int, body: codec.Body) -> None:
    assert LIFTING.decode(1, str(body["type"]), version, json.dumps(body)) == ANSWER


def test_a_newer_version_is_refused_with_its_place() -> None:
    with pytest.raises(errors.StorageFault, match=r"Event 7 .* newer version"):
        LIFTING.decode(7, "answer_given", 5, "{}")


def test_an_unknown_type_is_refused_with_its_place() -> None:
    with pytest.raises(errors.StorageFault, match=r"Event 7 .* unknown type 'duck_fed'"):
        codec.Codec().decode(7, "duck_fed", events.VERSION, "{}")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        '{"type": "answer_given", "task_id": "task-1"}',
        '{"type": "answer_given", "task_id": "task-1", "text": "c", "more": 1}',
        '{"type": "answer_given", "task_id": 1, "text": "c"}',
        '{"type": "task_recovered", "task_id": "task-1", "text": "c"}',
    ],
)
def test_what_does_not_fit_the_schema_is_refused(body: str) -> None:
    with pytest.raises(errors.StorageFault, match="Event 7"):
        codec.Codec().decode(7, "answer_given", events.VERSION, body)


@pytest.mark.parametrize("body", ["", "[]", '{"no": "type"}', "3"])
def test_an_older_event_that_is_damaged_is_refused(body: str) -> None:
    with pytest.raises(errors.StorageFault, match="Event 7"):
        LIFTING.decode(7, "answer_given", 1, body)
