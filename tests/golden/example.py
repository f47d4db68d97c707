"""A small life of a daemon with every kind of event in it: what the golden files are made of.

Never changed for a version that was released: a new version gets files of its own.
"""

from daemon.domain import (
    decisions,
    directives,
    events,
    fold,
    ids,
    messages,
    presets,
    principals,
    taints,
    verdicts,
    world,
)
from tests.golden import example_channels, example_schedules
from tests.golden.example_tasks import (
    CHAT as CHAT,
    DIED,
    FETCHED,
    GONE,
    HALFWAY,
    ORIGIN,
    PENDING as PENDING,
    PLANNED,
    START_MS,
    UNDONE,
    USED as USED,
    WAITING,
    WORKSHOP,
    WRITTEN,
    T,
    conversation,
    inspected,
    left_alive,
    model_calls,
    moved,
    permission,
    submitted,
    text as text,
    tool_call,
)
from tools import contract


def workshop() -> list[events.Event]:
    """A conversation of a project: a plan that is followed, judged and answered."""
    return [
        events.ConversationCreated(
            conversation_id=WORKSHOP,
            principal=principals.LOCAL_OWNER,
            folder="/project",
            profile="careful",
            steers=True,
        ),
        submitted(PLANNED, "fifth", WORKSHOP, note="It is noon.", skill="tests"),
        moved(PLANNED, T.QUEUED, T.RUNNING),
        refused(PLANNED, "refused", cut=True),
        refused(PLANNED, "refused-2", cut=False),
        events.TaskSteered(task_id=PLANNED, origin=ORIGIN, text=text("further")),
        events.DirectiveTaken(task_id=PLANNED, kind="plan", source=events.DirectiveSource.COMPILER),
        events.PlanMade(task_id=PLANNED, text=text("plan"), steps=steps()),
        events.StepStarted(task_id=PLANNED, step_id="write", attempt=1),
        *wrote(),
        judged("write", 9, directives.Recovery.CONTINUE),
        events.StepEnded(
            task_id=PLANNED,
            step_id="write",
            outcome=events.StepOutcome.DONE,
            result=text("written"),
        ),
        events.StepStarted(task_id=PLANNED, step_id="tell", attempt=1),
        judged("tell", None, directives.Recovery.RESPOND),
        events.StepEnded(task_id=PLANNED, step_id="tell", outcome=events.StepOutcome.FAILED),
        events.AnswerGiven(task_id=PLANNED, text=text("answer-5")),
        moved(PLANNED, T.RUNNING, T.COMPLETED),
    ]


def refused(task: ids.TaskId, name: str, cut: bool) -> events.Event:
    return events.ReplyRefused(
        task_id=task, call_id=DIED, text=text(name), reason="it is no JSON", cut=cut
    )


def steps() -> tuple[events.PlannedStep, ...]:
    return (
        events.PlannedStep(
            step_id="write",
            goal=text("goal"),
            kind="tool",
            tool="file_write",
            arguments=text("arguments-6"),
            fingerprint="77" * 32,
        ),
        events.PlannedStep(step_id="tell", goal=text("goal-2"), kind="respond", after=("write",)),
    )


def judged(step_id: str, correctness: int | None, follows: directives.Recovery) -> events.Event:
    return events.StepJudged(
        task_id=PLANNED,
        step_id=step_id,
        correctness=correctness,
        usefulness=correctness,
        safety=10,
        follows=follows,
        note=text("note"),
    )


def wrote() -> list[events.Event]:
    """A call of a step, which a commit holds, and one beside it, which none does."""
    happened: list[events.Event] = []
    for call, tool, commit in ((WRITTEN, "file_write", "ab" * 20), (FETCHED, "shell_exec", "")):
        happened += [
            events.ToolCallProposed(
                task_id=PLANNED,
                call_id=call,
                tool=tool,
                arguments=text("arguments-6"),
                fingerprint="77" * 32,
                step_id="write",
            ),
            inspected(PLANNED, call),
            events.ToolCallStarted(
                task_id=PLANNED,
                call_id=call,
                digest="cd" * 32,
                effect=contract.Effect.UNSAFE,
                attempt=1,
                basis=verdicts.Basis.READ_ONLY,
            ),
            events.ToolCallEnded(
                task_id=PLANNED,
                call_id=call,
                outcome=events.CallOutcome.FINISHED,
                result=text("written"),
                commit=commit,
                files=("a/ü.py",) if commit else (),
                diff=text("diff") if commit else None,
            ),
        ]
    return happened


def looked_back() -> list[events.Event]:
    """A summary, what people thought, an undo, a deleted conversation, and a plan half followed."""
    return [
        events.ConversationCompacted(conversation_id=CHAT, summary=text("summary"), up_to_seq=3),
        events.FeedbackGiven(
            task_id=PLANNED, principal=ORIGIN.principal, good=False, text=text("feedback")
        ),
        submitted(UNDONE, "sixth", WORKSHOP),
        moved(UNDONE, T.QUEUED, T.RUNNING),
        events.AnswerGiven(task_id=UNDONE, text=text("answer-6")),
        moved(UNDONE, T.RUNNING, T.COMPLETED),
        events.ExchangeUndone(
            task_id=UNDONE,
            principal=ORIGIN.principal,
            folder="/project",
            commits=("ef" * 20,),
            left=(FETCHED,),
        ),
        events.ProjectReverted(task_id=UNDONE, commit="12" * 20),
        events.ExchangeUndone(
            task_id=UNDONE,
            principal=ORIGIN.principal,
            folder="/project",
            commits=("ef" * 20,),
        ),
        events.ConversationCreated(
            conversation_id=GONE, principal=principals.LOCAL_OWNER, title=text("title-3")
        ),
        events.ConversationDeleted(conversation_id=GONE, principal=principals.LOCAL_OWNER),
        submitted(HALFWAY, "seventh", WORKSHOP),
        moved(HALFWAY, T.QUEUED, T.RUNNING),
        events.PlanMade(task_id=HALFWAY, text=text("plan"), steps=steps()),
        events.StepStarted(task_id=HALFWAY, step_id="write", attempt=1),
    ]


def log() -> list[events.Recorded]:
    """The whole life, numbered."""
    lived = (conversation, model_calls, tool_call, left_alive, permission, workshop, looked_back)
    parts = (*lived, example_channels.channels, example_schedules.planned)
    happened = [event for part in parts for event in part()]
    homes: dict[str | None, ids.ConversationId] = dict.fromkeys(
        (PLANNED, UNDONE, HALFWAY), WORKSHOP
    )
    homes |= dict.fromkeys(
        (example_channels.SHOWN, example_channels.KEPT_WAITING), example_channels.GROUP
    )
    planned = (example_schedules.TOLD, example_schedules.TRIED, example_schedules.GOES_ON)
    homes |= dict.fromkeys(planned, example_schedules.PLAN)
    return [
        events.Recorded(
            seq=seq,
            at_ms=START_MS + 250 * seq,
            task_id=getattr(event, "task_id", None),
            conversation_id=_home(event, homes),
            correlation_id="correlation-1",
            event=event,
        )
        for seq, event in enumerate(happened, 1)
    ]


def _home(event: events.Event, homes: dict[str | None, ids.ConversationId]) -> ids.ConversationId:
    """The conversation that an event belongs to."""
    if getattr(event, "schedule_id", None) or isinstance(event, events.ScheduleSet):
        return example_schedules.PLAN
    named = homes.get(getattr(event, "task_id", None), CHAT)
    return ids.ConversationId(getattr(event, "conversation_id", named))


def folded(recorded: list[events.Recorded]) -> world.World:
    """What a log folds to."""
    result = world.World()
    for one in recorded:
        fold.apply(result, one)
    return result


def records() -> list[decisions.Record]:
    """Some of the texts, and the answer to a keyed write."""
    kept: list[decisions.Record] = [
        decisions.ContentRecord(content_id=text(name), owner=CHAT, text=f"{name}: äß 漢 🦆\n")
        for name in ("title", "first", "card", "answer", "card-2", "third")
    ]
    reply = decisions.Submitted(task_id=WAITING, conversation_id=CHAT, seq=30)
    key = decisions.ClientKeyRecord(
        credential="local", client_key="key-1", body_hash="99" * 32, reply=reply, at_ms=START_MS
    )
    web = (taints.Source(kind=taints.Kind.WEB, source_id="https://example.org/ü"),)
    tainted = decisions.ContentRecord(content_id=text("fourth"), owner=CHAT, text="4", taint=web)
    artifact = decisions.ArtifactTaint(artifact_id=ids.ArtifactId("ef" * 32), taint=web)
    gone = decisions.ContentRecord(content_id=text("title-3"), owner=GONE, text="forgotten")
    summary = decisions.ContentRecord(
        content_id=text("summary"), owner=CHAT, text="so far", taint=web
    )
    project = decisions.ProjectRecord(name="pond", folder="/project", created_ms=START_MS)
    forgotten = decisions.ForgottenRecord(owner=GONE)
    named = [*tokens(), project, *presets_set()]
    return [*kept, tainted, artifact, key, gone, summary, *named, forgotten]


def presets_set() -> list[decisions.Record]:
    """A profile with all that one can say, and a skill."""
    profile = presets.Profile(
        description="quackish",
        instructions="Quack. äß 漢 🦆",
        tools=("file_read",),
        generation={messages.Role.THINKER: presets.Generation(temperature=0.5, thinking=True)},
        skills=False,
        critic=True,
    )
    skill = presets.Skill(text="Swim.", keywords=("duck pond",))
    return [
        decisions.ProfileRecord(name="duck", profile=profile),
        decisions.SkillRecord(name="swimming", skill=skill),
    ]


def tokens() -> list[decisions.Record]:
    """A script's token that was revoked and made again, and a bot's."""
    old, new, bot = (ids.TokenId(f"token-{number}") for number in (1, 2, 3))
    return [
        script_token(old, "11" * 32),
        decisions.TokenRevoked(token_id=old, revoked_ms=START_MS + 7),
        script_token(new, "22" * 32),
        decisions.TokenRecord(
            token_id=bot,
            name="telegram",
            digest="33" * 32,
            principal=principals.of_bot("telegram", "bot"),
            scopes=frozenset(("run", "read", "approve", "channel")),
            created_ms=START_MS + 8,
        ),
    ]


def script_token(token_id: ids.TokenId, digest: str) -> decisions.TokenRecord:
    return decisions.TokenRecord(
        token_id=token_id,
        name="script",
        digest=digest,
        principal=principals.of_script("script"),
        scopes=frozenset(("run",)),
        created_ms=START_MS,
    )
