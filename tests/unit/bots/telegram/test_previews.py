"""Previews: what is shown of a task that goes on, and that it is one message whatever comes."""

import pytest
from hypothesis import given, settings, strategies

from bots import texts as words, views
from bots.telegram import buttons, outgoing, previews, rendering, texts
from proto.ducklm.v1 import common_pb2, events_pb2

ARTIFACT = "ab" * 32
FINISHED, FAILED = events_pb2.ToolCallEnded.FINISHED, events_pb2.ToolCallEnded.FAILED


def says(text: str, call: str = "c-1") -> views.View:
    return views.TextPiece("t", call, text)


def thinks(text: str, call: str = "c-1") -> views.View:
    return views.ThoughtPiece("t", call, text)


def starts(command: str, call: str = "c-2") -> views.View:
    return views.ToolStarted("t", call, "shell_exec", command, 1)


def prints(text: str, call: str = "c-2") -> views.View:
    return views.ToolOutput("t", call, text)


def ends(command: str, text: str = "", code: int = 0, artifact: str = "") -> views.View:
    outcome = FAILED if code else FINISHED
    return views.ToolEnded("t", "c-2", "shell_exec", command, outcome, code, text, artifact, 5)


def step(step_id: str, status: views.StepStatus) -> views.PlanStep:
    return views.PlanStep(step_id, f"goal of {step_id}", "tool", (), status)


def waits(state: common_pb2.TaskState.ValueType, reason: str = "") -> views.View:
    return views.Waiting("t", state, reason)


READING = views.Progress("t", views.Stage.READING, 512, 2048, 3000)
LOADING = views.Progress("t", views.Stage.LOADING, 0, 0, 12_000)
CLOSED = views.ApprovalClosed("t", "a", "allowed", "local:owner", "")


def after(*seen: views.View, elapsed_ms: int = 0, thoughts: bool = False) -> outgoing.Text:
    preview = previews.Preview(thoughts)
    for one in seen:
        preview.feed(one)
    return preview.text(elapsed_ms)


@pytest.mark.spec("B-01")
@pytest.mark.parametrize(
    ("seen", "elapsed_ms", "text"),
    [
        ([], 0, texts.QUEUED),
        ([], 4200, f"{texts.QUEUED} · 4 s"),
        ([LOADING], 0, f"{words.STAGES['loading']} 12 s"),
        ([READING], 0, f"{words.STAGES['reading']} 512/2048 3 s"),
        ([READING, says("The ans")], 0, "The ans"),
        ([says("a **b"), says("** c")], 0, "a b c"),
        ([says("no"), views.TextDropped("t", "c-1"), says("yes")], 0, "yes"),
        ([says("one"), says("two", "c-9")], 0, "one\n\ntwo"),
        ([says("draft"), views.AnswerText("t", "all of it", "", False)], 0, "all of it"),
        ([says("  \n\u200b\u3164")], 0, texts.WORKING),
        ([starts("ls")], 2000, f"{texts.WORKING} · 2 s\n\n▸ ls"),
        ([says("I look"), starts("ls")], 0, f"{texts.WORKING}\n\n▸ ls"),
        ([starts("ls"), prints("a\nb\n")], 0, f"{texts.WORKING}\n\n▸ ls\n\na\nb"),
        ([starts("ls"), ends("ls", "a\n")], 0, f"{texts.WORKING}\n\n✓ ls\n\na"),
        ([starts("ls"), ends("ls", "a\n"), says("So")], 0, "✓ ls\n\nSo"),
        ([starts("x"), ends("x", code=2)], 0, f"{texts.WORKING}\n\n✗ x (exit 2)"),
        ([views.Notice("t", "again\nnow")], 0, f"{texts.QUEUED}\n\nagain\\nnow"),
        ([thinks("hm")], 0, texts.QUEUED),
    ],
)
def test_what_is_shown(seen: list[views.View], elapsed_ms: int, text: str) -> None:
    assert after(*seen, elapsed_ms=elapsed_ms).text == text


@pytest.mark.parametrize("then", [[CLOSED], [READING], [says("So")], [starts("ls")]])
def test_why_it_waited_is_gone_when_it_goes_on(then: list[views.View]) -> None:
    waiting = waits(common_pb2.AWAITING_APPROVAL, "shell_exec wants a yes")
    assert after(says("hi"), waiting).text == (
        f"{words.STATES['AWAITING_APPROVAL']}\n\nhi\n\nshell_exec wants a yes"
    )
    shown = after(waiting, *then).text
    assert "wants a yes" not in shown
    assert words.STATES["AWAITING_APPROVAL"] not in shown


def test_a_plan_and_its_tools_are_shown_as_they_stand() -> None:
    plan = (step("a", views.StepStatus.DONE), step("b", views.StepStatus.RUNNING))
    shown = after(views.PlanShown("t", plan), starts("make"))
    _, steps, tools = shown.text.split("\n\n")
    assert [line.split("goal")[1][:5] for line in steps.split("\n")] == [" of a", " of b"]
    assert tools == "▸ make"


def test_of_many_tools_the_last_are_shown() -> None:
    calls = [starts(f"run {number}", f"c-{number}") for number in range(20)]
    lines = after(*calls).text.split("\n\n")[1].split("\n")
    assert lines[0] == texts.TOOLS_MORE.format(count=12)
    assert lines[1:] == [f"▸ run {number}" for number in range(12, 20)]


@pytest.mark.parametrize("artifact", ["", ARTIFACT])
def test_an_output_that_is_longer_can_be_had_whole(artifact: str) -> None:
    long = "".join(f"line {number}\n" for number in range(50))
    shown = after(starts("seq"), ends("seq", long, artifact=artifact))
    assert "line 49" in shown.text
    assert "line 37" not in shown.text
    pressed = [buttons.read(one.data) for row in shown.rows for one in row]
    assert pressed == ([buttons.Whole(artifact)] if artifact else [])
    assert after(starts("seq"), ends("seq", artifact=artifact), starts("ls", "c-7")).rows == ()


@pytest.mark.parametrize("thoughts", [True, False])
def test_thinking_is_a_quote_where_it_is_asked_for(thoughts: bool) -> None:
    shown = after(thinks("first ", "c-0"), thinks("hm @you"), thoughts=thoughts)
    assert ("hm @you" in shown.text) == thoughts
    assert "first" not in shown.text
    quotes = [one for one in shown.entities if one.kind == "expandable_blockquote"]
    assert len(quotes) == thoughts


@pytest.mark.parametrize(
    ("speech", "text", "language"),
    [
        ("```py\nx = 1", "x = 1", "py"),
        ("~~~py\nx = '```'", "x = '```'", "py"),
        ("````py\n```\nx", "```\nx", "py"),
        ("```py\nx\n```", "x", "py"),
        ("```py\n" + "x = 1\n" * 5000, "x = 1", "py"),
    ],
)
def test_a_code_block_is_one_before_it_is_closed(speech: str, text: str, language: str) -> None:
    shown = after(says(speech))
    assert shown.text.rstrip().endswith(text)
    assert [(one.kind, one.language) for one in shown.entities] == [("pre", language)]


_SAID = strategies.text("ab *_`~[]()<>|$#>-\n@/🦆\u202e\u0000", max_size=60)
_SEEN = strategies.one_of(
    strategies.builds(says, _SAID),
    strategies.builds(says, _SAID.map(lambda text: text * 200)),
    strategies.builds(thinks, _SAID),
    strategies.builds(starts, _SAID, strategies.sampled_from(("c-2", "c-3"))),
    strategies.builds(prints, _SAID.map(lambda text: text * 50)),
    strategies.builds(ends, _SAID, _SAID, strategies.integers(0, 2)),
    strategies.sampled_from(
        (LOADING, READING, CLOSED, views.TextDropped("t", "c-1"), views.TextEnded("t", "c-1", True))
    ),
    strategies.builds(views.Notice, strategies.just("t"), _SAID),
    strategies.builds(
        lambda many, goal: views.PlanShown(
            "t", (views.PlanStep("s", goal * 40, "tool", ()),) * many
        ),
        strategies.integers(1, 60),
        _SAID,
    ),
)


@settings(deadline=None, max_examples=60)
@given(strategies.lists(_SEEN, max_size=25))
def test_it_is_one_message_whatever_comes(seen: list[views.View]) -> None:
    preview = previews.Preview(thoughts=True)
    for one in seen:
        preview.feed(one)
        shown = preview.text(5000)
        total = outgoing.units(shown.text)
        assert rendering.shows(shown.text)
        assert total <= outgoing.TEXT_UNITS
        assert len(shown.entities) <= 100
        for mark in shown.entities:
            assert 0 <= mark.offset < mark.offset + mark.length <= total
            encoded = shown.text.encode("utf-16-le")[2 * mark.offset :]
            encoded[: 2 * mark.length].decode("utf-16-le")
