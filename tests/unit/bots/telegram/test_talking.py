"""What becomes of what people say: who is heard, what is a secret, and what happens once."""

import asyncio
import typing

import pytest

from bots import client
from bots.telegram import calls, commanding, lanes, talking, texts, updates
from proto.ducklm.v1 import approvals_pb2, channels_pb2, common_pb2, tasks_pb2
from tests.simulation import quick_loop
from tests.unit.bots.telegram import receiving

BOT = updates.Bot("77", "duck_bot")
LOOK = "channels.Look"
GROUP = "-1001"
Fields = dict[str, typing.Any] | None
LIVE = [tasks_pb2.Task(task_id="t-1"), tasks_pb2.Task(task_id="t-2")]
ASKED = channels_pb2.Delivery(text="Why not?", approval=approvals_pb2.Approval(approval_id="a-1"))

SHOWN = channels_pb2.Delivery.SHOWN
OTHER = tasks_pb2.Task(task_id="t-2", state=common_pb2.AWAITING_SECRET)
SPEED = 20.0


class Stage:
    """One bot's talking, which may die and begin again beside the same daemon."""

    def __init__(self) -> None:
        self.daemon = receiving.Daemon()
        self.api = receiving.Api()
        self.person = receiving.Person()
        self.begin()

    def begin(self) -> None:
        self.talking = talking.Talking(self.daemon, self.api, receiving.Free(), BOT)

    async def hear(self, text: str = "", chat: str = "", more: Fields = None) -> None:
        await self.again(self.message(text, chat, more))

    def message(self, text: str = "", chat: str = "", more: Fields = None) -> updates.Message:
        incoming = updates.read(self.person.says(text, chat, more), BOT)
        assert isinstance(incoming, updates.Message)
        return incoming

    async def again(self, message: updates.Message) -> None:
        await self.talking.hear(message, f"telegram:77:{message.origin.message_id}")

    def told(self) -> list[str]:
        return self.daemon.lines(LOOK, "channels.GetCursor", "channels.SetCursor")


Looks = dict[str, typing.Any]
SAYS: list[tuple[str, Looks, list[str]]] = [
    ("hello", {}, ["tasks.Submit “hello”"]),
    ("/nonsense", {}, ["channels.Post I know no /nonsense. /help lists what I know."]),
    ("/stop", {}, ["channels.Post Nothing runs or waits here."]),
    (
        "/stop",
        {"live_tasks": LIVE},
        ["tasks.Cancel t-1", "tasks.Cancel t-2", "channels.Post Stopped: 2."],
    ),
    ("/new", {}, ["conversations.Create", "channels.Post A new conversation begins here."]),
    ("because", {"replied_to": ASKED}, ["approvals.Resolve a-1 DENY because"]),
    ("/stop", {"replied_to": ASKED}, ["channels.Post Nothing runs or waits here."]),
    (
        "pass word",
        {"secret_task_id": "t-1"},
        ["approvals.ProvideSecret t-1 pass word", f"channels.Post {texts.SECRET_TAKEN}"],
    ),
    (
        "/Secret1",
        {"secret_task_id": "t-1"},
        ["approvals.ProvideSecret t-1 /Secret1", f"channels.Post {texts.SECRET_TAKEN}"],
    ),
    (
        "/stop it!",
        {"secret_task_id": "t-1"},
        ["approvals.ProvideSecret t-1 /stop it!", f"channels.Post {texts.SECRET_TAKEN}"],
    ),
    (
        "/stop",
        {"secret_task_id": "t-1", "live_tasks": LIVE[:1]},
        ["tasks.Cancel t-1", "channels.Post Stopped: 1."],
    ),
]


@pytest.mark.spec("B-05")
@pytest.mark.parametrize(("text", "look", "told"), SAYS)
async def test_what_is_said_in_private(text: str, look: Looks, told: list[str]) -> None:
    stage = Stage()
    stage.daemon.look = channels_pb2.LookResponse(allowed=True, **look)
    await stage.hear(text)
    assert stage.told() == told
    deletes = [one for one in stage.api.log if one.startswith("delete")]
    assert bool(deletes) == any("ProvideSecret" in one for one in told)


async def test_nobody_gives_a_secret_in_a_group() -> None:
    stage = Stage()
    stage.daemon.look.secret_task_id = "t-1"
    await stage.hear("@duck_bot hello", chat=GROUP)
    assert stage.told() == ["tasks.Submit “hello”"]
    assert stage.api.log == []


SECRET_TEXTS: list[tuple[str, str, dict[str, typing.Any], str]] = [
    # What the request is shown as, what the text answers, and what is known of that; what becomes.
    ("after the request", "50", {}, "secret t-1"),
    ("before the request", "102", {}, "said"),
    ("while it failed", "FAILED", {}, "said"),
    ("while the chat is gone", "GONE", {}, "said"),
    ("shown in a group", "-1001/900", {}, "secret t-1"),
    ("with nothing known of it", "", {}, "secret t-1"),
    ("as an answer to another request", "102", {"waits": True, "task": OTHER}, "secret t-2"),
    ("as an answer to one that is over", "102", {"waits": False, "task": OTHER}, "said"),
]


@pytest.mark.spec("D-15")
@pytest.mark.parametrize(("shown", "answers", "becomes"), [one[1:] for one in SECRET_TEXTS])
async def test_what_of_private_texts_is_the_secret(
    shown: str, answers: dict[str, typing.Any], becomes: str
) -> None:
    stage = Stage()
    stage.daemon.look.secret_task_id = "t-1"
    stage.daemon.look.replied_to.CopyFrom(channels_pb2.Delivery(**answers))
    if shown:
        stage.daemon.look.secret_notice.CopyFrom(request_shown(shown))
    await stage.hear("pass word")
    said = stage.told() == ["tasks.Submit “pass word”"]
    secret = stage.told()[:1] == [f"approvals.ProvideSecret {becomes[-3:]} pass word"]
    assert (said, secret) == (becomes == "said", becomes != "said")


def request_shown(shown: str) -> channels_pb2.Delivery:
    """The request for a secret, as the daemon knows it."""
    if shown.isupper():
        return channels_pb2.Delivery(state=channels_pb2.Delivery.State.Value(shown), chat="5")
    chat, _, message = shown.rpartition("/")
    return channels_pb2.Delivery(state=SHOWN, chat=chat or "5", platform_ids=[message])


@pytest.mark.spec("D-15")
@pytest.mark.parametrize(("message", "first"), [("50", "ProvideSecret t-1"), ("102", "Submit")])
async def test_while_nobody_knows_whether_the_request_is_shown_a_text_waits(
    message: str, first: str
) -> None:
    stage = Stage()
    stage.daemon.look.secret_task_id = "t-1"
    stage.daemon.look.secret_notice.CopyFrom(request_shown("PENDING"))
    hearing = asyncio.create_task(stage.hear("pass word"))
    for _ in range(3):
        stage.daemon.reached.clear()
        await stage.daemon.reached.wait()
    assert stage.told() == []
    stage.daemon.look.secret_notice.CopyFrom(request_shown(message))
    await hearing
    assert first in stage.told()[0]


@pytest.mark.spec("D-15")
@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ([calls.TooMany(30), calls.Unreachable("x")], texts.SECRET_TAKEN),
        ([calls.TooMany(30), calls.Refused("no rights")], texts.SECRET_NOT_DELETED),
    ],
)
def test_a_secret_is_deleted_however_long_it_takes_and_else_that_is_told(
    faults: list[calls.Fault], said: str
) -> None:
    async def play() -> None:
        stage, sending = Stage(), lanes.Lanes()
        stage.talking = talking.Talking(stage.daemon, stage.api, sending, BOT)
        stage.daemon.look.secret_task_id = "t-1"
        stage.api.delete_faults = list(faults)
        await stage.hear("pass word")
        await sending.close()
        assert stage.told() == ["approvals.ProvideSecret t-1 pass word", f"channels.Post {said}"]
        assert stage.api.log == ["delete 101"] * (len(faults) + (said == texts.SECRET_TAKEN))

    with asyncio.Runner(loop_factory=lambda: quick_loop.QuickLoop(SPEED)) as runner:
        runner.run(play())


@pytest.mark.spec("D-15")
async def test_a_secret_in_code_is_given_as_it_reads() -> None:
    stage = Stage()
    stage.daemon.look.secret_task_id = "t-1"
    mark = {"type": "code", "offset": 0, "length": 9}
    incoming = updates.read(stage.person.says(more={"text": "pass word", "entities": [mark]}), BOT)
    assert isinstance(incoming, updates.Message)
    assert incoming.text == "`pass word`"
    await stage.again(incoming)
    assert stage.told()[0] == "approvals.ProvideSecret t-1 pass word"


@pytest.mark.spec("D-15")
@pytest.mark.parametrize("dies_in", ["approvals.ProvideSecret", "channels.Post", ""])
async def test_a_secret_that_is_heard_again_is_said_to_nobody(dies_in: str) -> None:
    """The daemon goes away, or the bot dies before Telegram knows that the update was handled."""
    stage = Stage()
    stage.daemon.look.secret_task_id = "t-1"
    message = stage.message("pass word")
    if dies_in:
        stage.daemon.faults[dies_in] = [receiving.AWAY]
        with pytest.raises(client.CallFault):
            await stage.again(message)
    else:
        await stage.again(message)
    stage.begin()
    await stage.again(message)
    assert stage.told() == [
        "approvals.ProvideSecret t-1 pass word",
        f"channels.Post {texts.SECRET_TAKEN}",
    ]
    await stage.hear("and now?")
    assert stage.told()[2:] == ["tasks.Submit “and now?”"]
    assert "pass" not in str(stage.daemon.cursors)


async def test_which_messages_were_secrets_is_kept_of_the_newest_only() -> None:
    stage = Stage()
    stage.person.number = 10**9
    for _ in range(3 * talking.SECRETS_KEPT):
        stage.daemon.look.secret_task_id = f"task-{'f' * 32}"
        await stage.hear("pass word")
    (kept,) = stage.daemon.cursors.values()
    assert len(kept.split()) == talking.SECRETS_KEPT
    assert len(kept) <= 4096  # what the daemon keeps under a name


@pytest.mark.spec("B-03")
async def test_a_stranger_is_told_the_code_once_and_not_heard() -> None:
    stage = Stage()
    stage.daemon.look.allowed = False
    for text in ("hello", "/stop", "hello?"):
        await stage.hear(text)
    await stage.hear("@duck_bot hello", chat=GROUP)
    code = texts.HELLO_STRANGER.format(code="1234")
    assert stage.told() == ["channels.Pair", f"channels.Post {code}"]
    posts = [one for method, one in stage.daemon.asked if method == "channels.Post"]
    assert len({one.client_key for one in posts}) == 1
    stage.daemon.person.code = "5678"
    await stage.hear("hello again")
    stage.daemon.person.state = channels_pb2.Person.REFUSED
    await stage.hear("hello again")
    assert stage.told()[2:] == [
        f"channels.Post {texts.HELLO_STRANGER.format(code='5678')}",
        f"channels.Post {texts.STILL_STRANGER}",
    ]


@pytest.mark.spec("B-05")
@pytest.mark.parametrize("owner", [False, True])
async def test_what_waits_in_a_chat_is_listed_behind_any_number_of_others(owner: bool) -> None:
    stage = Stage()
    stage.daemon.look.owner = owner
    others = [approvals_pb2.Approval(tool="theirs", conversation_id="d") for _ in range(200)]
    mine = approvals_pb2.Approval(tool="mine", conversation_id="c")
    pages = {"": (others, "200"), "200": (others, "400"), "400": ([mine], "")}

    def listed(request: approvals_pb2.ListApprovalsRequest) -> approvals_pb2.ListApprovalsResponse:
        found, token = pages[request.page.token]
        return approvals_pb2.ListApprovalsResponse(approvals=found, next_page_token=token)

    stage.daemon.lists["approvals.List"] = listed
    await stage.hear("/approvals")
    (post,) = [one for method, one in stage.daemon.asked if method == "channels.Post"]
    lines = post.text.splitlines()
    if owner:
        assert (len(lines), lines[-1]) == (commanding.APPROVALS_LISTED + 1, texts.APPROVALS_MORE)
    else:
        assert lines == ["• `mine` for “”"]


async def test_a_refusal_of_the_daemon_is_told_in_its_words() -> None:
    stage = Stage()
    stage.daemon.faults["tasks.Submit"] = [receiving.NO]
    await stage.hear("hello")
    assert stage.told()[-1] == "channels.Post Only an owner may."


@pytest.mark.spec("K-15")
async def test_files_are_kept_before_they_are_spoken_of() -> None:
    stage = Stage()
    await stage.hear(more=receiving.document("a.pdf", "look"))
    await stage.hear(more=receiving.document("b.pdf", size=calls.FILE_BYTES + 1))
    await stage.hear(more=receiving.document("c.pdf"))
    assert stage.daemon.lines(LOOK, "channels.GetCursor", "conversations.Get") == [
        "artifacts.Put",
        "projects.PutFile",
        "tasks.Submit “look” incoming/a.pdf",
        "channels.Post b.pdf is too big: at most 20 MB can be sent to me.",
        "tasks.Submit “Here are files: incoming/c.pdf” incoming/c.pdf",
    ]


async def test_a_file_that_does_not_come_is_told_and_waited_for_no_longer() -> None:
    stage = Stage()
    stage.api.files = {"lost": [calls.Unreachable("x")], "gone": [calls.TooMany(1000)]}
    await stage.hear(more=receiving.document("a.pdf", "look", file_id="lost"))
    await stage.hear(more=receiving.document("b.pdf", "look", file_id="gone"))
    assert stage.daemon.lines(LOOK, "channels.GetCursor", "conversations.Get") == [
        f"channels.Post {texts.FILE_NOT_GIVEN.format(name=name)}" for name in ("a.pdf", "b.pdf")
    ]


async def test_an_origin_says_who_where_and_whether_it_is_their_own() -> None:
    stage = Stage()
    forward = {"type": "hidden_user", "date": 1, "sender_user_name": "M"}
    await stage.hear("@duck_bot hi", GROUP, {"forward_origin": forward})
    (origin,) = [one.origin for method, one in stage.daemon.asked if method == "tasks.Submit"]
    assert origin == common_pb2.Origin(
        principal="telegram:77:5", chat=GROUP, message_id="101", forwarded=True, speaker="Ann"
    )


@pytest.mark.parametrize("text", ["/stop", "/mode plan", "/schedule add every 2h: `ls`"])
async def test_what_is_forwarded_is_no_command_of_who_forwards_it(text: str) -> None:
    stage = Stage()
    forward = {"type": "hidden_user", "date": 1, "sender_user_name": "M"}
    await stage.hear(text, more={"forward_origin": forward})
    assert stage.told() == [f"tasks.Submit “{text}”"]
