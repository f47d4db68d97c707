"""Performs tool calls: inspect and hold, run by permit, look for the effect of one cut off.

Decides nothing. What was inspected is held, and only that is run, if the permit's digest is that of
the held facts, computed again here. A command that only reads by its text gets a sandbox in which
nothing can be written, so that its text need not be believed.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass

import structlog

from daemon.domain import decisions, errors, events, ids, inputs, redaction, verdicts
from daemon.permission import binding, findings
from daemon.runtime import bus, contents, inbox, judge, ports, vault
from tools import contract

_log = structlog.get_logger(__name__)
_SUBJECT_CHARS = 100
_BROKEN = "The tool has a fault; the daemon's log has the details."


@dataclass(frozen=True)
class _Held:
    call: contract.Call
    inspection: contract.Inspection
    policy: str


@dataclass(frozen=True)
class _Stop:
    outcome: events.CallOutcome
    message: str


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where calls run that have no project of their own, what none of them may see, and what keeps
    their changes; `missing` says whether a folder is not there."""

    folder: str
    hidden: tuple[str, ...]
    history: ports.History
    missing: Callable[[str], bool]


class ToolCalls:
    """The tools of one daemon, run in one folder."""

    def __init__(
        self,
        tools: Mapping[str, contract.Tool],
        workplace: Workplace,
        judging: judge.Judge,
        secrets: vault.Vault,
        redactor: redaction.Redactor,
        artifacts: ports.Artifacts,
        kept: contents.Contents,
        box: inbox.Inbox,
        publish: bus.Bus,
        clock: ports.Clock,
        result_chars: int,
        artifact_bytes: int,
    ) -> None:
        self._tools = tools
        self._workplace = workplace
        self._judge = judging
        self._vault = secrets
        self._redactor = redactor
        self._artifacts = artifacts
        self._kept = kept
        self._inbox = box
        self._bus = publish
        self._clock = clock
        self._result_chars = result_chars
        self._artifact_bytes = artifact_bytes
        self._held: dict[ids.CallId, _Held] = {}
        self._confined = {
            read_only: contract.Confinement(hidden=workplace.hidden, read_only=read_only)
            for read_only in (False, True)
        }

    async def _call(self, site: decisions.CallSite) -> contract.Call:
        arguments = await self._kept.text(site.arguments)
        return contract.Call(
            call_id=site.call_id,
            tool=site.tool,
            arguments_json=arguments or "{}",
            key=site.call_id,
            folder=self._folder(site),
            confinement=self._confined[site.read_only],
        )

    def _folder(self, site: decisions.CallSite) -> str:
        return site.folder or self._workplace.folder

    async def inspect(self, site: decisions.CallSite) -> None:
        """Find the facts, hold what they are about and judge them; hand in all that, or a fault."""
        self.release(site.call_id)
        call = await self._call(site)
        if self._workplace.missing(call.folder):
            message = f"The folder {call.folder} is not there. Put it back, then retry."
            self._inbox.post(
                inputs.InspectionFailed(
                    task_id=site.task_id, call_id=site.call_id, message=message, parks=True
                )
            )
            return
        try:
            given = await self._inspected(site, call)
        except contract.ToolFault as error:
            message = self._redactor.redact(str(error))
        except Exception:  # a broken tool must not end the daemon
            _log.exception("tool_inspection_broke", tool=site.tool)
            message = _BROKEN
        else:
            self._inbox.post(given)
            return
        self.release(site.call_id)
        self._inbox.post(
            inputs.InspectionFailed(task_id=site.task_id, call_id=site.call_id, message=message)
        )

    async def _inspected(
        self, site: decisions.CallSite, call: contract.Call
    ) -> inputs.CallInspected:
        """What the inspection found and the judge says of it; what it is about is held.

        Raises:
            contract.ToolFault: it is refused before it is looked at, or cannot be inspected.
        """
        tool, folder = self._tools[site.tool], self._folder(site)
        text = tool.command(call.arguments_json)
        said = None if text is None else await self._judge.said(text, folder)
        if said is not None:
            if said.refused:
                raise contract.ToolFault("Refused: " + ", ".join(said.reasons))
            call = _prepared(call, said)
        revision = (await self._judge.load()).revision
        inspection = await self._looked_at(tool, call)
        self._held[site.call_id] = _Held(call, inspection, revision)
        return inputs.CallInspected(
            task_id=site.task_id,
            call_id=site.call_id,
            arguments=call.arguments_json,
            facts=inspection.facts,
            judged=await self._judge.whole(tool.spec, said, inspection.facts, folder),
            policy=revision,
            folder=folder,
            has_secret=self._vault.holds(site.task_id),
        )

    async def _looked_at(self, tool: contract.Tool, call: contract.Call) -> contract.Inspection:
        """The inspection; meanwhile what the folder holds is kept, so that what is kept after the
        run is the call's alone."""
        if not _changes(tool, call):
            return await tool.inspect(call)
        async with asyncio.TaskGroup() as both:
            both.create_task(self._workplace.history.before(call.folder))
            inspecting = both.create_task(_tried(tool.inspect(call)))
        found = inspecting.result()
        if isinstance(found, contract.ToolFault):
            raise found
        return found

    def release(self, call_id: ids.CallId) -> None:
        """Let go of an inspection, if one is held."""
        held = self._held.pop(call_id, None)
        try:
            if held is not None:
                held.inspection.close()
        except Exception:  # a broken tool must not end the daemon
            _log.exception("tool_inspection_not_closed", call_id=call_id)

    def _fits(self, action: decisions.CallTool, held: _Held) -> bool:
        call_key = binding.key(
            self._tools[action.site.tool].spec,
            held.call.arguments_json,
            held.inspection.facts,
            held.policy,
            action.site.requester,
        )
        digest = binding.digest(call_key, action.site.task_id)
        return digest == action.permit.digest and action.permit.call_id == action.site.call_id

    async def run(self, action: decisions.CallTool, cancelled: set[ids.CallId]) -> None:
        """Run what is held for the call, if the permit fits; hand in how it ended."""
        site = action.site
        began_ms = self._clock.monotonic_ms()
        held = self._held.get(site.call_id)
        if held is None or not self._fits(action, held):
            self.release(site.call_id)
            message = "Not run: the permit does not fit what would run."
            ended: contract.Result | _Stop = _Stop(events.CallOutcome.FAILED, message)
            await self._hand_in(site, ended, 0)
            return
        with self._vault.lent(site.task_id) as secret:
            try:
                ended = await self._run_held(site, held, cancelled, secret)
            finally:
                self.release(site.call_id)
            duration_ms = self._clock.monotonic_ms() - began_ms
            change = await self._kept_change(site, held.call)
            await self._hand_in(site, ended, duration_ms, change)

    async def _kept_change(
        self, site: decisions.CallSite, call: contract.Call
    ) -> inputs.Change | None:
        """What the call changed in its project, once the project's history has it."""
        if not _changes(self._tools[site.tool], call):
            return None
        words = self._redactor.redact(" ".join(call.arguments_json.split()))
        message = f"{site.tool} {words[:_SUBJECT_CHARS]}"
        history = self._workplace.history
        change = await history.after(call.folder, message, site.task_id, site.call_id)
        if change is None:
            return None
        return change.but({"diff": self._redactor.redact(change.diff)})

    async def _run_held(
        self,
        site: decisions.CallSite,
        held: _Held,
        cancelled: set[ids.CallId],
        secret: contract.Secret | None,
    ) -> contract.Result | _Stop:
        tool = self._tools[site.tool]
        feed = self._bus.open_feed(site.task_id, site.conversation_id, site.call_id, tool=True)
        seconds = tool.spec.deadline_seconds
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await tool.run(held.call, held.inspection, feed.text, secret)
        except TimeoutError:
            if not limit.expired():
                return self._broken(site, held)
            text = f"{feed.so_far()}\nEnded: it had not finished after {seconds} seconds."
            return _Stop(events.CallOutcome.FAILED, text.lstrip())
        except contract.ToolFault as error:
            return _Stop(events.CallOutcome.FAILED, str(error))
        except asyncio.CancelledError:
            if site.call_id not in cancelled:
                raise
            return _Stop(events.CallOutcome.CANCELLED, feed.so_far())
        except Exception:  # a broken tool must not end the daemon
            return self._broken(site, held)

    def _broken(self, site: decisions.CallSite, held: _Held) -> _Stop:
        """What to say of a tool that raised what it may not: how far it came nobody knows."""
        _log.exception("tool_broke", tool=site.tool, call_id=site.call_id)
        unsafe = held.inspection.facts.effect is contract.Effect.UNSAFE
        outcome = events.CallOutcome.OUTCOME_UNKNOWN if unsafe else events.CallOutcome.FAILED
        return _Stop(outcome, _BROKEN)

    async def _hand_in(
        self,
        site: decisions.CallSite,
        ended: contract.Result | _Stop,
        duration_ms: int,
        change: inputs.Change | None = None,
    ) -> None:
        if isinstance(ended, _Stop):
            text, _ = await self._shorten(site, ended.message, failed=True)
            self._inbox.post(
                inputs.ToolStopped(
                    task_id=site.task_id,
                    call_id=site.call_id,
                    outcome=ended.outcome,
                    message=text,
                    duration_ms=duration_ms,
                    change=change,
                )
            )
            return
        text, artifact = await self._shorten(site, ended.text, _is_failure(ended))
        self._inbox.post(
            inputs.ToolFinished(
                task_id=site.task_id,
                call_id=site.call_id,
                result=ended if text == ended.text else ended.model_copy(update={"text": text}),
                duration_ms=duration_ms,
                artifact=artifact,
                change=change,
            )
        )

    async def _shorten(
        self, site: decisions.CallSite, text: str, failed: bool
    ) -> tuple[str, ids.ArtifactId | None]:
        """The text within the limit, and where the whole is kept if it was longer."""
        text = self._redactor.redact(text)
        tool = self._tools[site.tool]
        if len(text) <= self._result_chars:
            return tool.shorten(text, self._result_chars, failed), None
        artifact: ids.ArtifactId | None = None
        note = "\n(the rest could not be kept)"
        try:
            found, size = await self._artifacts.put(_one(text.encode()), self._artifact_bytes)
            artifact = ids.ArtifactId(found)
            note = f"\n({size} bytes in all, kept as an artifact)"
        except (errors.StorageFault, errors.Refusal) as error:
            _log.warning("result_not_kept", reason=str(error))
        return tool.shorten(text, self._result_chars - len(note), failed) + note, artifact

    async def reconcile(self, action: decisions.ReconcileCall) -> None:
        """Look for the effect of a call that was cut off; hand in what was found."""
        site = action.site
        call = await self._call(site)
        try:
            found = await self._tools[site.tool].reconcile(call, action.intent)
        except Exception:  # nobody can know, so a person is asked
            _log.exception("reconcile_broke", tool=site.tool, call_id=site.call_id)
            found = contract.Reconciled.UNKNOWN
        self._inbox.post(
            inputs.CallReconciled(task_id=site.task_id, call_id=site.call_id, found=found)
        )


def _prepared(call: contract.Call, said: findings.CommandJudgement) -> contract.Call:
    """The call with what is to be looked up, and confined to reading where it only reads."""
    names = judge.names(said)
    reads = said.verdict is verdicts.Verdict.ALLOW_READONLY and not names.elevated
    confinement = call.confinement
    if reads and not confinement.read_only:
        confinement = confinement.model_copy(update={"read_only": True})
    return call.model_copy(update={"names": names, "confinement": confinement})


def _changes(tool: contract.Tool, call: contract.Call) -> bool:
    """Whether a call could change its folder."""
    return tool.spec.effect is not contract.Effect.PURE and not call.confinement.read_only


async def _tried(
    inspecting: Coroutine[None, None, contract.Inspection],
) -> contract.Inspection | contract.ToolFault:
    """A fault as a value: beside others in a group it would come out as one of several."""
    try:
        return await inspecting
    except contract.ToolFault as fault:
        return fault


def _is_failure(ended: contract.Result) -> bool:
    return ended.failed or ended.exit_code not in (None, 0)


async def _one(data: bytes) -> AsyncIterator[bytes]:
    yield data
