"""What an export tells of one task: its message, what was done about it, and the answer, in order.

Pure over the task's events and their texts. A text is None when it was forgotten.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from daemon.domain import events, ids, views
from daemon.rpc import convert

Text = str | None


@dataclass(frozen=True)
class Wanted:
    """What is told beside messages and answers. Results are those of the tools that are told."""

    reasoning: bool = False
    tools: bool = True
    results: bool = True


@dataclass(frozen=True)
class Message:
    """What a person said; `further` when it joined the running task."""

    principal: str
    at_ms: int
    text: Text
    further: bool = False


@dataclass(frozen=True)
class Thought:
    text: Text


@dataclass(frozen=True)
class Step:
    """A step of a plan as it was planned."""

    step_id: str
    kind: str
    goal: Text
    after: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class StepEnd:
    """How a step ended. Its result is told here unless a call told it."""

    step_id: str
    outcome: str
    has_result: bool = False
    result: Text = None


@dataclass
class Call:
    """A tool call; its end is filled in when it is met."""

    tool: str
    arguments: Text
    outcome: str = ""
    exit_code: int | None = None
    has_result: bool = False
    result: Text = None
    artifact_id: str = ""
    files: tuple[str, ...] = ()
    has_diff: bool = False
    diff: Text = None


@dataclass(frozen=True)
class Answer:
    text: Text


Entry = Message | Thought | Plan | StepEnd | Call | Answer


@dataclass
class Turn:
    """One task as it is told."""

    view: views.TaskView
    entries: list[Entry] = field(default_factory=list)


def contents(page: Iterable[events.Recorded], wanted: Wanted) -> list[ids.ContentId]:
    """The texts that telling these events needs."""
    found: list[ids.ContentId | None] = []
    for one in page:
        match one.event:
            case events.TaskSubmitted() | events.TaskSteered() | events.AnswerGiven():
                found.append(one.event.text)
            case events.ModelCallFinished() if wanted.reasoning:
                found.append(one.event.reasoning)
            case events.PlanMade() if wanted.tools:
                found += (step.goal for step in one.event.steps)
            case events.StepEnded() if wanted.tools and wanted.results:
                found.append(one.event.result)
            case events.ToolCallProposed() if wanted.tools:
                found.append(one.event.arguments)
            case events.ToolCallEnded() if wanted.tools and wanted.results:
                found += (one.event.result, one.event.diff)
            case _:
                pass
    return [content_id for content_id in found if content_id is not None]


class Teller:
    """Collects a turn from its events, page by page."""

    def __init__(self, view: views.TaskView, wanted: Wanted) -> None:
        self.turn = Turn(view)
        self._wanted = wanted
        self._calls: dict[ids.CallId, Call] = {}
        self._by_tools: set[str] = set()

    def add(self, recorded: events.Recorded, texts: convert.Texts) -> None:
        """Take the next event of the task."""
        match recorded.event:
            case events.TaskSubmitted() | events.TaskSteered():
                self.turn.entries.append(
                    Message(
                        recorded.event.origin.principal,
                        recorded.at_ms,
                        texts.get(recorded.event.text),
                        further=isinstance(recorded.event, events.TaskSteered),
                    )
                )
            case events.ModelCallFinished():
                self._thought(recorded.event, texts)
            case events.AnswerGiven():
                self.turn.entries.append(Answer(texts.get(recorded.event.text)))
            case _:
                if self._wanted.tools:
                    self._tool(recorded.event, texts)

    def _thought(self, finished: events.ModelCallFinished, texts: convert.Texts) -> None:
        if self._wanted.reasoning and finished.reasoning is not None:
            self.turn.entries.append(Thought(texts.get(finished.reasoning)))

    def _tool(self, event: events.Event, texts: convert.Texts) -> None:
        match event:
            case events.PlanMade():
                self._by_tools |= {one.step_id for one in event.steps if one.kind == "tool"}
                self.turn.entries.append(
                    Plan(
                        tuple(
                            Step(one.step_id, one.kind, texts.get(one.goal), one.after)
                            for one in event.steps
                        )
                    )
                )
            case events.StepEnded():
                tells = self._wanted.results and event.step_id not in self._by_tools
                tells = tells and event.result is not None
                result = texts.get(event.result) if tells and event.result else None
                end = StepEnd(event.step_id, event.outcome.value, tells, result)
                self.turn.entries.append(end)
            case events.ToolCallProposed():
                call = Call(event.tool, texts.get(event.arguments))
                self._calls[event.call_id] = call
                self.turn.entries.append(call)
            case events.ToolCallEnded():
                self._ended(event, texts)
            case _:
                pass

    def _ended(self, ended: events.ToolCallEnded, texts: convert.Texts) -> None:
        call = self._calls.get(ended.call_id)
        if call is None:
            return
        call.outcome, call.exit_code = ended.outcome.value, ended.exit_code
        if not self._wanted.results:
            return
        call.artifact_id, call.files = ended.artifact or "", ended.files
        if ended.result is not None:
            call.has_result, call.result = True, texts.get(ended.result)
        if ended.diff is not None:
            call.has_diff, call.diff = True, texts.get(ended.diff)


def is_told(view: views.TaskView) -> bool:
    """Whether a task is part of what was said: one that summarizes is not."""
    return view.kind is events.TaskKind.ANSWER
