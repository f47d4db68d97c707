"""What can happen to the tasks of a scene, in the words of a case."""

import json
from collections.abc import Sequence

from daemon.domain import decisions, events, ids, inputs, messages, principals, taints, verdicts
from daemon.permission import policy
from daemon.runtime import resume
from tests.unit.decide import scenes
from tools import contract

LONG_CONTEXT_TOKENS = 4096


def _keyed(key: str, body: str) -> dict[str, str]:
    return {"client_key": key, "body_hash": body if key else ""}


def submit(
    text: str = "hi",
    chat: int | None = None,
    key: str = "",
    body: str = "a",
    mode: verdicts.Mode | None = None,
    origin: principals.Origin | None = None,
    files: tuple[str, ...] = (),
) -> scenes.Move:
    """A message comes; in the conversation of the n-th task, or in a new one."""

    def inputs_of(scene: scenes.Scene) -> Sequence[inputs.Input]:
        chat_id = None if chat is None else scene.seen[chat].conversation_id
        update: dict[str, object] = {"mode": mode, "files": files}
        if origin is not None:
            update |= {"origin": origin, "principal": origin.principal}
        return [submission(text, chat_id, key, body).but(update)]

    return inputs_of


def submission(
    text: str, chat_id: ids.ConversationId | None, key: str = "", body: str = "a"
) -> inputs.SubmitTask:
    """A message as the runtime takes it."""
    return inputs.SubmitTask(
        credential="owner",
        principal=scenes.OWNER,
        correlation_id="correlation",
        client_key=key,
        body_hash=body if key else "",
        origin=principals.Origin(principal=scenes.OWNER),
        text=text,
        conversation_id=chat_id,
    )


def gathered(
    of: int = -1,
    history: Sequence[inputs.Piece] = (),
    context_tokens: int = LONG_CONTEXT_TOKENS,
    taint: taints.Taint = taints.CLEAN,
) -> scenes.Move:
    """The context of a task's next model call was read and counted."""

    def inputs_of(scene: scenes.Scene) -> Sequence[inputs.Input]:
        return [
            inputs.ContextGathered(
                task_id=scene.seen[of].task_id,
                asked=scene.asked(of),
                heard=scene.steered(of),
                history=tuple(history),
                summary=None,
                turn=(inputs.Piece(speaker="user", text="hi", tokens=1),),
                system_tokens=4,
                context_tokens=context_tokens,
                taint=taint,
            )
        ]

    return inputs_of


def not_gathered(kind: messages.ModelFaultKind, of: int = -1) -> scenes.Move:
    """The slot could not count."""
    return lambda scene: [
        inputs.ContextFailed(
            task_id=scene.seen[of].task_id,
            asked=scene.asked(of),
            kind=kind,
            message="no counting",
        )
    ]


def says(text: str, of: int = -1, line: int | None = None) -> scenes.Move:
    """The model call that runs (or ran last) gave this text."""

    def inputs_of(scene: scenes.Scene) -> Sequence[inputs.Input]:
        seen = scene.seen[of]
        result = messages.ModelResult(
            text=text, finish_reason="stop", slot="main", script_line=line
        )
        call_id = seen.model_call
        return [inputs.ModelFinished(task_id=seen.task_id, call_id=call_id, result=result)]

    return inputs_of


def cut(text: str, of: int = -1) -> scenes.Move:
    """The model call was ended by the limit of its tokens."""

    def inputs_of(scene: scenes.Scene) -> Sequence[inputs.Input]:
        seen = scene.seen[of]
        result = messages.ModelResult(text=text, finish_reason="length", slot="main")
        call_id = seen.model_call
        return [inputs.ModelFinished(task_id=seen.task_id, call_id=call_id, result=result)]

    return inputs_of


def wants(tool: str, of: int = -1) -> scenes.Move:
    """The model asks for a tool."""
    directive = {"kind": "tool", "tool": tool, "arguments": {"x": 1}}
    return says(json.dumps(directive), of)


def faults(
    kind: messages.ModelFaultKind, of: int = -1, text: str = "", cancelled: bool = False
) -> scenes.Move:
    """The model call gave no result."""

    def inputs_of(scene: scenes.Scene) -> Sequence[inputs.Input]:
        seen = scene.seen[of]
        return [
            inputs.ModelFailed(
                task_id=seen.task_id,
                call_id=seen.model_call,
                kind=kind,
                message=f"the model {kind}",
                text=text,
                cancelled=cancelled,
            )
        ]

    return inputs_of


def facts(effect: contract.Effect, bound: str = "same") -> contract.Facts:
    """What an inspection finds."""
    return contract.Facts(
        effect=effect,
        bound=(("what", bound),),
        shown=(("what", bound),),
        intent="before after" if effect is contract.Effect.RECONCILABLE else "",
    )


FOLDER = "/project"


def inspected(
    of: int = -1,
    bound: str = "same",
    judged: verdicts.Judgement | None = None,
    missing: tuple[str, ...] = (),
    secret: str = "",
    has_secret: bool = False,
) -> scenes.Move:
    """The call that was proposed last was inspected, and judged by its category if not said."""

    def inputs_of(scene: scenes.Scene) -> Sequence[inputs.Input]:
        seen = scene.seen[of]
        proposed = [
            one.event
            for one in scene.recorded
            if isinstance(one.event, events.ToolCallProposed)
            and one.event.call_id == seen.tool_call
        ]
        arguments = scene.texts[proposed[0].arguments] if proposed else "{}"
        tool = scenes.TOOLS[proposed[0].tool if proposed else "look"]
        return [
            inputs.CallInspected(
                task_id=seen.task_id,
                call_id=seen.tool_call,
                arguments=arguments,
                facts=facts(tool.effect, bound).model_copy(
                    update={"missing": missing, "secret": secret}
                ),
                judged=judged or policy.of_category(tool.category),
                policy="rules",
                folder=FOLDER,
                has_secret=has_secret,
            )
        ]

    return inputs_of


def not_inspected(of: int = -1) -> scenes.Move:
    """What the call names is not there."""
    return lambda scene: [
        inputs.InspectionFailed(
            task_id=scene.seen[of].task_id,
            call_id=scene.seen[of].tool_call,
            message="There is no such file.",
        )
    ]


def ran(text: str = "out", of: int = -1, failed: bool = False) -> scenes.Move:
    """The tool ended by itself."""
    return lambda scene: [
        inputs.ToolFinished(
            task_id=scene.seen[of].task_id,
            call_id=scene.seen[of].tool_call,
            result=contract.Result(text=text, failed=failed, exit_code=0),
            duration_ms=5,
        )
    ]


def stopped(outcome: events.CallOutcome, of: int = -1) -> scenes.Move:
    """The tool gave no result."""
    return lambda scene: [
        inputs.ToolStopped(
            task_id=scene.seen[of].task_id,
            call_id=scene.seen[of].tool_call,
            outcome=outcome,
            message="It was stopped.",
        )
    ]


def reconciled(found: contract.Reconciled, of: int = -1) -> scenes.Move:
    """The effect of a call that was cut off was looked for."""
    return lambda scene: [
        inputs.CallReconciled(
            task_id=scene.seen[of].task_id,
            call_id=scene.seen[of].tool_call,
            found=found,
        )
    ]


def resolve(
    answer: inputs.Answer,
    reason: str = "",
    of: int = -1,
    key: str = "",
    by: principals.Principal = scenes.OWNER,
    place: str = "",
) -> scenes.Move:
    """A person answers the approval that was requested last."""
    return lambda scene: [
        inputs.ResolveApproval(
            credential="owner",
            principal=by,
            correlation_id="other",
            client_key=key,
            body_hash=answer if key else "",
            approval_id=scene.seen[of].approval,
            answer=answer,
            reason=reason,
            place=place,
        )
    ]


def always(of: int = -1) -> scenes.Move:
    return resolve(inputs.Answer.ALLOW_ALWAYS, of=of)


def revoke(by: principals.Principal = scenes.OWNER) -> scenes.Move:
    """A person takes the newest grant back."""
    return lambda scene: [
        inputs.RevokeGrant(
            credential="owner",
            principal=by,
            correlation_id="other",
            grant_id=next(reversed(scene.world.grants), ids.GrantId("grant-never")),
        )
    ]


def set_mode(mode: verdicts.Mode, of: int = -1) -> scenes.Move:
    """A person sets the mode of a task's conversation."""
    return lambda scene: [
        inputs.UpdateConversation(
            credential="owner",
            principal=scenes.OWNER,
            correlation_id="other",
            conversation_id=scene.seen[of].conversation_id,
            mode=mode,
        )
    ]


def provide_secret(of: int = -1, by: principals.Principal = scenes.OWNER) -> scenes.Move:
    """A person gave the secret that a task waits for."""
    return lambda scene: [
        inputs.ProvideSecret(
            credential="owner",
            principal=by,
            correlation_id="other",
            task_id=scene.seen[of].task_id,
        )
    ]


def trust(folder: str, by: principals.Principal = scenes.OWNER) -> scenes.Move:
    """A person clears a project's taint."""
    return lambda scene: [
        inputs.TrustProject(credential="owner", principal=by, correlation_id="other", folder=folder)
    ]


def steer(on: bool = True, of: int = -1) -> scenes.Move:
    """A person says whether further messages join the task that runs."""
    return lambda scene: [
        inputs.UpdateConversation(
            credential="owner",
            principal=scenes.OWNER,
            correlation_id="other",
            conversation_id=scene.seen[of].conversation_id,
            steers=on,
        )
    ]


def secret_timer(of: int = -1) -> scenes.Move:
    kind = decisions.TimerKind.SECRET_EXPIRY
    return lambda scene: [inputs.TimerFired(timer=kind, subject=scene.seen[of].tool_call)]


def allow(of: int = -1) -> scenes.Move:
    return resolve(inputs.Answer.ALLOW_ONCE, of=of)


def deny(reason: str = "", of: int = -1) -> scenes.Move:
    return resolve(inputs.Answer.DENY, reason, of)


def cancel(of: int = -1, task_id: str = "") -> scenes.Move:
    """A person cancels a task."""
    return lambda scene: [
        inputs.CancelTask(
            credential="owner",
            principal=scenes.OWNER,
            correlation_id="other",
            task_id=ids.TaskId(task_id) if task_id else scene.seen[of].task_id,
        )
    ]


def decide(
    decision: events.Decision, of: int = -1, call_id: str | None = None, task_id: str = ""
) -> scenes.Move:
    """A person says how a task that waits goes on."""
    return lambda scene: [
        inputs.DecideTask(
            credential="owner",
            principal=scenes.OWNER,
            correlation_id="other",
            task_id=ids.TaskId(task_id) if task_id else scene.seen[of].task_id,
            decision=decision,
            call_id=None if call_id is None else ids.CallId(call_id),
        )
    ]


def later(seconds: int) -> scenes.Move:
    """Time passes, and nothing else happens."""

    def no_inputs(scene: scenes.Scene) -> Sequence[inputs.Input]:
        scene.now_ms += seconds * 1000
        return []

    return no_inputs


def approval_timer(of: int = -1) -> scenes.Move:
    kind = decisions.TimerKind.APPROVAL_EXPIRY
    return lambda scene: [inputs.TimerFired(timer=kind, subject=scene.seen[of].approval)]


def budget_timer(of: int = -1) -> scenes.Move:
    kind = decisions.TimerKind.TASK_BUDGET
    return lambda scene: [inputs.TimerFired(timer=kind, subject=scene.seen[of].task_id)]


def restart(clean: bool = False) -> scenes.Move:
    """The daemon was killed (or drained) and has started again: nothing is in flight any more."""
    return lambda scene: resume.restarts(scene.world, clean)


def abort(of: int = -1) -> scenes.Move:
    return lambda scene: [inputs.AbortTask(task_id=scene.seen[of].task_id)]
