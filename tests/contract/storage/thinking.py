"""What tasks of random histories think: directives, refused replies, plans and their steps."""

from daemon.domain import directives, events, ids, state, world
from tests.contract.storage import author

_DIRECTIVES: tuple[directives.Kind, ...] = ("respond", "tool", "plan", "coder", "fail")
_KINDS: tuple[directives.StepKind, ...] = ("tool", "coder", "respond")


class Thinking(author.Author):
    """Lets tasks make plans, follow them, and hear further messages."""

    def think(self, task: world.Task) -> None:
        """One more event of a task's own thinking."""
        chat, chance = task.conversation_id, self.dice.random()
        if chance < 0.25:
            steered = events.TaskSteered(
                task_id=task.task_id, origin=task.origin, text=self.content(chat)
            )
            self.tell(task, steered)
        elif chance < 0.5:
            refused = events.ReplyRefused(
                task_id=task.task_id,
                call_id=ids.CallId(self.new_id("call")),
                text=self.content(chat),
                reason="it is no JSON",
                cut=self.dice.random() < 0.3,
            )
            self.tell(task, refused)
        elif chance < 0.7:
            source = self.dice.choice(list(events.DirectiveSource))
            kind = self.dice.choice(_DIRECTIVES)
            words = self.content(chat) if self.dice.random() < 0.5 else None
            taken = events.DirectiveTaken(
                task_id=task.task_id, kind=kind, source=source, words=words
            )
            self.tell(task, taken)
        else:
            self.plan(task, self.dice.randint(1, 4))

    def plan(self, task: world.Task, steps: int) -> None:
        """Make a plan of so many steps, each after the one before."""
        planned = tuple(
            events.PlannedStep(
                step_id=f"s{number}",
                goal=self.content(task.conversation_id),
                kind=self.dice.choice(_KINDS),
                after=(f"s{number - 1}",) if number else (),
            )
            for number in range(steps)
        )
        text = self.content(task.conversation_id)
        self.tell(task, events.PlanMade(task_id=task.task_id, text=text, steps=planned))

    def follow(self, task: world.Task) -> bool:
        """Go on with the plan; False when a step waits for what a call has to bring it."""
        step = next(step for step in task.plan if not step.ended)
        if step.status is world.StepStatus.WAITING:
            started = events.StepStarted(
                task_id=task.task_id, step_id=step.step_id, attempt=step.attempts + 1
            )
            self.tell(task, started)
            return True
        if step.status is world.StepStatus.RUNNING and self.dice.random() < 0.6:
            return False
        if self.dice.random() < 0.5:
            self._judge(task, step)
        else:
            ended = events.StepEnded(
                task_id=task.task_id,
                step_id=step.step_id,
                outcome=self.dice.choice(list(events.StepOutcome)),
                result=self.dice.choice((step.result, None)),
            )
            self.tell(task, ended)
        return True

    def _judge(self, task: world.Task, step: world.Step) -> None:
        self.tell(
            task,
            events.StepJudged(
                task_id=task.task_id,
                step_id=step.step_id,
                correctness=self.dice.choice((None, 0, 10)),
                usefulness=5,
                safety=10,
                follows=self.dice.choice(list(directives.Recovery)),
                note=self.content(task.conversation_id),
            ),
        )

    def look_back(self, chat: ids.ConversationId, ended: ids.TaskId) -> None:
        """What people do about a conversation after a task of it ended."""
        chance = self.dice.random()
        if chance < 0.4:
            self.judge_answer(chat, ended)
        elif chance < 0.7:
            self.undo(chat, ended)
        else:
            self.compact(chat, self.dice.randint(0, self.history.folded.head_seq))

    def judge_answer(self, chat: ids.ConversationId, task_id: ids.TaskId) -> None:
        good = self.dice.random() < 0.5
        said = events.FeedbackGiven(task_id=task_id, principal=author.OWNER, good=good)
        self.add(said, chat, task_id)

    def undo(self, chat: ids.ConversationId, task_id: ids.TaskId) -> None:
        commits = tuple(self.new_id("commit") for _ in range(self.dice.randint(0, 2)))
        undone = events.ExchangeUndone(
            task_id=task_id, principal=author.OWNER, folder="/project", commits=commits
        )
        self.add(undone, chat, task_id)
        if task_id in self.history.folded.reverts:
            reverted = events.ProjectReverted(task_id=task_id, fault="it does not apply")
            self.add(reverted, chat, task_id)

    def compact(self, chat: ids.ConversationId, up_to_seq: int) -> ids.ContentId:
        """Have what was said up to a place in the log told by a summary."""
        summary = self.content(chat)
        compacted = events.ConversationCompacted(
            conversation_id=chat, summary=summary, up_to_seq=up_to_seq
        )
        self.add(compacted, chat)
        return summary

    def delete(self, chat: ids.ConversationId) -> None:
        deleted = events.ConversationDeleted(conversation_id=chat, principal=author.OWNER)
        self.add(deleted, chat)

    def answer(self, task_id: ids.TaskId) -> ids.ContentId:
        """Let a queued or running task end with an answer."""
        task = self.history.folded.tasks[task_id]
        if task.state is state.TaskState.QUEUED:
            self.move(task, state.TaskState.RUNNING)
        text = self.content(task.conversation_id)
        self.tell(task, events.AnswerGiven(task_id=task_id, text=text))
        self.move(task, state.TaskState.COMPLETED)
        return text
