"""Who may talk: owners, those that are named or let in, and nobody else."""

import pytest

from daemon.decide import people
from daemon.domain import events, ids, inputs, principals, world
from tests.unit.decide import scenes

pytestmark = [pytest.mark.spec("B-03"), pytest.mark.spec("K-01")]

STRANGER = principals.Principal("telegram:77:8")
OTHER = principals.Principal("telegram:77:9")
OWNER = principals.Principal("telegram:77:42")
DAY_MS = people.REQUEST_MS


def scene() -> scenes.Scene:
    made = scenes.Scene(owners=principals.Owners(telegram=frozenset({"42", "43"})))
    named = principals.People(telegram=frozenset({"5"}))
    made.rules = made.rules.but({"people": named})
    return made


def ask(who: principals.Principal = STRANGER, name: str = "Ann") -> scenes.Move:
    return lambda _: [
        inputs.RequestPairing(credential="bot", principal=who, correlation_id="c", name=name)
    ]


def decide(
    allow: bool = True,
    by: principals.Principal = OWNER,
    about: principals.Principal | None = STRANGER,
    code: str = "",
) -> scenes.Move:
    """A word about a person; the code `?` is that of the newest request."""

    def move(scene: scenes.Scene) -> list[inputs.Input]:
        given = code_of(scene) if code == "?" else code
        return [
            inputs.DecidePairing(
                credential="bot",
                principal=by,
                correlation_id="c",
                person=about,
                code=given,
                allow=allow,
            )
        ]

    return move


def code_of(scene: scenes.Scene) -> str:
    found = [one.event.code for one in scene.recorded if isinstance(one.event, ASKED)]
    return found[-1]


ASKED = events.PairingRequested


def later(ms: int) -> scenes.Move:
    def move(scene: scenes.Scene) -> list[inputs.Input]:
        scene.now_ms += ms
        return []

    return move


@pytest.mark.parametrize(
    ("before", "move", "told"),
    [
        ([], ask(), ["pairing requested"]),
        ([ask()], ask(), []),
        ([ask(), later(DAY_MS)], ask(), ["pairing requested"]),
        ([ask()], decide(), ["let in"]),
        ([ask()], decide(about=None, code="?"), ["let in"]),
        ([ask()], decide(allow=False), ["not let in"]),
        ([ask(), decide()], decide(), []),
        ([ask(), decide()], decide(allow=False), ["not let in"]),
        ([ask(), decide(allow=False)], ask(), []),
        ([ask(), decide(allow=False)], decide(), ["let in"]),
        ([], decide(), ["let in"]),
        ([], ask(OWNER), []),
        ([], ask(principals.Principal("telegram:77:5")), []),
        ([ask()], ask(OTHER), ["pairing requested"]),
    ],
)
def test_asking_and_letting_in(
    before: list[scenes.Move], move: scenes.Move, told: list[str]
) -> None:
    assert scene().given(before).when(move).events == told


@pytest.mark.parametrize(
    ("before", "move", "kind"),
    [
        ([ask()], decide(by=STRANGER), "forbidden"),
        ([ask(), decide()], decide(by=STRANGER, about=OTHER), "forbidden"),
        ([ask()], decide(by=principals.Principal("telegram:77:5")), "forbidden"),
        ([ask(), later(DAY_MS)], decide(about=None, code="?"), "not_found"),
        ([], decide(about=None, code="123456"), "not_found"),
        ([], decide(about=None, code=""), "not_found"),
        ([], decide(about=principals.LOCAL_OWNER), "not_found"),
        ([], decide(False, about=principals.Principal("telegram:77:5")), "state"),
        ([], ask(principals.Principal("telegram:bot:bot")), "invalid"),
        (
            [ask(principals.Principal(f"telegram:77:{100 + n}")) for n in range(16)],
            ask(),
            "exhausted",
        ),
    ],
)
def test_what_is_refused(before: list[scenes.Move], move: scenes.Move, kind: str) -> None:
    then = scene().given(before).when(move)
    assert (then.events, then.reply) == ([], f"refused {kind}")


def test_requests_of_yesterday_keep_nobody_out() -> None:
    full = scene().given([ask(principals.Principal(f"telegram:77:{100 + n}")) for n in range(16)])
    assert full.given([later(DAY_MS)]).when(ask()).events == ["pairing requested"]


@pytest.mark.parametrize(
    ("before", "who", "may"),
    [
        ([], OWNER, True),
        ([], principals.Principal("telegram:88:42"), True),
        ([], principals.Principal("telegram:77:5"), True),
        ([], STRANGER, False),
        ([ask()], STRANGER, False),
        ([ask(), decide()], STRANGER, True),
        ([ask(), decide()], OTHER, False),
        ([ask(), decide()], principals.Principal("matrix:77:8"), False),
        ([ask(), decide(), decide(allow=False)], STRANGER, False),
    ],
)
def test_who_is_in_is_heard(
    before: list[scenes.Move], who: principals.Principal, may: bool
) -> None:
    there = scene().given(before)
    assert people.is_in(there.rules, there.world, who) is may
    said = inputs.SubmitTask(
        credential="bot",
        principal=who,
        correlation_id="c",
        conversation_id=None,
        text="hello",
        origin=principals.Origin(principal=who, chat="8"),
    )
    then = there.when(lambda _: [said])
    assert (then.reply != "refused forbidden") is may
    assert bool(then.events) is may


def test_a_name_is_kept_short_and_on_one_line() -> None:
    there = scene().given([ask(name="A\nB\u202e" + "x" * 100)])
    known = there.world.people[STRANGER]
    assert known.name == "A B " + "x" * 60
    assert known.chats == ("42", "43")
    assert (known.state, len(known.code)) == (world.PersonState.ASKED, 6)
    assert there.recorded[-1].conversation_id == ids.ConversationId("")
