"""Views as terminal text, and that no foreign character acts on a terminal."""

import datetime
import unicodedata

import pytest
from hypothesis import given, strategies as st

from bots import render, texts, views
from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2

T = "task-1"
Outcome = events_pb2.ToolCallEnded
HOSTILE = "a\x1b[2Jb\x07\x9bc\u202ed\u2066e\u200bf\ufeffg\U000e0041h\u2028i\x00j\u3164k\rl\ud800m"


def tool_ended(
    outcome: events_pb2.ToolCallEnded.Outcome.ValueType,
    exit_code: int | None = None,
    text: str = "",
    artifact_id: str = "",
    duration_ms: int = 0,
) -> views.ToolEnded:
    return views.ToolEnded(
        T, "tool-1", "shell_exec", "ls", outcome, exit_code, text, artifact_id, duration_ms
    )


CARD = views.ApprovalCard(
    T,
    "approval-1",
    "shell_exec",
    "rm -r build\nls",
    ("writes", "asks"),
    False,
    datetime.datetime(2030, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
)

TABLE: list[tuple[views.View, str]] = [
    (views.TaskBegan(T, "c", "hi"), ""),
    (views.TextPiece(T, "call-1", "a\x1b\n\tb"), "a\\x1b\n\tb"),
    (views.TextDropped(T, "call-1"), texts.TEXT_DROPPED),
    (views.TextEnded(T, "call-1", cut=False), ""),
    (views.TextEnded(T, "call-1", cut=True), texts.TEXT_CUT),
    (views.AnswerText(T, "abc", "bc", True), "bc"),
    (views.ToolStarted(T, "tool-1", "shell_exec", "ls\nrm", 1), "$ ls\\nrm"),
    (views.ToolStarted(T, "tool-1", "now", "", 2), "$ now (attempt 2)"),
    (views.ToolStarted(T, "tool-1", "", "", 1), "$ tool"),
    (views.ToolOutput(T, "tool-1", "abc"), ""),
    (tool_ended(Outcome.FINISHED, 0), "[exit 0]"),
    (tool_ended(Outcome.FINISHED, 2, "a\r\nb\n", "", 250), "a\nb\n[exit 2 · 0.2 s]"),
    (tool_ended(Outcome.FINISHED), "[finished]"),
    (tool_ended(Outcome.FAILED, None, "no such file"), "no such file\n[failed]"),
    (tool_ended(Outcome.OUTCOME_UNKNOWN), "[nobody saw how it ended]"),
    (tool_ended(Outcome.DENIED), "[denied]"),
    (tool_ended(Outcome.FINISHED, 0, "", "abc"), "[exit 0]\nwhole output: artifact abc"),
    (
        views.ApprovalClosed(T, "approval-1", "denied", "local:owner", "not\nnow"),
        "approval denied by local:owner (not\\nnow)",
    ),
    (views.ApprovalClosed(T, "approval-1", "expired", "", ""), "approval expired"),
    (views.Notice(T, "a\nb"), "a\\nb"),
    (views.Progress(T, views.Stage.LOADING, 0, 0, 900), "loading the model"),
    (views.Progress(T, views.Stage.QUEUED, 0, 0, 61_000), "waiting for the model 61 s"),
    (views.Progress(T, views.Stage.READING, 5, 9, 0), "reading 5/9"),
    (views.Waiting(T, common_pb2.PARKED, "five recoveries"), "parked: five recoveries"),
    (views.Ended(T, common_pb2.CANCELLED, ""), "cancelled"),
]


@pytest.mark.parametrize(("view", "text"), TABLE)
def test_views(view: views.View, text: str) -> None:
    assert render.view_text(view) == text


def test_a_card() -> None:
    lines = render.view_text(CARD).split("\n")
    assert lines[:5] == [
        "shell_exec wants to run:",
        "  | rm -r build",
        "  | ls",
        "  because: writes",
        "  because: asks",
    ]
    assert lines[5].startswith("  approval approval-1 · expires 2030-01-0")


def test_colours_are_ours_alone() -> None:
    coloured = render.view_text(views.Notice(T, "a\x1b[31mb"), render.COLOURED)
    assert coloured == "\x1b[2ma\\x1b[31mb\x1b[0m"


def test_a_tail_is_short_and_says_what_it_leaves_out() -> None:
    text = "\n".join(f"line {number} " + "x" * 300 for number in range(20))
    lines = render.tail(text, 3).split("\n")
    assert lines[0] == "… 17 lines more above"
    assert [line[:7] for line in lines[1:]] == ["line 17", "line 18", "line 19"]
    assert {len(line) for line in lines[1:]} == {render.LINE_CHARACTERS}


def test_what_is_plainly_visible_stays() -> None:
    text = "Grüße, мир, 你好, ❤️, naïve, e\u0301 → ~/x [1] \\x1b\n\tend"
    assert render.inert(text) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (HOSTILE[:6], "a\\x1b[2Jb"),
        ("\u202e", "\\u202e"),
        ("\U000e0041", "\\U000e0041"),
        ("\udcff", "\\udcff"),
        ("a\r\nb\r", "a\nb\\x0d"),
    ],
)
def test_escapes(text: str, wanted: str) -> None:
    assert render.inert(text) == wanted


def test_a_card_shows_odd_spaces_too() -> None:
    assert render.inert_exact("a\u00a0b\u2003c\ufe0f\r\n") == "a\\xa0b\\u2003c\\ufe0f\\x0d\n"


def harmless(text: str) -> bool:
    bad = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    return all(char in "\n\t" or unicodedata.category(char) not in bad for char in text)


@given(st.text())
def test_no_text_whatever_acts_on_a_terminal(text: str) -> None:
    for made in (render.inert, render.inert_exact):
        assert harmless(made(text))
    assert not set(render.one_line(text)) & set("\n\t\r\x1b")
    assert harmless(render.last_line(text))
    assert not {"\x1b", "\x9b", "\r", "\x07", "\x08"} & set(render.uncontrolled(text))


@given(st.text(), st.text())
def test_pieces_are_as_inert_as_the_whole(first: str, second: str) -> None:
    assert harmless(render.inert(first) + render.inert(second))


@given(st.text(alphabet=HOSTILE + " \n"))
def test_no_view_lets_a_foreign_character_through(text: str) -> None:
    for view in (
        views.TextPiece(T, text, text),
        views.AnswerText(T, text, text, True),
        views.ToolStarted(T, text, text, text, 2, text),
        views.ToolEnded(T, text, text, text, Outcome.FAILED, 1, text, text, 1),
        views.ApprovalCard(T, text, text, text, (text,), True, None, f"/{text}"),
        views.ApprovalClosed(T, text, text, text, text),
        views.Notice(T, text),
        views.Waiting(T, common_pb2.PARKED, text),
        views.Ended(T, common_pb2.FAILED, text),
    ):
        assert harmless(render.view_text(view))
    approval = approvals_pb2.Approval(decided_by=text.replace("\ud800", ""))
    assert harmless(render.closed_elsewhere(approval))


def test_names_of_newer_daemons_are_numbers() -> None:
    assert render.state_name(99) == "state 99, unknown to this client"
    assert render.approval_status(99) == "decided"
    unknown = tool_ended(events_pb2.ToolCallEnded.Outcome.ValueType(99))
    assert render.view_text(unknown) == "[ended]"


@pytest.mark.parametrize(
    ("basis", "wanted"),
    [
        ("", "$ ls"),
        ("read_only", "$ ls"),
        ("approval", "$ ls"),
        ("grant", "$ ls (allowed always before)"),
        ("yolo", "$ ls (unasked: this conversation is in mode yolo)"),
        ("named", "$ ls (you named it)"),
    ],
)
def test_what_ran_unasked_says_why(basis: str, wanted: str) -> None:
    assert render.view_text(views.ToolStarted(T, "c", "t", "ls", 1, basis)) == wanted


@pytest.mark.parametrize(("card", "lines"), [("write a", 1), ("write a\nfolder: /p", 0)])
def test_a_card_names_its_folder_once(card: str, lines: int) -> None:
    shown = render.card(views.ApprovalCard(T, "a", "t", card, (), False, None, "/p"))
    assert shown.count("  in /p") == lines
    assert shown.count("/p") == 1


def test_every_state_stage_and_outcome_has_words() -> None:
    states = set(common_pb2.TaskState.keys()) - {"TASK_STATE_UNSPECIFIED"}
    assert set(texts.STATES) == states
    outcomes = set(events_pb2.ToolCallEnded.Outcome.keys()) - {"OUTCOME_UNSPECIFIED"}
    assert set(texts.OUTCOMES) == outcomes
    assert set(texts.STAGES) == {stage.value for stage in views.Stage}
    assert set(texts.MODES) == set(common_pb2.Mode.keys()) - {"MODE_UNSPECIFIED"}
    statuses = set(approvals_pb2.ApprovalStatus.keys()) - {"APPROVAL_STATUS_UNSPECIFIED"}
    assert set(texts.APPROVAL_STATUSES) == statuses
