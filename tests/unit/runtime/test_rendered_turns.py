"""Whole turns as strict chat templates take them: a note, a repair, a plan, a summary, a coder.

One template refuses a system message that is not the first, one wants user and assistant to take
turns, one both and no system message at all: each is met half-way, and loses nothing.
"""

import json

import pytest

from daemon.domain import decisions, inputs, messages, principals, state
from daemon.models.worker import template
from tests.unit.runtime import fake_tools, rig

ONE_SYSTEM = (
    "{% for message in messages %}"
    "{% if message['role'] == 'system' and loop.index0 > 0 %}"
    "{{ raise_exception('The system message must come first') }}{% endif %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endfor %}"
    "{{ '<|assistant|>' }}"
)
TAKES_TURNS = (
    "{% if messages[0]['role'] == 'system' %}{{ '<<' + messages[0]['content'] + '>>' }}"
    "{% set rest = messages[1:] %}{% else %}{% set rest = messages %}{% endif %}"
    "{% for message in rest %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate user/assistant') }}{% endif %}"
    "{{ '[' + message['role'] + ']' + message['content'] }}{% endfor %}{{ '[assistant]' }}"
)
NO_SYSTEM = TAKES_TURNS.replace(
    "{% if messages[0]['role'] == 'system' %}",
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('No system') }}",
)
PLAN = json.dumps(
    {
        "kind": "plan",
        "steps": [
            {"id": "a", "goal": "look", "kind": "tool", "tool": "look", "arguments": {"n": 1}},
            {"id": "b", "goal": "look", "kind": "tool", "tool": "look", "arguments": {"n": 2}},
            {"id": "c", "goal": "say it", "kind": "respond", "after": ["a", "b"]},
        ],
    }
)
USE = json.dumps({"kind": "tool", "tool": "look", "arguments": {}})
WORDS = 'Around: {"kind":"tool","tool":"look","arguments":{}} words.'
REPLIES = ["first", WORDS, USE, PLAN, "second", "a summary", '{"kind":"tool"}', "third"]


async def requests_of_a_talk() -> list[messages.ModelRequest]:
    """Three messages, with a summary before the last; every request that a model got."""
    async with rig.started(fake_tools.FakeTool(), replies=REPLIES) as runs:
        first = await runs.submit("one")
        await runs.reach(first.task_id, state.TaskState.COMPLETED)
        second = await runs.submit("two", first.conversation_id)
        await runs.reach(second.task_id, state.TaskState.COMPLETED)
        assert await runs.answer(second.task_id) == "second"
        owner = principals.LOCAL_OWNER
        compacts = await runs.box.ask(
            inputs.CompactConversation(
                credential="owner",
                principal=owner,
                correlation_id="c",
                conversation_id=first.conversation_id,
                origin=principals.Origin(principal=owner),
            )
        )
        assert isinstance(compacts, decisions.Submitted)
        await runs.reach(compacts.task_id, state.TaskState.COMPLETED)
        third = await runs.submit("three", first.conversation_id)
        await runs.reach(third.task_id, state.TaskState.COMPLETED)
        return runs.model.requests


@pytest.mark.spec("D-06")
@pytest.mark.spec("H-13")
@pytest.mark.parametrize(
    "source", [ONE_SYSTEM, TAKES_TURNS, NO_SYSTEM], ids=["one system", "takes turns", "no system"]
)
async def test_a_strict_template_renders_every_prompt_of_a_talk(source: str) -> None:
    made = template.Template(source)
    requests = await requests_of_a_talk()
    assert len(requests) == len(REPLIES)
    for request in requests:
        said = [(one.speaker, one.content) for one in request.messages]
        runs = made.render(said)
        told = [run.text for run in runs if not run.own]
        assert told == [content for _, content in said if content]
    assert "a summary" in requests[-1].messages[0].content
    assert any("was not used" in one.content for one in requests[2].messages)
