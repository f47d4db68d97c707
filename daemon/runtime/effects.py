"""Starts each action as a task of its own, and ends those that are cancelled or left at a stop.

Decides nothing and waits for nothing: outcomes come back through the inbox.
"""

import asyncio
import contextvars
import hashlib
from collections.abc import Callable, Coroutine
from typing import assert_never

import structlog

from daemon.domain import decisions, errors, events, ids, inputs, messages
from daemon.runtime import alarm, contents, failpoints, inbox, model_calls, ports, tool_calls

_log = structlog.get_logger(__name__)
_Begin = Callable[[], Coroutine[None, None, None]]


class Effects:
    """Performs the actions of one daemon."""

    def __init__(
        self,
        models: model_calls.ModelCalls,
        tools: tool_calls.ToolCalls,
        timers: alarm.Timers,
        box: inbox.Inbox,
        history: ports.History,
        kept: contents.Contents,
        reach: failpoints.Reach = failpoints.pass_by,
    ) -> None:
        self._reach = reach
        self._inbox = box
        self._history = history
        self._kept = kept
        self._models = models
        self._tools = tools
        self._timers = timers
        self._calls: dict[ids.CallId, asyncio.Task[None]] = {}
        self._tool_runs: set[asyncio.Task[None]] = set()
        self._all: set[asyncio.Task[None]] = set()
        self._cancelled: set[ids.CallId] = set()
        self._stopped = False

    def perform(self, action: decisions.Action) -> None:
        """Start an action; once stopped, nothing starts (the next start finds it in the log)."""
        if self._stopped:
            return
        match action:
            case decisions.GatherContext():
                self._start(
                    action.kind,
                    lambda: self._models.gather(action),
                    action.task_id,
                    action.correlation_id,
                )
            case decisions.CallModel():
                request, correlation_id = action.request, action.correlation_id
                started = self._start(
                    action.kind,
                    lambda: self._models.call(action, self._cancelled),
                    request.task_id,
                    correlation_id,
                )
                self._note_call(request.call_id, started, lambda: _unstarted_model(request))
            case decisions.InspectCall():
                self._start_site(action.kind, lambda: self._tools.inspect(action.site), action.site)
            case decisions.CallTool():
                started = self._start_site(
                    action.kind, lambda: self._tools.run(action, self._cancelled), action.site
                )
                self._note_call(action.site.call_id, started, lambda: _unstarted_tool(action.site))
                self._tool_runs.add(started)
                started.add_done_callback(self._tool_runs.discard)
            case decisions.ReconcileCall():
                self._start_site(action.kind, lambda: self._tools.reconcile(action), action.site)
            case decisions.RevertCommits():
                self._start(
                    action.kind,
                    lambda: self._revert(action),
                    action.task_id,
                    action.correlation_id,
                )
            case decisions.ReadAnswer():
                self._start(
                    action.kind, lambda: self._read_answer(action), action.task_id, action.run_id
                )
            case decisions.CancelCall() | decisions.ReleaseCall() | decisions.SetTimer():
                self._reach(failpoints.before(action.kind))
                self._at_once(action)
                self._reach(failpoints.after(action.kind))
            case _:
                assert_never(action)

    async def _revert(self, action: decisions.RevertCommits) -> None:
        """Take commits back; hand in the one that did, or why not."""
        commit, fault = "", ""
        try:
            commit = await self._history.revert(action.folder, action.commits, action.task_id)
        except errors.HistoryFault as error:
            fault = str(error)
        self._inbox.post(inputs.CommitsReverted(task_id=action.task_id, commit=commit, fault=fault))

    async def _read_answer(self, action: decisions.ReadAnswer) -> None:
        """Hand in the digest of an answer; none where it cannot be read, which is a change."""
        digest = ""
        try:
            text = (await self._kept.texts([action.answer])).get(action.answer)
            digest = hashlib.sha256((text or "").encode()).hexdigest()
        except Exception:  # the schedule would wait for its run for good
            _log.exception("read_answer_broke", task_id=action.task_id)
        self._inbox.post(
            inputs.AnswerRead(schedule_id=action.schedule_id, run_id=action.run_id, digest=digest)
        )

    def _at_once(
        self, action: decisions.CancelCall | decisions.ReleaseCall | decisions.SetTimer
    ) -> None:
        match action:
            case decisions.CancelCall():
                self._cancel(action.call_id)
            case decisions.ReleaseCall():
                self._tools.release(action.call_id)
            case decisions.SetTimer():
                self._timers.set(action)
            case _:
                assert_never(action)

    def _start_site(self, kind: str, begin: _Begin, site: decisions.CallSite) -> asyncio.Task[None]:
        return self._start(kind, begin, site.task_id, site.correlation_id)

    def _start(
        self,
        kind: str,
        begin: _Begin,
        task_id: ids.TaskId,
        correlation_id: str,
    ) -> asyncio.Task[None]:
        context = contextvars.copy_context()
        context.run(structlog.contextvars.bind_contextvars, correlation_id=correlation_id)
        started = asyncio.create_task(self._between(kind, begin), context=context)
        started.add_done_callback(lambda ended: self._done(ended, task_id), context=context)
        self._all.add(started)
        return started

    async def _between(self, kind: str, begin: _Begin) -> None:
        self._reach(failpoints.before(kind))
        await begin()
        self._reach(failpoints.after(kind))

    def _note_call(
        self,
        call_id: ids.CallId,
        started: asyncio.Task[None],
        unstarted: Callable[[], inputs.Input],
    ) -> None:
        self._calls[call_id] = started
        started.add_done_callback(lambda ended: self._forget(call_id, ended, unstarted))

    def _forget(
        self, call_id: ids.CallId, ended: asyncio.Task[None], unstarted: Callable[[], inputs.Input]
    ) -> None:
        self._calls.pop(call_id, None)
        if call_id in self._cancelled and ended.cancelled():
            self._inbox.post(unstarted())  # it was ended before its first step
        self._cancelled.discard(call_id)

    def _done(self, ended: asyncio.Task[None], task_id: ids.TaskId) -> None:
        self._all.discard(ended)
        if not ended.cancelled() and ended.exception() is not None:
            _log.error("action_broke", task_id=task_id, exc_info=ended.exception())
            self._inbox.post(inputs.AbortTask(task_id=task_id))

    def _cancel(self, call_id: ids.CallId) -> None:
        running = self._calls.get(call_id)
        if running is not None:
            self._cancelled.add(call_id)
            running.cancel()

    async def stop(self, grace_seconds: float) -> None:
        """Start nothing more; give running tools a grace, then end everything that is left.

        What is ended here gives no outcome: the log says that it began, and the next start goes on.
        """
        self._stopped = True
        if self._tool_runs:
            await asyncio.wait(self._tool_runs, timeout=grace_seconds)
        left = list(self._all)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)


def _unstarted_model(request: messages.ModelRequest) -> inputs.ModelFailed:
    return inputs.ModelFailed(
        task_id=request.task_id,
        call_id=request.call_id,
        kind=messages.ModelFaultKind.UNAVAILABLE,
        message="it was cancelled before it began",
        cancelled=True,
    )


def _unstarted_tool(site: decisions.CallSite) -> inputs.ToolStopped:
    return inputs.ToolStopped(
        task_id=site.task_id,
        call_id=site.call_id,
        outcome=events.CallOutcome.CANCELLED,
        message="It was cancelled before it began.",
    )
