"""What a task's models say: which of it is shown, one call at a time, and what is taken back.

Answers for: that a text is shown once, however it comes; that only what is meant for a person is
shown as text; and that what turns out to be no answer is withdrawn. Thoughts are told apart: a
platform hides them unless somebody asked. It must never know of a platform.
"""

import dataclasses
import typing
from collections.abc import Sequence

from bots import views
from proto.ducklm.v1 import events_pb2

# Roles whose text is meant for the daemon, not for a person; what an older daemon tells by.
MACHINE_ROLES: typing.Final = frozenset({"json_compiler", "critic", "recall", "sys_util"})
SPOKEN_PURPOSES: typing.Final = frozenset({"think", "write"})
_THINKING: typing.Final = frozenset({"", "think"})
_DIRECTIVE_FENCE: typing.Final = "```json"

_None: typing.Final[Sequence[views.View]] = ()


@dataclasses.dataclass
class Growing:
    """A text that comes in pieces: all that is known of it, and how much of that was shown."""

    text: str = ""
    shown: int = 0  # characters of text that were shown or passed over

    def take(self, offset: int, piece: str) -> None:
        """Add a piece; what is known already and what leaves a gap is passed over."""
        known = len(self.text)
        if offset <= known < offset + len(piece):
            self.text += piece[known - offset :]

    def release(self) -> str:
        """The text that was not shown yet."""
        rest = self.text[self.shown :]
        if not self.shown:
            rest = rest.lstrip()
            if not rest:
                return ""
        self.shown = len(self.text)
        return rest

    @property
    def shown_text(self) -> str:
        return self.text[: self.shown].lstrip()


@dataclasses.dataclass
class _Call:
    """One model call."""

    call_id: str
    spoken: bool = True
    purpose: str = ""
    step_id: str = ""
    text: Growing = dataclasses.field(default_factory=Growing)
    thoughts: Growing = dataclasses.field(default_factory=Growing)
    ended: bool = False
    cut: bool = False

    @property
    def holds_text(self) -> bool:
        """Whether it has text for a person that was not shown."""
        if not self.spoken or (not self.text.shown and _may_be_directive(self.text.text)):
            return False
        return bool(self.text.text[self.text.shown :].strip() or self.text.shown)


class Speech:
    """What the models of one task say."""

    def __init__(self, task_id: str) -> None:
        self._task_id = task_id
        self._calls: dict[str, _Call] = {}
        self._speaker = ""  # the call whose text is being shown
        self._draft = ""  # the call of which a directive is to come
        self._last_shown = ""  # the call whose text stands last

    def purpose(self, call_id: str) -> str:
        """What a call is for; empty where that is not known."""
        call = self._calls.get(call_id)
        return call.purpose if call else ""

    def live(self, live: events_pb2.LiveText) -> Sequence[views.View]:
        """A piece of a running call's text or thoughts."""
        if live.call_id not in self._calls and live.purpose:
            self._begin(live.call_id, live.purpose, live.purpose in SPOKEN_PURPOSES)
        call = self._call(live.call_id)
        if live.thinking:
            call.thoughts.take(live.offset, live.text)
            return self._thoughts(call)
        call.text.take(live.offset, live.text)
        return self._pieces(call)

    def started(self, started: events_pb2.ModelCallStarted) -> Sequence[views.View]:
        spoken = started.role not in MACHINE_ROLES
        if started.purpose:
            spoken = started.purpose in SPOKEN_PURPOSES
        call = self._begin(started.call_id, started.purpose, spoken)
        call.step_id = started.step_id
        return self._drop(started.replaces_call_id) if started.replaces_call_id else _None

    def finished(self, finished: events_pb2.ModelCallFinished) -> Sequence[views.View]:
        call = self._call(finished.call_id)
        if finished.reasoning.startswith(call.thoughts.text):
            known = len(call.thoughts.text)
            call.thoughts.take(known, finished.reasoning[known:])
        thoughts = self._thoughts(call)
        cut = finished.finish_reason == "length"
        return (*thoughts, *self._ended(call, finished.text, cut))

    def failed(self, failed: events_pb2.ModelCallFailed) -> Sequence[views.View]:
        call = self._call(failed.call_id)
        known = call.text.text
        text = failed.text if failed.text.startswith(known) else known
        return self._ended(call, text, cut=False)

    def directed(self, taken: events_pb2.DirectiveTaken) -> Sequence[views.View]:
        """What comes next is settled: unless that is the answer, the draft was none."""
        draft, self._draft = self._draft, ""
        return _None if taken.kind == "respond" else self._drop(draft, again=False)

    def refused(self, refused: events_pb2.ReplyRefused) -> Sequence[views.View]:
        return self._drop(refused.call_id, again=False)

    def step_begins(self, begun: events_pb2.StepStarted) -> Sequence[views.View]:
        """What an earlier attempt of the step wrote does not count."""
        earlier = [one.call_id for one in self._calls.values() if one.step_id == begun.step_id]
        return tuple(view for call_id in earlier for view in self._drop(call_id))

    def tool_begins(self) -> None:
        """What is said after a tool ran begins anew."""
        self._last_shown = ""

    def answered(self, answer: str) -> views.View:
        """The answer, with what of it was not shown yet."""
        call = self._calls.get(self._last_shown)
        shown = call.text.shown_text if call else ""
        if shown and answer.strip() == shown.strip():
            return views.AnswerText(self._task_id, answer, rest="", continues=True)
        if shown and answer.startswith(shown):
            rest = answer[len(shown) :]
            return views.AnswerText(self._task_id, answer, rest, continues=True)
        return views.AnswerText(self._task_id, answer, rest=answer, continues=False)

    def _call(self, call_id: str) -> _Call:
        return self._calls.setdefault(call_id, _Call(call_id))

    def _begin(self, call_id: str, purpose: str, spoken: bool) -> _Call:
        call = self._call(call_id)
        call.purpose, call.spoken = purpose, spoken
        if spoken and purpose in _THINKING:
            self._draft = call_id
        return call

    def _thoughts(self, call: _Call) -> Sequence[views.View]:
        piece = call.thoughts.release()
        return (views.ThoughtPiece(self._task_id, call.call_id, piece),) if piece else _None

    def _pieces(self, call: _Call) -> Sequence[views.View]:
        """The text that may be shown now: where calls speak side by side, the first one's."""
        if not call.holds_text or self._speaker not in ("", call.call_id):
            return _None
        piece = call.text.release()
        if not piece:
            return _None
        self._speaker = self._last_shown = call.call_id
        return (views.TextPiece(self._task_id, call.call_id, piece),)

    def _ended(self, call: _Call, text: str, cut: bool) -> Sequence[views.View]:
        dropped = _None
        if not text.startswith(call.text.text.rstrip()):  # what came live is not the outcome
            dropped = self._drop(call.call_id, keeps=True)
            call.text = Growing()
        call.text.take(len(call.text.text), text[len(call.text.text) :])
        call.ended, call.cut = True, cut
        if self._speaker not in ("", call.call_id):
            return dropped
        return (*dropped, *self._close(call), *self._next())

    def _close(self, call: _Call) -> Sequence[views.View]:
        """The rest of a call that has ended."""
        pieces = self._pieces(call)
        self._speaker = ""
        if not call.text.shown:
            return pieces
        return (*pieces, views.TextEnded(self._task_id, call.call_id, call.cut))

    def _next(self) -> Sequence[views.View]:
        """The texts that had to wait for another one's end."""
        shown: list[views.View] = []
        for call in self._calls.values():
            if call.text.shown or not call.holds_text:
                continue
            if not call.ended:
                return (*shown, *self._pieces(call))
            shown += self._close(call)
        return shown

    def _drop(self, call_id: str, again: bool = True, keeps: bool = False) -> Sequence[views.View]:
        """Take back what was shown of a call, and forget the call unless it goes on."""
        call = self._calls.get(call_id)
        if call is None:
            return _None
        if not keeps:
            del self._calls[call_id]
        if not call.text.shown:
            return _None
        if self._last_shown == call_id:
            self._last_shown = ""
        if self._speaker == call_id:
            self._speaker = ""
        return (views.TextDropped(self._task_id, call_id, again),)


def _may_be_directive(text: str) -> bool:
    """Whether a text may turn out to be a directive in JSON, which nobody wants to read."""
    start = text.lstrip()[: len(_DIRECTIVE_FENCE)]
    return start.startswith("{") or (bool(start) and _DIRECTIVE_FENCE.startswith(start))
