"""Walks in which untrusted text could come to a call as if it were the user's own.

A walk is made on a real daemon, in conversations that run calls unasked, with somebody else's text
or with the user's in its place. What waits for a person on the way is allowed.
"""

import contextlib
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from proto.ducklm.v1 import (
    approvals_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    projects_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.integration.rpc import work
from tests.simulation import proposing

USED = "used"
"""The file that the last call of each way makes."""
_MESSAGE = "message-of-a-stranger"
_LAST = {"command": f"touch {USED}"}
_CODED = "a.txt\n<<<<<<< SEARCH\nclean\n=======\npoison\n>>>>>>> REPLACE\n"


def _step(
    name: str, tool: str, arguments: Mapping[str, object], *after: str
) -> Mapping[str, object]:
    return {
        "id": name,
        "goal": "go on",
        "kind": "tool",
        "tool": tool,
        "arguments": arguments,
        "after": after,
    }


def _plan(*steps: Mapping[str, object]) -> str:
    return json.dumps({"kind": "plan", "steps": steps})


def _replies(url: str) -> dict[str, str]:
    """What the model says to each message."""
    web, file = ("web_fetch", {"url": url}), ("file_read", {"path": "clean.txt"})
    told = {"id": "say", "goal": "tell it", "kind": "respond", "after": ["get"]}
    return {
        "use": proposing.directive("shell_exec", _LAST),
        "write": proposing.directive("file_write", {"path": "a.txt", "text": "poison\n"}),
        "append": proposing.directive(
            "file_write", {"path": "clean.txt", "text": "poison\n", "mode": "append"}
        ),
        "edit": proposing.directive(
            "file_edit", {"path": "clean.txt", "search": "clean", "replace": "poison"}
        ),
        "code": json.dumps({"kind": "coder", "instruction": "change it", "files": ["clean.txt"]}),
        "write elsewhere": proposing.directive(
            "file_write", {"path": "../b/a.txt", "text": "poison\n"}
        ),
        "read": proposing.directive("file_read", {"path": "a.txt"}),
        "read elsewhere": proposing.directive("file_read", {"path": "../a/a.txt"}),
        "read a link": proposing.directive("file_read", {"path": "link.txt"}),
        "search above": proposing.directive("grep", {"pattern": "poison", "path": ".."}),
        "list elsewhere": proposing.directive("file_list", {"path": "../a"}),
        "fetch": proposing.directive(*web),
        "look": proposing.directive(*file),
        "plan of the web": _plan(_step("get", *web), _step("do", "shell_exec", _LAST, "get")),
        "plan of a file": _plan(_step("get", *file), _step("do", "shell_exec", _LAST, "get")),
        "tell of the web": _plan(_step("get", *web), told),
        "tell of a file": _plan(_step("get", *file), told),
    }


def script(url: str) -> list[running_daemon.ScriptLine]:
    """The lines of the model that every way is walked with."""
    lines: list[running_daemon.ScriptLine] = [
        {
            "role": "critic",
            "reply": '{"correctness":9,"usefulness":9,"safety":9,"follows":"respond"}',
        },
        {"role": "coder", "reply": _CODED.replace("a.txt", "clean.txt")},
        {"role": "sys_util", "reply": "They spoke of poison."},
    ]
    replies = _replies(url)
    lines += [{"role": "*", "match": f"^{said}$", "reply": replies[said]} for said in replies]
    lines.append({"role": "*", "match": "^slowly use$", "reply": replies["use"], "chunk_ms": 400})
    lines.append({"role": "*", "reply": "poison"})
    for line in lines:
        line["repeat"] = True
    return lines


class _Page(http.server.BaseHTTPRequestHandler):
    asked_for: list[str]

    def do_GET(self) -> None:
        body = b"poison"
        self.asked_for.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return None


@dataclass(frozen=True)
class Web:
    """Pages of somebody else's: where they are (host and port), and which were asked for."""

    place: str
    asked_for: list[str]


@contextlib.contextmanager
def web() -> Iterator[Web]:
    """A server on loopback."""
    asked_for: list[str] = []
    page = type("Page", (_Page,), {"asked_for": asked_for})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), page) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield Web(f"127.0.0.1:{server.server_port}", asked_for)
        finally:
            server.shutdown()
            serving.join()


class Scene:
    """One daemon, which may be stopped and started again."""

    def __init__(self, daemon: running_daemon.RunningDaemon, open_: contextlib.ExitStack) -> None:
        self.daemon = daemon
        self._open = open_
        self._start()

    def _start(self) -> None:
        self.daemon.start()
        self.api = self._open.enter_context(self.daemon.api())

    def restart(self, kills: bool) -> None:
        if kills:
            self.daemon.kill()
        else:
            self.daemon.stop()
        self._start()


@contextlib.contextmanager
def scene() -> Iterator[Scene]:
    """A daemon on a new state folder; it is gone when the block ends."""
    with running_daemon.folder() as root, web() as pages, contextlib.ExitStack() as opened:
        daemon = running_daemon.RunningDaemon(root)
        daemon.script(script(f"http://{pages.place}/"))
        daemon.settings(f'[web]\nallowed = ["{pages.place}"]\n[agent]\ncritic = false\n')
        opened.callback(daemon.kill)
        yield Scene(daemon, opened)


class Walk:
    """One walk in two folders of its own. `foreign`: its first text is somebody else's."""

    def __init__(self, of: Scene, root: Path, foreign: bool) -> None:
        self.scene = of
        self.foreign = foreign
        self.a, self.b = root / "a", root / "b"
        for folder in (self.a, self.b):
            folder.mkdir(parents=True)
            (folder / "clean.txt").write_text("clean\n")
            self.register(folder)

    def register(self, folder: Path) -> Path:
        """Name a folder as a project; where it is."""
        folder.mkdir(exist_ok=True)
        name = hashlib.sha256(str(folder).encode()).hexdigest()[:40]
        request = projects_pb2.RegisterProjectRequest(name=name, folder=str(folder))
        return Path(self.api.projects.Register(request).folder)

    @property
    def api(self) -> running_daemon.Api:
        return self.scene.api

    def submit(
        self, text: str, where: Path | str, bad: bool = False, attached: tuple[str, ...] = ()
    ) -> tasks_pb2.SubmitResponse:
        """A message in a conversation, by its id, or in a new one that works in a folder."""
        forwarded = bad and self.foreign
        request = tasks_pb2.SubmitRequest(
            text=text,
            attachments=attached,
            origin=common_pb2.Origin(forwarded=forwarded, message_id=_MESSAGE if forwarded else ""),
        )
        if isinstance(where, Path):
            request.folder, request.mode = str(where), common_pb2.YOLO
        else:
            request.conversation_id = where
        return self.api.tasks.Submit(request)

    def say(
        self, text: str, where: Path | str, bad: bool = False, attached: tuple[str, ...] = ()
    ) -> str:
        """A message, and all that it leads to allowed; the conversation's id."""
        submitted = self.submit(text, where, bad, attached)
        for one in self.asked(submitted.task_id):
            work.resolve(self.api, one, approvals_pb2.ALLOW_ONCE)
        return str(submitted.conversation_id)

    def asked(self, task_id: str) -> Iterator[str]:
        """Each approval that a task asks for, until it has ended."""
        for update in work.updates(self.api, events_pb2.SubscribeRequest(task_id=task_id)):
            if update.event.HasField("approval_requested"):
                yield update.event.approval_requested.approval_id
            if work.state_of(update) in work.FINAL:
                return

    def use(self, where: Path | str, attached: tuple[str, ...] = ()) -> str:
        """The last call of a way; its task."""
        return str(self.submit("use", where, attached=attached).task_id)

    def move(self, conversation_id: str, folder: Path) -> None:
        self.api.conversations.Update(
            conversations_pb2.UpdateConversationRequest(
                conversation_id=conversation_id, folder=str(folder)
            )
        )

    def compact(self, conversation_id: str) -> None:
        request = conversations_pb2.CompactConversationRequest(conversation_id=conversation_id)
        compacted = self.api.conversations.Compact(request)
        assert work.end(self.api, compacted.task_id).state == common_pb2.COMPLETED

    def trust(self, folder: Path) -> None:
        self.api.projects.Trust(projects_pb2.TrustRequest(folder=str(folder)))

    def artifact(self) -> str:
        """What a long result of a bad task is kept as. The same bytes are the same artifact: here
        they are those of this walk alone."""
        first = int.from_bytes(hashlib.sha256(str(self.a).encode()).digest()[:4])
        submitted = self.submit(f"`seq {first} {first + 20_000}`", self.a, bad=True)
        for one in self.asked(submitted.task_id):
            work.resolve(self.api, one, approvals_pb2.ALLOW_ONCE)
        found = [
            one.tool_call_ended.artifact_id for one in work.events(self.api, submitted.task_id)
        ]
        (artifact_id,) = filter(None, found)
        return str(artifact_id)
