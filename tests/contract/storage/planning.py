"""What random histories have of schedules: made and changed, due, left out, begun and ended."""

from daemon.domain import deliveries, events, ids, principals, schedules, world
from tests.contract.storage import author, thinking

HOUR_MS = 3_600_000
TARGET = deliveries.Target(account="telegram:77", chat="5")
_MOST_SCHEDULES = 5


class Planning(thinking.Thinking):
    """Lets schedules come due."""

    def plan_something(self) -> None:
        """One more event of a schedule, or a new one."""
        kept = self.history.folded.schedules
        if len(kept) < _MOST_SCHEDULES and self.dice.random() < 0.3:
            self.make()
        elif kept:
            self._go_on(self.dice.choice(list(kept.values())))

    def make(self, target: deliveries.Target | None = None) -> world.Planned:
        """A schedule with a conversation of its own."""
        chat = ids.ConversationId(self.new_id("conversation"))
        name = self.content(chat)
        who = self.dice.choice((author.OWNER, principals.Principal("telegram:77:5")))
        created = events.ConversationCreated(conversation_id=chat, principal=who, title=name)
        self.add(created, chat)
        to = target or self.dice.choice((None, TARGET))
        schedule = events.Schedule(
            schedule_id=ids.ScheduleId(self.new_id("schedule")),
            conversation_id=chat,
            principal=who,
            name=name,
            text=self.content(chat),
            spec=schedules.Cron(fields="0 * * * *"),
            zone="UTC",
            policy=schedules.Policy(delivery=schedules.Delivery(to=to)),
        )
        self.add(events.ScheduleSet(schedule=schedule, by=author.OWNER), chat)
        return self.history.folded.schedules[schedule.schedule_id]

    def _go_on(self, planned: world.Planned) -> None:
        live, chance = planned.live, self.dice.random()
        if live is not None and live.ended is not None:
            self.end(planned, again=chance < 0.3)
        elif live is not None and live.again_ms is not None:
            self.start(planned, live.due_ms, live.attempt + 1)
        elif live is not None or chance < 0.3:
            self._come(planned)
        elif planned.queued:
            self.start(planned, planned.queued[0].due_ms)
        elif chance < 0.4:
            paused = planned.schedule.but({"paused": not planned.schedule.paused})
            self._tell(planned, events.ScheduleSet(schedule=paused, by=author.OWNER))
        elif chance < 0.42:
            removed = events.ScheduleRemoved(schedule_id=planned.schedule.schedule_id)
            self._tell(planned, removed)
        else:
            self.start(planned, self.next_ms(planned))

    def next_ms(self, planned: world.Planned) -> int:
        """The next time that is not accounted for."""
        return planned.accounted_ms // HOUR_MS * HOUR_MS + HOUR_MS

    def _tell(self, planned: world.Planned, event: events.Event) -> None:
        self.add(event, planned.schedule.conversation_id)

    def _come(self, planned: world.Planned) -> None:
        """Times come of which none begins now."""
        due_ms, schedule_id = self.next_ms(planned), planned.schedule.schedule_id
        if planned.live is not None and not planned.queued and self.dice.random() < 0.5:
            run_id = events.due_run(schedule_id, due_ms)
            queued = events.ScheduleRunQueued(schedule_id=schedule_id, run_id=run_id, due_ms=due_ms)
            self._tell(planned, queued)
            return
        many = self.dice.choice((1, 1, 3))
        waited = tuple(one.due_ms for one in planned.queued if self.dice.random() < 0.5)
        dues = (*waited, *(due_ms + number * HOUR_MS for number in range(many)))
        why: events.LeftOut = self.dice.choice(("missed", "overlap", "paused", "removed"))
        left = events.ScheduleRunsLeftOut(schedule_id=schedule_id, due_ms=dues, why=why)
        self._tell(planned, left)

    def start(
        self, planned: world.Planned, due_ms: int, attempt: int = 1, by_hand: bool = False
    ) -> ids.TaskId:
        """A run begins, with its task."""
        schedule = planned.schedule
        live = planned.live
        run_id = events.due_run(schedule.schedule_id, due_ms)
        if live is not None:
            run_id, by_hand = live.run_id, live.by_hand
        elif by_hand:
            run_id = ids.RunId(self.new_id("run"))
        task_id = ids.TaskId(self.new_id("task"))
        started = events.ScheduleRunStarted(
            schedule_id=schedule.schedule_id,
            run_id=run_id,
            due_ms=due_ms,
            run_task=task_id,
            late_ms=self.dice.choice((0, 61_000)),
            by_hand=by_hand,
            attempt=attempt,
        )
        self._tell(planned, started)
        submitted = events.TaskSubmitted(
            task_id=task_id,
            conversation_id=schedule.conversation_id,
            origin=principals.Origin(principal=schedule.principal),
            text=schedule.text,
            run=events.RunOf(
                schedule_id=schedule.schedule_id,
                run_id=run_id,
                target=schedule.policy.delivery.to,
            ),
        )
        self.add(submitted, schedule.conversation_id, task_id)
        return task_id

    def end(self, planned: world.Planned, again: bool = False) -> None:
        """It is decided what follows a run whose task has ended."""
        live = planned.live
        assert live is not None
        ended = events.ScheduleRunEnded(
            schedule_id=planned.schedule.schedule_id,
            run_id=live.run_id,
            run_task=live.task_id,
            outcome=live.ended or "cancelled",
            again_ms=self.now_ms + HOUR_MS if again else None,
            told=live.has_chat and not again,
        )
        self._tell(planned, ended)
