"""Grants, modes, taint, secrets and who may answer: what lets a call run, and what does not."""

import pytest

from daemon.domain import decisions, events, inputs, limits, principals, state, taints, verdicts
from tests.unit.decide import moves, scenes
from tests.unit.decide.scenes import Case

S, V, M = state.TaskState, verdicts.Verdict, verdicts.Mode
WEB = (taints.Source(kind=taints.Kind.WEB, source_id="https://example.org"),)
LS = "run `ls`"
READS = verdicts.Judgement(V.ALLOW_READONLY)
ASKED = [moves.submit(LS), moves.inspected()]
DONE = [moves.allow(), moves.inspected(), moves.ran()]
GRANTED = [*ASKED, moves.always(), moves.inspected(), moves.ran()]
STARTS = ["inspected ask", "tool started 1"]
ASKS = ["inspected ask", "approval requested", "now awaiting_approval"]
REFUSED = ["inspected ask", "tool ended refused", "answered", "now failed"]
SCRIPT = principals.Principal("token:ci")
DAY_SECONDS = 24 * 3600

GRANTS = {
    "the same call runs unasked": Case(
        given=[*GRANTED, moves.submit(LS)],
        when=moves.inspected(),
        events=STARTS,
        actions=["call tool"],
    ),
    "also from the model, in another conversation": Case(
        given=[*GRANTED, moves.submit("list", chat=None), moves.submit(LS)],
        when=moves.inspected(),
        events=STARTS,
        actions=["call tool"],
    ),
    "one other fact and it asks": Case(
        given=[*GRANTED, moves.submit(LS)],
        when=moves.inspected(bound="other"),
        events=ASKS,
        actions=["release call", "timer approval_expiry"],
    ),
    "one other word and it asks": Case(
        given=[*GRANTED, moves.submit("run `ls -l`")],
        when=moves.inspected(),
        events=ASKS,
        actions=["release call", "timer approval_expiry"],
    ),
    "revoked": Case(
        given=[*GRANTED, moves.revoke(), moves.submit(LS)],
        when=moves.inspected(),
        events=ASKS,
        actions=["release call", "timer approval_expiry"],
    ),
    "revoked between proposal and run": Case(
        given=[*GRANTED, moves.submit(LS), moves.revoke()],
        when=moves.inspected(),
        events=ASKS,
        actions=["release call", "timer approval_expiry"],
    ),
    "expired": Case(
        given=[*GRANTED, moves.later(91 * DAY_SECONDS), moves.submit(LS)],
        when=moves.inspected(),
        events=ASKS,
        actions=["release call", "timer approval_expiry"],
    ),
    "suspended under taint": Case(
        given=[
            *GRANTED,
            moves.submit(
                LS, origin=principals.Origin(principal=scenes.OWNER, message_id="7", forwarded=True)
            ),
        ],
        when=moves.inspected(),
        events=ASKS,
        actions=["release call", "timer approval_expiry"],
    ),
    "never for what asks always": Case(
        given=[*GRANTED, moves.submit(LS)],
        when=moves.inspected(judged=verdicts.Judgement(V.ASK_NEVER_ALWAYS, ("r",))),
        events=["inspected ask-never-always", "approval requested", "now awaiting_approval"],
        actions=["release call", "timer approval_expiry"],
    ),
    "nor where a part of the sandbox is missing": Case(
        given=[*GRANTED, moves.submit(LS)],
        when=moves.inspected(missing=("no network namespace",)),
        events=["inspected ask-never-always", "approval requested", "now awaiting_approval"],
        actions=["release call", "timer approval_expiry"],
    ),
    "taken back twice": Case(
        given=[*GRANTED, moves.revoke()], when=moves.revoke(), reply="refused not_found"
    ),
}
GRANTS["taken back by somebody else"] = Case(
    given=GRANTED,
    when=moves.revoke(principals.Principal("telegram:bot:9")),
    reply="refused forbidden",
)
MODES = {
    "plan refuses what changes": Case(
        given=[moves.submit(LS, mode=M.PLAN)],
        when=moves.inspected(),
        events=REFUSED,
        actions=["release call"],
    ),
    "plan lets read": Case(
        given=[moves.submit(LS, mode=M.PLAN)],
        when=moves.inspected(judged=READS),
        events=["inspected allow-readonly", "tool started 1"],
        actions=["call tool"],
    ),
    "plan that came after the yes": Case(
        given=[*ASKED, moves.set_mode(M.PLAN), moves.allow()],
        when=moves.inspected(),
        events=["approval withdrawn", "tool ended refused", "answered", "now failed"],
        actions=["release call"],
    ),
    "yolo asks nobody": Case(
        given=[moves.submit(LS, mode=M.YOLO)],
        when=moves.inspected(),
        events=STARTS,
        actions=["call tool"],
    ),
    "yolo asks for what asks always": Case(
        given=[moves.submit(LS, mode=M.YOLO)],
        when=moves.inspected(judged=verdicts.Judgement(V.ASK_NEVER_ALWAYS, ("r",))),
        events=["inspected ask-never-always", "approval requested", "now awaiting_approval"],
        actions=["release call", "timer approval_expiry"],
    ),
    "yolo refuses a hard stop": Case(
        given=[moves.submit(LS, mode=M.YOLO)],
        when=moves.inspected(judged=verdicts.Judgement(V.HARD_STOP, ("r",))),
        events=["inspected hard-stop", "tool ended refused", "answered", "now failed"],
        actions=["release call"],
    ),
    "yolo asks in a tainted task": Case(
        given=[
            moves.submit(
                LS, mode=M.YOLO, origin=principals.Origin(principal=scenes.OWNER, forwarded=True)
            )
        ],
        when=moves.inspected(),
        events=ASKS,
        actions=["release call", "timer approval_expiry"],
    ),
    "yolo asks for who is no owner": Case(
        given=[
            moves.submit("x", mode=M.YOLO),
            moves.cancel(),
            moves.submit(LS, chat=0, origin=principals.Origin(principal=SCRIPT)),
        ],
        when=moves.inspected(),
        events=ASKS,
        actions=["release call", "timer approval_expiry"],
    ),
    "plan holds for who is no owner": Case(
        given=[
            moves.submit("x", mode=M.PLAN),
            moves.cancel(),
            moves.submit(LS, chat=0, origin=principals.Origin(principal=SCRIPT)),
        ],
        when=moves.inspected(),
        events=REFUSED,
        actions=["release call"],
    ),
    "back to build": Case(
        given=[
            moves.submit("x", mode=M.YOLO),
            moves.set_mode(M.BUILD),
            moves.cancel(),
            moves.submit(LS, chat=0),
        ],
        when=moves.inspected(),
        events=ASKS,
        actions=["release call", "timer approval_expiry"],
    ),
    "a mode for a conversation that is there": Case(
        given=[moves.submit("x")],
        when=moves.submit("y", chat=0, mode=M.YOLO),
        reply="refused invalid",
    ),
}
SUDO = "the password for sudo"
NEEDS = moves.inspected(secret=SUDO)
WAITS = [*ASKED, moves.allow(), NEEDS]
SECRETS = {
    "an allowed call asks for its secret": Case(
        given=[*ASKED, moves.allow()],
        when=NEEDS,
        events=[f"secret requested: {SUDO}", "now awaiting_secret"],
        actions=["release call", "timer secret_expiry"],
    ),
    "given": Case(
        given=WAITS,
        when=moves.provide_secret(),
        events=["secret provided", "now running"],
        actions=["timer task_budget", "inspect call"],
        reply="task",
    ),
    "given and still there": Case(
        given=[*WAITS, moves.provide_secret()],
        when=moves.inspected(secret=SUDO, has_secret=True),
        events=["tool started 1"],
        actions=["call tool"],
    ),
    "given and lost with a restart": Case(
        given=[*WAITS, moves.provide_secret(), moves.restart()],
        when=NEEDS,
        events=[f"secret requested: {SUDO}", "now awaiting_secret"],
        actions=["release call", "timer secret_expiry"],
    ),
    "given where none is waited for": Case(
        given=ASKED, when=moves.provide_secret(), reply="refused state"
    ),
    "given by somebody else": Case(
        given=WAITS,
        when=moves.provide_secret(by=principals.Principal("telegram:bot:9")),
        reply="refused forbidden",
    ),
    "given to a task that ended": Case(
        given=[*WAITS, moves.cancel()], when=moves.provide_secret(), reply="refused state"
    ),
    "the timer at its time": Case(
        given=[*WAITS, moves.later(600)],
        when=moves.secret_timer(),
        events=["approval withdrawn", "tool ended cancelled", "now failed"],
        actions=["release call"],
    ),
    "the timer too early": Case(
        given=[*WAITS, moves.later(599)],
        when=moves.secret_timer(),
        actions=["timer secret_expiry"],
    ),
    "the timer after it was given": Case(
        given=[*WAITS, moves.provide_secret(), moves.later(600)], when=moves.secret_timer()
    ),
    "a restart while it waits": Case(
        given=WAITS, when=moves.restart(), actions=["timer secret_expiry"]
    ),
    "a decision while it waits": Case(
        given=WAITS, when=moves.decide(events.Decision.RETRY), reply="refused state"
    ),
}
WRITES = [moves.submit("x"), moves.gathered(taint=WEB), moves.wants("erase"), moves.inspected()]
TAINT = {
    "what is told taints the task": Case(
        given=[moves.submit("x")],
        when=moves.gathered(taint=WEB),
        events=["tainted the web (https://example.org)", "model started 1"],
        actions=["call model"],
    ),
    "once": Case(
        given=[
            moves.submit("x"),
            moves.gathered(taint=WEB),
            moves.wants("look"),
            moves.inspected(),
            moves.ran(),
        ],
        when=moves.gathered(taint=WEB),
        events=["model started 1"],
        actions=["call model"],
    ),
    "a tainted task taints the folder that it changes": Case(
        given=[*WRITES, moves.allow()],
        when=moves.inspected(),
        events=["project tainted the web (https://example.org)", "tool started 1"],
        actions=["call tool"],
    ),
    "it does not by reading": Case(
        given=[moves.submit("x"), moves.gathered(taint=WEB), moves.wants("look")],
        when=moves.inspected(),
        events=["inspected allow-readonly", "tool started 1"],
        actions=["call tool"],
    ),
    "a tainted folder taints who reads there": Case(
        given=[*WRITES, moves.allow(), moves.inspected(), moves.ran(), moves.submit(LS)],
        when=moves.inspected(judged=READS),
        events=[
            "inspected allow-readonly",
            "tainted the web (https://example.org)",
            "tool started 1",
        ],
        actions=["call tool"],
    ),
    "and suspends grants there": Case(
        given=[*GRANTED, *WRITES, moves.allow(), moves.inspected(), moves.ran(), moves.submit(LS)],
        when=moves.inspected(),
        events=ASKS,
        actions=["release call", "timer approval_expiry"],
    ),
    "until the owner trusts it": Case(
        given=[
            *GRANTED,
            *WRITES,
            moves.allow(),
            moves.inspected(),
            moves.ran(),
            moves.trust(moves.FOLDER),
            moves.submit(LS),
        ],
        when=moves.inspected(),
        events=STARTS,
        actions=["call tool"],
    ),
    "nobody else may": Case(
        given=[*WRITES, moves.allow(), moves.inspected(), moves.ran()],
        when=moves.trust(moves.FOLDER, principals.Principal("token:ci")),
        reply="refused forbidden",
    ),
}
CASES = {
    f"{name}: {case}": row
    for name, table in (("grant", GRANTS), ("mode", MODES), ("secret", SECRETS), ("taint", TAINT))
    for case, row in table.items()
}


@pytest.mark.spec("D-12", "D-15", "K-03", "L-04")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_lets_a_call_run(case: Case) -> None:
    case.check()


def test_a_grant_is_used_up() -> None:
    from_limits = scenes.Scene(bounds=limits.Limits(grant_uses=2))
    scene = from_limits.given(GRANTED)
    for uses_left in (1, 0):
        scene.given([moves.submit(LS), moves.inspected(), moves.ran()])
        assert sum(one.uses_left for one in scene.world.grants.values()) == uses_left
    then = scene.given([moves.submit(LS)]).when(moves.inspected())
    assert then.events == ASKS


def test_there_are_only_so_many_grants() -> None:
    scene = scenes.Scene(bounds=limits.Limits(grants=1)).given(GRANTED)
    scene.given([moves.submit("run `pwd`"), moves.inspected()])
    assert scene.when(moves.always()).reply == "refused exhausted"
    assert scene.given([moves.revoke()]).when(moves.always()).reply == "approval"


def test_a_denied_call_is_not_asked_again() -> None:
    scene = scenes.Scene().given(
        [moves.submit("x"), moves.gathered(), moves.wants("erase"), moves.inspected()]
    )
    scene.given([moves.deny("use another folder"), moves.gathered(), moves.wants("erase")])
    then = scene.when(moves.inspected())
    assert then.events == ["inspected ask-never-always", "tool ended refused"]
    scene.given([moves.gathered(), moves.wants("look"), moves.inspected(), moves.ran()])
    scene.given([moves.gathered(), moves.wants("erase")])
    assert scene.when(moves.inspected(bound="other")).events[1] == "approval requested"


ANN, BOB = principals.Principal("telegram:bot:1"), principals.Principal("telegram:bot:2")
GROUP = principals.Origin(principal=BOB, channel="telegram:bot", chat="-100", topic="5")
PRIVATE = principals.Origin(principal=BOB, channel="telegram:bot", chat="2")
IN_GROUP, IN_PRIVATE = "telegram:bot/-100/5", "telegram:bot/2/"
ONCE = inputs.Answer.ALLOW_ONCE


@pytest.mark.parametrize(
    ("origin", "by", "place", "reply"),
    [
        (GROUP, ANN, IN_GROUP, "approval"),
        (GROUP, BOB, IN_GROUP, "refused forbidden"),
        (GROUP, ANN, IN_PRIVATE, "refused forbidden"),
        (GROUP, ANN, "telegram:bot/-100/6", "refused forbidden"),
        (GROUP, scenes.OWNER, "", "approval"),
        (PRIVATE, BOB, IN_PRIVATE, "approval"),
        (PRIVATE, ANN, IN_PRIVATE, "approval"),
        (PRIVATE, principals.Principal("telegram:bot:3"), IN_PRIVATE, "refused forbidden"),
        (PRIVATE, principals.Principal("token:ci"), "", "approval"),
    ],
)
def test_who_may_answer_is_who_owns_or_asked(
    origin: principals.Origin, by: principals.Principal, place: str, reply: str
) -> None:
    owners = principals.Owners(telegram=frozenset(("1",)))
    scene = scenes.Scene(owners=owners).given([moves.submit(LS, origin=origin), moves.inspected()])
    then = scene.when(moves.resolve(ONCE, by=by, place=place))
    assert then.reply == reply
    assert ("approval allowed" in then.events) is (reply == "approval")


def test_what_a_tainted_task_says_keeps_its_taint() -> None:
    scene = scenes.Scene().given([moves.submit("x"), moves.gathered(taint=WEB)])
    (step,) = scene.when(moves.says("an answer")).steps
    kept = [one for one in step.records if isinstance(one, decisions.ContentRecord)]
    assert kept
    assert all(one.taint == WEB for one in kept)


def test_attachments_taint_the_task() -> None:
    scene = scenes.Scene()
    scene.attached = WEB
    assert scene.when(moves.submit("x")).events[2] == "tainted the web (https://example.org)"
