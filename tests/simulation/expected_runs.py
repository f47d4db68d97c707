"""Which state each due time of a schedule must have, reckoned apart from the daemon.

Knows the rule's times and the policy's words alone: what nobody ran in time, what overlaps, what
is tried again. `elapsed_ms` is the time that passes; the wall clock is it and an offset.
"""

from dataclasses import dataclass, field

from daemon.decide import calendar
from daemon.domain import schedules
from tests.simulation import week_plan

_State = schedules.RunState
_How = schedules.WhenMissed


@dataclass
class _Live:
    due_ms: int
    attempt: int
    began_ms: int
    ends_ms: int | None = None
    """By elapsed time, where it works."""
    ends_wall_ms: int | None = None
    """By the clock, where it waits for an answer."""
    again_wall_ms: int | None = None


@dataclass
class Expected:
    """One schedule, from its making on."""

    wish: week_plan.Wish
    now_ms: int
    offset_ms: int
    rows: dict[int, schedules.RunState] = field(default_factory=dict)
    accounted_ms: int = 0
    runs: int = 0
    failures: int = 0
    paused: bool = False
    gone: bool = False
    _live: _Live | None = None
    _queue: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.accounted_ms = self._wall()

    # --- what happens

    def until(self, elapsed_ms: int) -> None:
        """Time passes, and the daemon is there."""
        while (first := self._next()) is not None and first[0] <= elapsed_ms:
            self.now_ms = max(self.now_ms, first[0])
            if first[2] == "end":
                self._end()
            else:
                self._look()
        self.now_ms = elapsed_ms

    def _next(self) -> tuple[int, int, str] | None:
        """What comes next: when, for when it was meant, and what."""
        live, found = self._live, list[tuple[int, int, str]]()
        due = self._due_after(self.accounted_ms)
        again = live.again_wall_ms if live is not None else None
        looks = [at for at in (due, again) if at is not None]
        if looks:
            found.append((self._elapsed(min(looks)), min(looks), "look"))
        if live is not None and live.ends_wall_ms is not None:
            found.append((self._elapsed(live.ends_wall_ms), live.ends_wall_ms, "end"))
        if live is not None and live.ends_ms is not None:
            found.append((live.ends_ms, live.ends_ms + self.offset_ms, "end"))
        return min(found, default=None)

    def starts_anew(self, elapsed_ms: int, killed: bool) -> None:
        """The daemon was gone until then; what ran begins anew."""
        live, killed_ms, self.now_ms = self._live, self.now_ms, elapsed_ms
        if live is not None and live.ends_ms is not None:
            fate = self.wish.fate(live.due_ms, live.attempt)
            live.ends_ms = elapsed_ms + fate.lasts_ms
        lost = killed and live is not None and live.began_ms == killed_ms
        if lost and live is not None and live.ends_wall_ms is not None:
            live.ends_wall_ms = self._asks_until()  # it had begun, and had not asked
        if not self.gone:
            self._look()

    def pause(self) -> None:
        if not self.gone and not self.paused:
            self._skip_what_came()
            self.paused = True

    def resume(self) -> None:
        if self.paused and not self.gone:
            self.paused, self.failures = False, 0
            self.accounted_ms = max(self.accounted_ms, self._wall())
            self._go_if_over()

    def delete(self) -> None:
        if not self.gone:
            self._skip_what_came()
            if self._live is not None:
                self.rows[self._live.due_ms] = _State.CANCELLED
            self._live, self.gone = None, True

    # --- what follows

    def _wall(self) -> int:
        return self.now_ms + self.offset_ms

    def _elapsed(self, wall_ms: int) -> int:
        return max(self.now_ms, wall_ms - self.offset_ms)

    def _due_after(self, after_ms: int) -> int | None:
        most = self.wish.policy.most_runs
        used_up = most is not None and self.runs + len(self._queue) >= most
        if self.paused or self.gone or used_up:
            return None
        return calendar.next_due(self.wish.spec, self.wish.rules_of, after_ms)

    def _came(self) -> list[int]:
        found, at = list[int](), self._due_after(self.accounted_ms)
        while at is not None and at <= self._wall():
            found.append(at)
            at = self._due_after(at)
        return found

    def _look(self) -> None:
        live = self._live
        again_ms = live.again_wall_ms if live is not None else None
        if live is not None and again_ms is not None and again_ms <= self._wall():
            self._begin(live.due_ms, live.attempt + 1)
        came, policy = self._came(), self.wish.policy
        late = [at for at in came if self._wall() - at > policy.missed.grace_seconds * 1000]
        run_late: list[int] = []
        if policy.missed.how is _How.RUN_ALL:
            run_late = late[-policy.missed.most :]
        elif policy.missed.how is _How.RUN_ONCE and len(late) == len(came):
            run_late = late[-1:]
        for at in came:
            if self._due_after(self.accounted_ms) is None:
                break
            self._account(at, at in late, at in run_late)
        self._go_if_over()

    def _account(self, at: int, is_late: bool, runs_late: bool) -> None:
        self.accounted_ms = at
        missed = self.wish.policy.missed
        waits = missed.most if runs_late and missed.how is _How.RUN_ALL else 1
        if is_late and not runs_late:
            self.rows[at] = _State.MISSED
        elif self._live is None:
            self._begin(at, 1)
        elif not runs_late and self.wish.policy.overlap is schedules.Overlap.SKIP:
            self.rows[at] = _State.SKIPPED
        elif len(self._queue) < waits:
            self._queue.append(at)
            self.rows[at] = _State.LATE
        else:
            self.rows[at] = _State.SKIPPED

    def _begin(self, due_ms: int, attempt: int) -> None:
        self.runs += attempt == 1
        self._live = _Live(due_ms, attempt, self.now_ms)
        if self.wish.kind is week_plan.Kind.ASKS:
            self._live.ends_wall_ms = self._asks_until()
            self.rows[due_ms] = _State.WAITING
        else:
            self._live.ends_ms = self.now_ms + self.wish.fate(due_ms, attempt).lasts_ms
            self.rows[due_ms] = _State.RUNNING

    def _asks_until(self) -> int:
        return self._wall() + (self.wish.policy.approval_seconds or 0) * 1000

    def _end(self) -> None:
        live, policy = self._live, self.wish.policy
        assert live is not None
        succeeds = self.wish.fate(live.due_ms, live.attempt).succeeds
        if not succeeds or self.wish.kind is week_plan.Kind.ASKS:
            if live.attempt <= policy.retries.most:
                pause_ms = policy.retries.backoff_seconds * 1000 * 2 ** (live.attempt - 1)
                again = self._wall() + pause_ms
                self._live = _Live(live.due_ms, live.attempt, self.now_ms, again_wall_ms=again)
                self.rows[live.due_ms] = _State.SCHEDULED
                return
            self.rows[live.due_ms] = _State.FAILED
            self.failures += 1
        else:
            self.rows[live.due_ms] = _State.DONE
            self.failures = 0
        self._live = None
        most = policy.pause_after_failures
        if most is not None and self.failures >= most and not self.paused:
            self._skip_what_came()
            self.paused = True
        if self._queue:
            self._begin(self._queue.pop(0), 1)
        self._go_if_over()

    def _skip_what_came(self) -> None:
        for at in (*self._came(), *self._queue):
            self.rows[at] = _State.SKIPPED
            self.accounted_ms = max(self.accounted_ms, at)
        self._queue.clear()

    def _go_if_over(self) -> None:
        is_over = self._live is None and self._due_after(self.accounted_ms) is None
        self.gone = self.gone or (is_over and not self.paused)
