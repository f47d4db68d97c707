"""Random histories that a daemon could have had: every one folds, and has its texts beside it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from daemon.domain import (
    decisions,
    events,
    fold,
    ids,
    messages,
    principals,
    state,
    verdicts,
    world,
)
from tools import contract

START_MS = 1_750_000_000_000
OWNER = principals.LOCAL_OWNER

FINAL_STATES = sorted(state.FINAL - {state.TaskState.CANCELLED})


@dataclass
class History:
    """A log, the texts that it names, and the world that it folds to."""

    recorded: list[events.Recorded] = field(default_factory=list)
    contents: list[decisions.ContentRecord] = field(default_factory=list)
    folded: world.World = field(default_factory=world.World)

    def text_of(self, content_id: ids.ContentId) -> str:
        return next(kept.text for kept in self.contents if kept.content_id == content_id)

    def batches(self, dice: random.Random) -> list["Batch"]:
        """The same history in commits of random sizes, each text with the first that needs it."""
        cut, start, first = [], 0, 0
        while start < len(self.recorded):
            end = min(len(self.recorded), start + dice.randint(1, 24))
            last = first + dice.randint(0, len(self.contents) - first)
            last = len(self.contents) if end == len(self.recorded) else last
            cut.append(Batch(self.recorded[start:end], self.contents[first:last]))
            start, first = end, last
        return cut


@dataclass(frozen=True)
class Batch:
    """What one commit keeps."""

    recorded: Sequence[events.Recorded]
    contents: Sequence[decisions.ContentRecord]


class Author:
    """Writes a history, one legal event after the other."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._drawn = 0
        self._now_ms = START_MS
        self.history = History()

    def new_id(self, kind: str) -> str:
        self._drawn += 1
        return f"{kind}-{self._dice.getrandbits(128):032x}"

    def content(self, owner: ids.ConversationId) -> ids.ContentId:
        content_id = ids.ContentId(self.new_id("content"))
        text = "".join(self._dice.choices("abc äß漢🦆\n\x00\"\\'", k=self._dice.randint(0, 60)))
        record = decisions.ContentRecord(content_id=content_id, owner=owner, text=text)
        self.history.contents.append(record)
        return content_id

    def add(
        self,
        event: events.Event,
        conversation_id: ids.ConversationId,
        task_id: ids.TaskId | None = None,
    ) -> None:
        """Append an event and fold it, so that no history is impossible."""
        self._now_ms += self._dice.randint(0, 5000)
        recorded = events.Recorded(
            seq=self.history.folded.head_seq + 1,
            at_ms=self._now_ms,
            task_id=task_id,
            conversation_id=conversation_id,
            correlation_id=f"correlation-{self._drawn}",
            event=event,
        )
        fold.apply(self.history.folded, recorded)
        self.history.recorded.append(recorded)


class Play(Author):
    """Lets tasks of a few conversations live and end at random."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._conversations: list[ids.ConversationId] = []

    def act(self) -> None:
        """Let one thing happen."""
        tasks = list(self.history.folded.tasks.values())
        chance = self._dice.random()
        if not self._conversations or chance < 0.03:
            self.begin_conversation()
        elif chance < 0.05:
            chat = self._dice.choice(self._conversations)
            title = self.content(chat)
            self.add(events.ConversationUpdated(conversation_id=chat, title=title), chat)
        elif not tasks or (chance < 0.15 and len(tasks) < 64):
            self.submit(self._dice.choice(self._conversations))
        else:
            self._live(self._dice.choice(tasks))

    def begin_conversation(self) -> ids.ConversationId:
        chat = ids.ConversationId(self.new_id("conversation"))
        self._conversations.append(chat)
        title = self.content(chat) if self._dice.random() < 0.5 else None
        event = events.ConversationCreated(conversation_id=chat, principal=OWNER, title=title)
        self.add(event, chat)
        return chat

    def origin(self, chat: str) -> principals.Origin:
        return principals.Origin(principal=OWNER, channel="terminal", chat=chat)

    def submit(self, chat: ids.ConversationId) -> ids.TaskId:
        task_id = ids.TaskId(self.new_id("task"))
        event = events.TaskSubmitted(
            task_id=task_id,
            conversation_id=chat,
            origin=self.origin(chat),
            text=self.content(chat),
        )
        self.add(event, chat, task_id)
        return task_id

    def tell(self, task: world.Task, event: events.Event) -> None:
        self.add(event, task.conversation_id, task.task_id)

    def move(self, task: world.Task, to: state.TaskState, reason: str = "") -> None:
        now = self.history.folded.tasks[task.task_id].state
        moved = events.TaskStateChanged(task_id=task.task_id, previous=now, state=to, reason=reason)
        self.tell(task, moved)

    def _live(self, task: world.Task) -> None:
        if task.state in state.FINAL:
            self._end_late(task)
        elif self._dice.random() < 0.02:
            self.move(task, state.TaskState.CANCELLED, "the user said so")
        elif task.state is state.TaskState.RUNNING:
            self._run(task)
        elif task.state is state.TaskState.QUEUED or task.ready:
            if task.conversation_id not in self.history.folded.running:
                self.move(task, state.TaskState.RUNNING)
        elif task.state is state.TaskState.AWAITING_APPROVAL:
            self._resolve(task)
        else:
            self._decide(task)

    def _end_late(self, task: world.Task) -> None:
        """A task that was cancelled while something ran: what ran ends now."""
        call = task.open_call()
        if task.model_call is not None:
            self._fail_model(task, task.model_call, "cancelled")
        elif call is not None:
            self._end_call(task, call, events.CallOutcome.CANCELLED)

    def _run(self, task: world.Task) -> None:
        call = task.open_call()
        if task.model_call is not None:
            self._hear_model(task, task.model_call)
        elif call is not None:
            self._advance(task, call)
        elif unknown := task.unknown_calls():
            self.propose(task, repeats=unknown[-1].call_id)
        else:
            self._begin_something(task)

    def _begin_something(self, task: world.Task) -> None:
        chance = self._dice.random()
        if chance < 0.35:
            failed = task.failed_call
            self.tell(
                task,
                events.ModelCallStarted(
                    task_id=task.task_id,
                    call_id=ids.CallId(self.new_id("call")),
                    role=messages.Role.THINKER,
                    attempt=1 if failed is None else failed.attempt + 1,
                    replaces=None if failed is None else failed.call_id,
                ),
            )
        elif chance < 0.75:
            self.propose(task)
        elif chance < 0.8:
            count = task.recoveries + 1
            self.tell(task, events.TaskRecovered(task_id=task.task_id, count=count))
        elif chance < 0.9:
            text = self.content(task.conversation_id)
            self.tell(task, events.AnswerGiven(task_id=task.task_id, text=text))
            self.move(task, state.TaskState.COMPLETED)
        else:
            others = [*FINAL_STATES, state.TaskState.PARKED, state.TaskState.MODEL_UNAVAILABLE]
            self.move(task, self._dice.choice(others), "it could not go on")

    def propose(self, task: world.Task, repeats: ids.CallId | None = None) -> None:
        self.tell(
            task,
            events.ToolCallProposed(
                task_id=task.task_id,
                call_id=ids.CallId(self.new_id("call")),
                tool=self._dice.choice(("shell_exec", "test_pure", "test_unsafe")),
                arguments=self.content(task.conversation_id),
                direct=self._dice.random() < 0.3,
                repeats=repeats,
            ),
        )

    def _hear_model(self, task: world.Task, call: world.ModelCall) -> None:
        if self._dice.random() < 0.2:
            faults: tuple[events.ModelCallFault, ...] = ("died", "overflow", "stalled")
            self._fail_model(task, call, self._dice.choice(faults))
            return
        self.tell(
            task,
            events.ModelCallFinished(
                task_id=task.task_id,
                call_id=call.call_id,
                text=self.content(task.conversation_id),
                finish_reason="stop",
                slot="main",
                usage=messages.Usage(prompt_tokens=12, completion_tokens=3),
                script_line=self._dice.choice((None, 0, 7)),
            ),
        )

    def _fail_model(
        self, task: world.Task, call: world.ModelCall, fault: events.ModelCallFault
    ) -> None:
        self.tell(
            task,
            events.ModelCallFailed(
                task_id=task.task_id, call_id=call.call_id, fault=fault, message="It ended."
            ),
        )

    def _advance(self, task: world.Task, call: world.ToolCall) -> None:
        match call.status:
            case world.CallStatus.PROPOSED:
                self._inspect(task, call)
            case world.CallStatus.INSPECTED if self._dice.random() < 0.5:
                self._ask(task, call)
            case world.CallStatus.INSPECTED | world.CallStatus.APPROVED:
                self._start(task, call)
            case world.CallStatus.STARTED if self._dice.random() < 0.3:
                self._end_call(task, call, events.CallOutcome.OUTCOME_UNKNOWN)
                self.move(task, state.TaskState.AWAITING_DECISION)
            case _:
                outcomes = (events.CallOutcome.FINISHED, events.CallOutcome.FAILED)
                self._end_call(task, call, self._dice.choice(outcomes))

    def _inspect(self, task: world.Task, call: world.ToolCall) -> None:
        if self._dice.random() < 0.1:
            self._end_call(task, call, events.CallOutcome.REFUSED)
            return
        self.tell(
            task,
            events.ToolCallInspected(
                task_id=task.task_id,
                call_id=call.call_id,
                effect=self._dice.choice(list(contract.Effect)),
                digest=self.new_id("digest"),
                verdict=verdicts.Verdict.ASK,
                reasons=("it writes",),
            ),
        )

    def _ask(self, task: world.Task, call: world.ToolCall) -> None:
        self.tell(
            task,
            events.ApprovalRequested(
                task_id=task.task_id,
                approval_id=ids.ApprovalId(self.new_id("approval")),
                call_id=call.call_id,
                tool=call.tool,
                digest=call.digest,
                card=self.content(task.conversation_id),
                reasons=("it writes",),
                always_allowed=self._dice.random() < 0.5,
                expires_ms=self._now_ms + 1000,
            ),
        )
        self.move(task, state.TaskState.AWAITING_APPROVAL)

    def _resolve(self, task: world.Task) -> None:
        call = task.open_call()
        assert call is not None
        assert call.approval_id is not None
        outcome = self._dice.choice(list(events.ApprovalOutcome))
        denied = outcome is events.ApprovalOutcome.DENIED
        goes_on = denied and self._dice.random() < 0.5
        self.tell(
            task,
            events.ApprovalResolved(
                task_id=task.task_id,
                approval_id=call.approval_id,
                call_id=call.call_id,
                outcome=outcome,
                decided_by=OWNER if denied else None,
                reason=self.content(task.conversation_id) if goes_on else None,
            ),
        )
        if outcome is events.ApprovalOutcome.ALLOWED:
            return
        self._end_call(task, call, events.CallOutcome.DENIED)
        if not goes_on:
            self.move(task, state.TaskState.FAILED, "it was not allowed")

    def _start(self, task: world.Task, call: world.ToolCall) -> None:
        self.tell(
            task,
            events.ToolCallStarted(
                task_id=task.task_id,
                call_id=call.call_id,
                digest=call.digest,
                effect=call.effect or contract.Effect.PURE,
                attempt=call.attempt + 1,
                approval_id=call.approval_id,
            ),
        )

    def _end_call(
        self, task: world.Task, call: world.ToolCall, outcome: events.CallOutcome
    ) -> None:
        known = outcome is not events.CallOutcome.OUTCOME_UNKNOWN
        self.tell(
            task,
            events.ToolCallEnded(
                task_id=task.task_id,
                call_id=call.call_id,
                outcome=outcome,
                result=self.content(task.conversation_id) if known else None,
                duration_ms=self._dice.randint(0, 900),
            ),
        )

    def _decide(self, task: world.Task) -> None:
        """What a person says to a task that waits for a decision."""
        unknown = task.unknown_calls()
        abandoned = self._dice.random() < 0.2
        if abandoned or not unknown or task.state is not state.TaskState.AWAITING_DECISION:
            decision = events.Decision.ABANDON if abandoned else events.Decision.RETRY
        else:
            decision = self._dice.choice((events.Decision.MARK_DONE, events.Decision.RUN_AGAIN))
        call_id = unknown[-1].call_id if unknown else None
        self.tell(
            task,
            events.TaskDecided(
                task_id=task.task_id, decision=decision, principal=OWNER, call_id=call_id
            ),
        )
        if decision is events.Decision.ABANDON:
            self.move(task, state.TaskState.FAILED, "abandoned")
        elif decision is events.Decision.MARK_DONE:
            self._end_call(task, unknown[-1], events.CallOutcome.MARKED_DONE)


def random_history(seed: int, least_events: int) -> History:
    """A history of at least so many events; the same seed gives the same one."""
    play = Play(seed)
    while play.history.folded.head_seq < least_events:
        play.act()
    return play.history
