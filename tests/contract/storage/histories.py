"""Random histories that a daemon could have had: every one folds, and has its texts beside it."""

from daemon.domain import events, ids, messages, principals, state, verdicts, world
from tests.contract.storage import planning
from tests.contract.storage.author import (
    OWNER as OWNER,
    START_MS as START_MS,
    Batch as Batch,
    History as History,
)
from tools import contract

FINAL_STATES = sorted(state.FINAL - {state.TaskState.CANCELLED})


def first_open(task: world.Task) -> world.ToolCall | None:
    return next(iter(task.open_calls()), None)


class Play(planning.Planning):
    """Lets tasks of a few conversations live and end at random."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._conversations: list[ids.ConversationId] = []

    def act(self) -> None:
        """Let one thing happen."""
        tasks = list(self.history.folded.tasks.values())
        chance = self.dice.random()
        if not self._conversations or chance < 0.03:
            self.begin_conversation()
        elif chance < 0.05:
            chat = self.dice.choice(self._conversations)
            self._update(chat)
        elif chance < 0.07:
            self._look_back()
        elif chance < 0.072 and len(self._conversations) > 2:
            self.delete(self._conversations.pop(0))
        elif chance < 0.11:
            self.plan_something()
        elif not tasks or (chance < 0.21 and len(tasks) < 64):
            kinds = (*[events.TaskKind.ANSWER] * 4, events.TaskKind.COMPACT)
            self.submit(self.dice.choice(self._conversations), self.dice.choice(kinds))
        else:
            self._live(self.dice.choice(tasks))

    def _update(self, chat: ids.ConversationId) -> None:
        updated = events.ConversationUpdated(
            conversation_id=chat,
            title=self.content(chat) if self.dice.random() < 0.5 else None,
            mode=self.dice.choice((None, *verdicts.Mode)),
            folder=self.dice.choice((None, "", "/project", "/other")),
            profile=self.dice.choice((None, "", "careful")),
            steers=self.dice.choice((None, True, False)),
        )
        self.add(updated, chat)

    def _look_back(self) -> None:
        """Something about a task that ended, in whatever conversation."""
        ended = [
            (one.conversation_id, one.task_id)
            for one in self.history.recorded
            if isinstance(one.event, events.TaskSubmitted)
            and one.task_id not in self.history.folded.tasks
        ]
        if ended:
            chat, task_id = self.dice.choice(ended)
            assert task_id is not None
            self.look_back(chat, task_id)

    def begin_conversation(self, folder: str = "") -> ids.ConversationId:
        chat = ids.ConversationId(self.new_id("conversation"))
        self._conversations.append(chat)
        title = self.content(chat) if self.dice.random() < 0.5 else None
        event = events.ConversationCreated(
            conversation_id=chat, principal=OWNER, title=title, folder=folder
        )
        self.add(event, chat)
        return chat

    def origin(self, chat: str) -> principals.Origin:
        return principals.Origin(principal=OWNER, channel="terminal", chat=chat)

    def submit(
        self, chat: ids.ConversationId, kind: events.TaskKind = events.TaskKind.ANSWER
    ) -> ids.TaskId:
        task_id = ids.TaskId(self.new_id("task"))
        event = events.TaskSubmitted(
            task_id=task_id,
            conversation_id=chat,
            origin=self.origin(chat),
            text=self.content(chat),
            skill=self.dice.choice(("", "tests")),
            note=self.dice.choice(("", "It is noon.")),
            kind=kind,
        )
        self.add(event, chat, task_id)
        return task_id

    def _live(self, task: world.Task) -> None:
        if task.state in state.FINAL:
            self._end_late(task)
        elif self.dice.random() < 0.02:
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
        call = first_open(task)
        if task.model_call is not None:
            self._fail_model(task, task.model_call, "cancelled")
        elif call is not None:
            self._end_call(task, call, events.CallOutcome.CANCELLED)

    def _run(self, task: world.Task) -> None:
        call = first_open(task)
        if task.model_call is not None:
            self._hear_model(task, task.model_call)
        elif call is not None:
            self._advance(task, call)
        elif unknown := task.unknown_calls():
            self.propose(task, repeats=unknown[-1].call_id)
        else:
            self._begin_something(task)

    def _begin_something(self, task: world.Task) -> None:
        if task.follows_plan and self.follow(task):
            return
        chance = self.dice.random()
        if chance < 0.1:
            self.think(task)
        elif chance < 0.35:
            failed = task.failed_call
            self.tell(
                task,
                events.ModelCallStarted(
                    task_id=task.task_id,
                    call_id=ids.CallId(self.new_id("call")),
                    role=messages.Role.THINKER,
                    attempt=1 if failed is None else failed.attempt + 1,
                    replaces=None if failed is None else failed.call_id,
                    purpose=self.dice.choice((messages.Purpose.THINK, messages.Purpose.COMPILE)),
                    heard=task.steered[: self.dice.randint(0, 3)],
                ),
            )
        elif chance < 0.75:
            for _ in range(self.dice.choice((1, 1, 2))):
                self.propose(task)
        elif chance < 0.8:
            count = task.recoveries + 1
            self.tell(task, events.TaskRecovered(task_id=task.task_id, count=count))
        elif chance < 0.9:
            self.answer(task.task_id)
        else:
            others = [*FINAL_STATES, state.TaskState.PARKED, state.TaskState.MODEL_UNAVAILABLE]
            self.move(task, self.dice.choice(others), "it could not go on")

    def propose(self, task: world.Task, repeats: ids.CallId | None = None) -> None:
        self.tell(
            task,
            events.ToolCallProposed(
                task_id=task.task_id,
                call_id=ids.CallId(self.new_id("call")),
                tool=self.dice.choice(("shell_exec", "test_pure", "test_unsafe")),
                arguments=self.content(task.conversation_id),
                direct=self.dice.random() < 0.3,
                repeats=repeats,
                step_id=self._step(task),
                words=self.dice.choice((None, self.content(task.conversation_id))),
            ),
        )

    def _step(self, task: world.Task) -> str | None:
        """The step of the plan that runs."""
        running = (s.step_id for s in task.plan if s.status is world.StepStatus.RUNNING)
        return next(running, None)

    def _hear_model(self, task: world.Task, call: world.ModelCall) -> None:
        if self.dice.random() < 0.2:
            faults: tuple[events.ModelCallFault, ...] = ("died", "overflow", "stalled")
            self._fail_model(task, call, self.dice.choice(faults))
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
                script_line=self.dice.choice((None, 0, 7)),
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
            case world.CallStatus.INSPECTED if self.dice.random() < 0.5:
                self._ask(task, call)
            case world.CallStatus.INSPECTED | world.CallStatus.APPROVED:
                self._start(task, call)
            case world.CallStatus.STARTED if self.dice.random() < 0.3:
                self._end_call(task, call, events.CallOutcome.OUTCOME_UNKNOWN)
                self.move(task, state.TaskState.AWAITING_DECISION)
            case _:
                outcomes = (events.CallOutcome.FINISHED, events.CallOutcome.FAILED)
                self._end_call(task, call, self.dice.choice(outcomes))

    def _inspect(self, task: world.Task, call: world.ToolCall) -> None:
        if self.dice.random() < 0.1:
            self._end_call(task, call, events.CallOutcome.REFUSED)
            return
        self.tell(
            task,
            events.ToolCallInspected(
                task_id=task.task_id,
                call_id=call.call_id,
                effect=self.dice.choice(list(contract.Effect)),
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
                always_allowed=self.dice.random() < 0.5,
                expires_ms=self.now_ms + 1000,
            ),
        )
        self.move(task, state.TaskState.AWAITING_APPROVAL)

    def _resolve(self, task: world.Task) -> None:
        call = first_open(task)
        assert call is not None
        assert call.approval_id is not None
        outcome = self.dice.choice(list(events.ApprovalOutcome))
        denied = outcome is events.ApprovalOutcome.DENIED
        goes_on = denied and self.dice.random() < 0.5
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
        changed = call.status is world.CallStatus.STARTED and self.dice.random() < 0.3
        self.tell(
            task,
            events.ToolCallEnded(
                task_id=task.task_id,
                call_id=call.call_id,
                outcome=outcome,
                result=self.content(task.conversation_id) if known else None,
                duration_ms=self.dice.randint(0, 900),
                commit=self.new_id("commit") if changed else "",
                files=("a.py",) if changed else (),
                diff=self.content(task.conversation_id) if changed else None,
            ),
        )

    def _decide(self, task: world.Task) -> None:
        """What a person says to a task that waits for a decision."""
        unknown = task.unknown_calls()
        abandoned = self.dice.random() < 0.2
        if abandoned or not unknown or task.state is not state.TaskState.AWAITING_DECISION:
            decision = events.Decision.ABANDON if abandoned else events.Decision.RETRY
        else:
            decision = self.dice.choice((events.Decision.MARK_DONE, events.Decision.RUN_AGAIN))
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
