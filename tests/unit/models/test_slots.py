"""Which slot serves a role, and which slots share one loaded copy."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from daemon import model_slots
from daemon.config import settings
from daemon.domain import ids, messages
from daemon.models import gguf, slots
from daemon.runtime import ports

pytestmark = pytest.mark.spec("D-17")
Role = messages.Role

SERVES = {
    "the thinker serves all": ({}, {Role.JSON_COMPILER: "t", Role.CODER: "t", Role.RECALL: "t"}),
    "a role of its own": ({Role.CODER: ("c",)}, {Role.CODER: "c", Role.CRITIC: "t"}),
    "the first of a list": ({Role.CRITIC: ("c", "d")}, {Role.CRITIC: "c"}),
    "recall is the compiler's": (
        {Role.JSON_COMPILER: ("c", "d")},
        {Role.RECALL: "c", Role.SYS_UTIL: "t"},
    ),
    "recall has its own": (
        {Role.JSON_COMPILER: ("c",), Role.RECALL: ("d",)},
        {Role.RECALL: "d", Role.JSON_COMPILER: "c"},
    ),
}


class Echo:
    """A slot that is nothing but a name, and counts how often it was ended."""

    context_tokens = 7

    def __init__(self, name: str) -> None:
        self.name = name
        self.stopped = 0

    async def generate(
        self, request: messages.ModelRequest, feed: ports.Feed
    ) -> messages.ModelResult:
        return messages.ModelResult(text="echo", finish_reason="stop", slot=self.name)

    async def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(len(text) for text in texts)

    async def stop(self) -> None:
        self.stopped += 1


@pytest.mark.parametrize(("roles", "served"), SERVES.values(), ids=SERVES)
def test_what_serves_a_role(
    roles: dict[messages.Role, tuple[str, ...]], served: dict[messages.Role, str]
) -> None:
    named = {Role.THINKER: ("t",), **roles}
    made = slots.Slots({name: Echo(name) for name in "tcd"}, named, dict.fromkeys("tcd", ""))
    assert {role: made.slot(role).name for role in served} == served


class NoFeed:
    def text(self, piece: str) -> None: ...

    def thought(self, piece: str) -> None: ...

    def progress(self, stage: messages.Stage, done: int, total: int) -> None: ...


async def test_a_shared_copy_answers_by_its_slots_name_and_is_ended_once() -> None:
    first = Echo("first")
    second = slots.Shared("second", first)
    request = messages.ModelRequest(
        call_id=ids.CallId("c"),
        task_id=ids.TaskId("t"),
        conversation_id=ids.ConversationId("k"),
        role=Role.THINKER,
        messages=(),
    )
    assert (await second.generate(request, NoFeed())).slot == "second"
    assert (await second.count(["four"]), second.context_tokens) == ((4,), 7)
    made = slots.Slots({"first": first, "second": second}, {}, {"first": "", "second": ""})
    assert [one.state for one in made.views()] == ["ready", "ready"]
    await made.stop()
    assert first.stopped == 1


def write(folder: Path, *named: str) -> settings.Settings:
    """Settings with slots a, b, c of these lines, on files of the folder."""
    (folder / "m.gguf").touch()
    (folder / "link.gguf").symlink_to(folder / "m.gguf")
    text = "version = 1\n"
    for name, lines in zip("abc", named, strict=False):
        text += f'[slots.{name}]\nkind = "gguf"\n{lines}\n'
    (folder / "models.toml").write_text(text + '[roles]\nthinker = ["a"]\n')
    return settings.load(settings.Places(folder), {})


PATH, LINK, OTHER = 'path = "m.gguf"', 'path = "link.gguf"', 'path = "n.gguf"'
COPIES: dict[str, tuple[tuple[str, ...], int, tuple[str, ...]]] = {
    "the same file": ((PATH, PATH), 1, ()),
    "by another name": ((PATH, LINK), 1, ()),
    "another file": ((PATH, OTHER), 2, ()),
    "generating otherwise": ((PATH, f"{PATH}\ngeneration = {{ temperature = 1.0 }}"), 1, ()),
    "another context": (
        (PATH, f"{PATH}\ncontext_tokens = 512"),
        2,
        ("the slots a and b load {path} twice, because of context_tokens: make these alike",),
    ),
    "other layers and context": (
        (PATH, f"{LINK}\ngpu_layers = 0\ncontext_tokens = 512"),
        2,
        ("the slots a and b load {path} twice, because of gpu_layers and context_tokens: ",),
    ),
    "other places": (
        (PATH, f"{PATH}\nplaces = 1\nthreads = 2"),
        1,
        ("the slots a and b are one copy, with places and threads of a",),
    ),
    "three": (
        (PATH, f"{PATH}\ngpu_layers = 0", f"{PATH}\ngpu_layers = 0"),
        2,
        ("the slots a and b load {path} twice, because of gpu_layers: make these alike",),
    ),
}


@pytest.mark.parametrize(("named", "loads", "told"), COPIES.values(), ids=COPIES)
async def test_how_often_a_file_is_loaded(
    tmp_path: Path, named: tuple[str, ...], loads: int, told: tuple[str, ...]
) -> None:
    async with model_slots.started(write(tmp_path, *named)) as made:
        found = [made.model(name) for name in "abc"[: len(named)]]
        assert sum(isinstance(one, gguf.GgufModel) for one in found) == loads
        assert [one.name for one in found] == list("abc"[: len(named)])
        assert len(made.notices) == len(told)
        for line, begins in zip(made.notices, told, strict=True):
            assert line.startswith(begins.replace("{path}", str(tmp_path / "m.gguf")))
