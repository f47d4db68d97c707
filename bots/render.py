"""Renders views as terminal text, and makes text from models, tools and people inert.

Answers for: that no control character, escape sequence, bidi or invisible character of a foreign
text reaches a terminal, and for the wording of each view. It must never write to a terminal.
"""

import dataclasses
import datetime
import re
import typing
import unicodedata

from bots import texts, views
from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2

TAIL_LINES: typing.Final = 12
DIFF_LINES: typing.Final = 40
LINE_CHARACTERS: typing.Final = 200

# Categories that move the cursor, hide, or change the order of what stands beside them.
_UNSAFE_CATEGORIES: typing.Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters and marks that show nothing.
_BLANK: typing.Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
)
_EMOJI_SELECTORS: typing.Final = frozenset("\ufe0e\ufe0f")


@dataclasses.dataclass(frozen=True)
class Palette:
    """How to mark text; empty strings where the terminal has no colours."""

    dim: str = ""
    bold: str = ""
    warn: str = ""
    reset: str = ""
    added: str = ""
    removed: str = ""


PLAIN: typing.Final = Palette()
COLOURED: typing.Final = Palette(
    "\x1b[2m", "\x1b[1m", "\x1b[33m", "\x1b[0m", "\x1b[32m", "\x1b[31m"
)


def inert(text: str) -> str:
    """The text with everything escaped that is not plainly visible; keeps lines and tabs."""
    return "".join(map(_escape, text.replace("\r\n", "\n")))


def uncontrolled(text: str) -> str:
    """The text with only control characters escaped: for files and pipes, where joiners and
    direction marks of human languages are to survive."""
    return "".join(
        _code(character) if _is_control(character) else character
        for character in text.replace("\r\n", "\n")
    )


def _is_control(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cs")


def inert_exact(text: str) -> str:
    """Like `inert`, and shows odd spaces, selectors and carriage returns: for approval cards."""
    return "".join(_escape_exact(character) for character in text)


def one_line(text: str, limit: int = LINE_CHARACTERS) -> str:
    """The text on one line of at most so many characters."""
    flat = inert(text.strip()).replace("\n", "\\n").replace("\t", " ")
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def _escape(character: str) -> str:
    if character in "\n\t" or " " <= character <= "~":
        return character
    if character in _EMOJI_SELECTORS:
        return character
    if unicodedata.category(character) in _UNSAFE_CATEGORIES or character in _BLANK:
        return _code(character)
    if 0xFE00 <= ord(character) <= 0xFE0F or 0xE0100 <= ord(character) <= 0xE01EF:
        return _code(character)
    return character


def _escape_exact(character: str) -> str:
    odd_space = character != " " and unicodedata.category(character) == "Zs"
    if odd_space or character in _EMOJI_SELECTORS:
        return _code(character)
    return _escape(character)


def _code(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def tail(text: str, lines: int = TAIL_LINES) -> str:
    """The last lines of a text, each shortened, and how many were left out."""
    every = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    kept = [one_line(line) for line in every[-lines:]]
    if len(every) > lines:
        kept.insert(0, texts.TOOL_LINES_LEFT_OUT.format(count=len(every) - lines))
    return "\n".join(kept)


def view_text(view: views.View, palette: Palette = PLAIN) -> str:
    """The text of a view without a last newline; empty where a terminal shows nothing."""
    match view:
        case views.TextPiece(text=text) | views.AnswerText(rest=text):
            return inert(text)
        case views.TaskBegan() | views.ToolOutput():
            return ""
        case views.ThoughtPiece(text=text):
            return _marked(inert(text), palette.dim, palette)
        case views.TextDropped(again=again):
            why = texts.TEXT_DROPPED if again else texts.TEXT_WITHDRAWN
            return _marked(why, palette.dim, palette)
        case views.TextEnded(cut=cut):
            return _marked(texts.TEXT_CUT, palette.dim, palette) if cut else ""
        case views.ToolStarted():
            return _tool_started(view, palette)
        case views.ToolEnded():
            return _tool_ended(view, palette)
        case views.FilesChanged():
            return changes(view, palette, DIFF_LINES)
        case views.PlanShown():
            return _plan(view, palette)
        case views.ApprovalCard():
            return card(view, palette)
        case views.ApprovalClosed():
            return _marked(_closed(view), palette.dim, palette)
        case views.Notice(text=text):
            return _marked(one_line(text), palette.dim, palette)
        case views.Progress():
            return progress(view)
        case views.Waiting(state=state, reason=reason) | views.Ended(state=state, reason=reason):
            mark = palette.dim if state == common_pb2.COMPLETED else palette.warn
            return _marked(state_line(state, reason), mark, palette)
        case _:
            typing.assert_never(view)


def _marked(text: str, mark: str, palette: Palette) -> str:
    return f"{mark}{text}{palette.reset}" if text else ""


def _tool_started(view: views.ToolStarted, palette: Palette) -> str:
    again = texts.TOOL_AGAIN.format(attempt=view.attempt) if view.attempt > 1 else ""
    command = one_line(view.command or view.tool or texts.TOOL_UNNAMED)
    basis = texts.TOOL_BASES.get(view.basis, "")
    return _marked(f"$ {command}{again}{basis}", palette.bold, palette)


def _tool_ended(view: views.ToolEnded, palette: Palette) -> str:
    parts = [outcome(view)]
    if view.duration_ms:
        parts.append(texts.TOOL_SECONDS.format(seconds=f"{view.duration_ms / 1000:.1f}"))
    lines = [tail(view.text)] if view.text else []
    failed = view.outcome != events_pb2.ToolCallEnded.FINISHED or bool(view.exit_code)
    mark = palette.warn if failed else palette.dim
    lines.append(_marked(f"[{' · '.join(parts)}]", mark, palette))
    if view.artifact_id:
        whole = texts.TOOL_ARTIFACT.format(id=one_line(view.artifact_id))
        lines.append(_marked(whole, palette.dim, palette))
    return "\n".join(lines)


def outcome(view: views.ToolEnded) -> str:
    """How a call ended, in a word or two."""
    name = enum_name(events_pb2.ToolCallEnded.Outcome.DESCRIPTOR, view.outcome)
    if view.exit_code is not None and name in ("FINISHED", "FAILED"):
        return texts.TOOL_EXIT.format(code=view.exit_code)
    return texts.OUTCOMES.get(name, texts.OUTCOME_OTHER)


def changes(view: views.FilesChanged, palette: Palette, most_lines: int | None = None) -> str:
    """The files that a call changed and how, a line's end at the terminal's; None: whole."""
    files = ", ".join(one_line(name) for name in view.files)
    lines = [_marked(texts.FILES_CHANGED.format(files=files), palette.dim, palette)]
    changed = view.diff.rstrip("\n").split("\n") if view.diff else []
    lines += [_diff_line(line, palette) for line in changed[:most_lines]]
    if most_lines is not None and len(changed) > most_lines:
        left = texts.DIFF_LINES_LEFT_OUT.format(
            count=len(changed) - most_lines, id=one_line(view.task_id)
        )
        lines.append(_marked(left, palette.dim, palette))
    return "\n".join(lines)


def _diff_line(line: str, palette: Palette) -> str:
    mark = ""
    if line.startswith(("+++", "---", "diff ")):
        mark = palette.bold
    elif line.startswith("@@"):
        mark = palette.dim
    elif line.startswith("+"):
        mark = palette.added
    elif line.startswith("-"):
        mark = palette.removed
    shown = inert(line)
    return _marked(shown, mark, palette) if mark else shown


def _plan(view: views.PlanShown, palette: Palette) -> str:
    """The whole plan when it is new, then a line for each step that moves."""
    if view.changed is not None:
        return _step(view.changed, palette)
    title = _marked(texts.PLAN_TITLE, palette.bold, palette)
    return "\n".join([title, *(f"  {_step(step, palette)}" for step in view.steps)])


def step_line(step: views.PlanStep) -> str:
    """A step of a plan and how far it is, on one line."""
    status = step.status.value
    goal = one_line(step.goal) or one_line(step.step_id)
    line = texts.PLAN_STEP.format(mark=texts.PLAN_MARKS[status], goal=goal)
    if step.after and step.status is views.StepStatus.WAITING:
        line += texts.PLAN_AFTER.format(steps=", ".join(map(one_line, step.after)))
    line += texts.PLAN_STATUSES[status]
    if step.attempt > 1 and step.status is views.StepStatus.RUNNING:
        line += texts.TOOL_AGAIN.format(attempt=step.attempt)
    return line


def _step(step: views.PlanStep, palette: Palette) -> str:
    failed = step.status is views.StepStatus.FAILED
    return _marked(step_line(step), palette.warn if failed else palette.bold, palette)


def card(view: views.ApprovalCard, palette: Palette = PLAIN) -> str:
    """The approval card: what would run, exactly, and why it is asked."""
    tool = one_line(view.tool or texts.TOOL_UNNAMED)
    lines = [_marked(texts.CARD_TITLE.format(tool=tool), palette.bold, palette)]
    lines += [f"  | {line}" for line in inert_exact(view.card).split("\n")]
    lines += [f"  {texts.CARD_REASON.format(reason=one_line(why))}" for why in view.reasons]
    if view.folder and view.folder not in view.card:
        lines.append(f"  {texts.CARD_FOLDER.format(folder=one_line(view.folder))}")
    foot = texts.CARD_ID.format(id=one_line(view.approval_id))
    if view.expires_at is not None:
        foot += " · " + texts.CARD_EXPIRES.format(at=moment(view.expires_at))
    lines.append(_marked(f"  {foot}", palette.dim, palette))
    return "\n".join(lines)


def _closed(view: views.ApprovalClosed) -> str:
    pattern = texts.APPROVAL_CLOSED if view.decided_by else texts.APPROVAL_CLOSED_NOBODY
    line = pattern.format(outcome=one_line(view.outcome), by=one_line(view.decided_by))
    return _with_reason(line, view.reason)


def closed_elsewhere(approval: approvals_pb2.Approval) -> str:
    """Tells that somebody else decided an approval, and who."""
    nobody = texts.APPROVAL_CLOSED_ELSEWHERE_NOBODY
    pattern = texts.APPROVAL_CLOSED_ELSEWHERE if approval.decided_by else nobody
    line = pattern.format(
        outcome=approval_status(approval.status), by=one_line(approval.decided_by)
    )
    return _with_reason(line, approval.reason)


def _with_reason(line: str, reason: str) -> str:
    return texts.APPROVAL_REASON.format(line=line, reason=one_line(reason)) if reason else line


def progress(view: views.Progress) -> str:
    """One short line for a status display."""
    line = texts.STAGES[view.stage.value]
    if view.stage is views.Stage.READING and view.total > 0:
        line += texts.PROGRESS_SHARE.format(done=view.done, total=view.total)
    purpose = texts.PURPOSES.get(view.purpose, "")
    if purpose:
        line = texts.PROGRESS_PURPOSE.format(purpose=purpose, stage=line)
    if view.elapsed_ms >= 1000:
        line += texts.PROGRESS_SECONDS.format(seconds=view.elapsed_ms // 1000)
    return line


class _EnumDescriptor(typing.Protocol):
    @property
    def values_by_number(self) -> typing.Mapping[int, typing.Any]: ...


def enum_name(descriptor: _EnumDescriptor, number: int) -> str:
    """The name of an enum value; the number where a newer daemon has values of its own."""
    value = descriptor.values_by_number.get(number)
    return str(value.name) if value is not None else str(number)


def state_name(state: int) -> str:
    """A task's state in words."""
    name = enum_name(common_pb2.TaskState.DESCRIPTOR, state)
    return texts.STATES.get(name, texts.STATE_OTHER.format(number=state))


def state_line(state: int, reason: str) -> str:
    """A task's state in words, with its reason."""
    name = state_name(state)
    return texts.STATE_REASON.format(state=name, reason=one_line(reason)) if reason else name


def approval_status(status: int) -> str:
    """An approval's status in words."""
    name = enum_name(approvals_pb2.ApprovalStatus.DESCRIPTOR, status)
    return texts.APPROVAL_STATUSES.get(name, texts.APPROVAL_STATUS_OTHER)


def moment(at: datetime.datetime, zone: datetime.tzinfo | None = None) -> str:
    """A time to the second in the given zone, or the machine's own."""
    return at.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")


def last_line(text: str) -> str:
    """The last line with something on it, made inert."""
    lines = [line for line in re.split(r"[\r\n]", text) if line.strip()]
    return one_line(lines[-1]) if lines else ""
