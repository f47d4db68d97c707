"""The Bot API's answers as a few faults, from a stand-in; none of them holds the token."""

import asyncio
import http.server
import socket
import threading
import traceback
from collections.abc import AsyncIterator, Iterator

import pytest

from bots.telegram import calls, outgoing
from tests.fakes.telegram import faults, server, world

HELLO = outgoing.Text("hello")


def all_of(fault: BaseException) -> str:
    """Everything that a log could show of it."""
    return "".join(traceback.format_exception(fault))


@pytest.fixture(scope="module")
def telegram() -> Iterator[server.Server]:
    with server.running() as running:
        yield running


@pytest.fixture
async def api(telegram: server.Server) -> AsyncIterator[calls.Calls]:
    made = calls.Calls(server.TOKEN, telegram.url)
    yield made
    await made.close()
    telegram.faults.clear()


Rule = faults.Rule


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (Rule("sendMessage", "retry", retry_after_s=35), calls.TooMany),
        (Rule("sendMessage", "server"), calls.Unreachable),
        (Rule("sendMessage", "server", when="after"), calls.Unreachable),
        (Rule("sendMessage", "drop"), calls.Unreachable),
        (Rule("sendMessage", "bad"), calls.Refused),
        (Rule("sendMessage", "bad", text="Bad Request: chat not found"), calls.Gone),
        (Rule("sendMessage", "bad", text="Bad Request: message thread not found"), calls.Refused),
        (Rule("sendMessage", "forbid"), calls.Gone),
        (
            Rule("sendMessage", "forbid", text="Forbidden: bot was kicked from the group chat"),
            calls.Gone,
        ),
        (Rule("sendMessage", "conflict"), calls.Conflict),
        (Rule("sendMessage", "big"), calls.Refused),
    ],
)
async def test_each_failure_is_one_of_the_faults(
    telegram: server.Server, api: calls.Calls, rule: faults.Rule, kind: type[calls.Fault]
) -> None:
    telegram.faults.add(Rule(**vars(rule)))
    with pytest.raises(calls.Fault) as raised:
        await api.send("5", "", HELLO)
    assert type(raised.value) is kind
    assert server.TOKEN not in all_of(raised.value)


async def test_a_call_knows_whether_it_alone_gets_no_answer(
    telegram: server.Server, api: calls.Calls
) -> None:
    for others, alone in (("sendMessage", False), ("getMe", True)):
        await api.me() if others == "getMe" else None
        telegram.faults.add(Rule("sendMessage", "server"))
        with pytest.raises(calls.Unreachable) as raised:
            await api.send("5", "", HELLO)
        assert raised.value.alone is alone
        assert str(raised.value) == "Bad Gateway"


async def test_a_ban_says_how_long(telegram: server.Server, api: calls.Calls) -> None:
    telegram.faults.add(Rule("sendMessage", "retry", retry_after_s=1000))
    with pytest.raises(calls.TooMany) as raised:
        await api.send("5", "", HELLO)
    assert raised.value.retry_after_s == 1000


async def test_a_moved_chat_says_where(telegram: server.Server, api: calls.Calls) -> None:
    telegram.world.moved["-9"] = "-1009"
    with pytest.raises(calls.Moved) as raised:
        await api.send("-9", "", HELLO)
    assert raised.value.chat == "-1009"


async def test_refused_marks_are_told_from_other_refusals(
    telegram: server.Server, api: calls.Calls
) -> None:
    odd = outgoing.Text("hi", (outgoing.Entity("bold", 0, 9),))
    with pytest.raises(calls.Refused) as raised:
        await api.send("5", "", odd)
    assert raised.value.is_entities
    with pytest.raises(calls.Refused) as raised:
        await api.send("5", "", outgoing.Text("x" * 4097))
    assert not raised.value.is_entities


async def test_what_is_so_already_is_no_fault(telegram: server.Server, api: calls.Calls) -> None:
    message = await api.send("5", "", HELLO)
    await api.edit("5", message, HELLO)
    await api.delete("5", message)
    await api.delete("5", message)
    await api.toast("long ago")
    with pytest.raises(calls.Refused) as raised:
        await api.edit("5", message, HELLO)
    assert raised.value.is_lost_message


async def test_a_wrong_token_is_told(telegram: server.Server) -> None:
    api = calls.Calls("77:AAanother-token-of-the-tests-0123456789", telegram.url)
    with pytest.raises(calls.Unauthorized) as raised:
        await api.me()
    assert "AAanother" not in all_of(raised.value)
    await api.close()


async def test_nobody_there_is_unreachable_and_says_no_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    api = calls.Calls(server.TOKEN, f"http://127.0.0.1:{port}")
    with pytest.raises(calls.Unreachable) as raised:
        await api.updates(0, 1)
    assert server.TOKEN not in all_of(raised.value)
    await api.close()


class Slow:
    """A server that takes one request, and answers it when it is told to."""

    def __init__(self) -> None:
        self.asked, self.answer = threading.Event(), threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, name="slow")
        self._thread.start()

    def _serve(self) -> None:
        made, _ = self._listening.accept()
        with made:
            made.recv(65536)
            self.asked.set()
            self.answer.wait(20)
            chat = '{"id": 5, "type": "private"}'
            body = f'{{"ok": true, "result": {{"message_id": 9, "date": 1, "chat": {chat}}}}}'
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
            made.sendall((head + body).encode())

    def close(self) -> None:
        self.answer.set()
        self._thread.join(20)
        self._listening.close()


async def test_receiving_anew_breaks_off_nothing_that_is_being_sent() -> None:
    slow = Slow()
    api = calls.Calls(server.TOKEN, slow.url)
    try:
        sending = asyncio.create_task(api.send("5", "", HELLO))
        assert await asyncio.to_thread(slow.asked.wait, 20)
        await api.reconnect()
        slow.answer.set()
        assert await sending == "9"
    finally:
        await api.close()
        slow.close()


def test_a_quiet_connection_is_probed_within_the_time_to_receive_again() -> None:
    with calls.probed((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 1))) as made:
        read = {one: made.getsockopt(socket.IPPROTO_TCP, one) for one in calls.PROBES}
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    idle, interval, count = read.values()
    assert idle + interval * count <= 12


class NoFile(http.server.BaseHTTPRequestHandler):
    """Names a file, and does not hand it out."""

    status = 404

    def do_POST(self) -> None:
        found = b'{"ok": true, "result": {"file_id": "f", "file_unique_id": "f", "file_path": "f"}}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(found)))
        self.end_headers()
        self.wfile.write(found)

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class BrokenFile(NoFile):
    status = 502


@pytest.mark.parametrize(
    ("handler", "kind"), [(NoFile, calls.Refused), (BrokenFile, calls.Unreachable)]
)
async def test_a_file_that_is_not_there_is_not_asked_for_again(
    handler: type[NoFile], kind: type[calls.Fault]
) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), handler) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.05,), name="no file")
        thread.start()
        api = calls.Calls(server.TOKEN, f"http://127.0.0.1:{served.server_port}")
        try:
            with pytest.raises(kind) as raised:
                await api.download("f")
            assert server.TOKEN not in all_of(raised.value)
        finally:
            await api.close()
            served.shutdown()
            thread.join(20)


async def test_a_file_too_big_for_the_bot_api_is_refused(
    telegram: server.Server, api: calls.Calls
) -> None:
    held: world.World = telegram.world
    held.files["big"] = bytes(calls.FILE_BYTES + 1)
    held.files["small"] = b"data"
    assert await api.download("small") == b"data"
    with pytest.raises(calls.Refused):
        await api.download("big")
