"""What was allowed runs only while it is exactly that: each bound fact, changed after the yes was
asked for, refuses the run; and a race of swaps never has another thing run.
"""

import dataclasses
import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from daemon.config import permissions
from daemon.domain import events
from daemon.runtime import judge
from daemon.storage import in_memory
from tests.conftest import Figures, Rounds
from tests.simulation import proposing
from tests.unit.runtime import rig
from tools import contract, shell

pytestmark = [pytest.mark.timeout(240), pytest.mark.spec("D-12")]

SHELL = shell.Shell(600)
"""One for all tests: what confines commands here is found out once."""


class _Found:
    """An inspection that found something else in one place."""

    def __init__(self, inspection: contract.Inspection, facts: contract.Facts) -> None:
        self.inspection = inspection
        self._facts = facts

    @property
    def facts(self) -> contract.Facts:
        return self._facts

    def close(self) -> None:
        self.inspection.close()


@dataclasses.dataclass(frozen=True)
class Other:
    """The shell tool as another version of the daemon would have it: of another version itself,
    running other words, or with another value of one bound fact."""

    version: int = SHELL.spec.version
    words: str = ""
    fact: str = ""

    @property
    def spec(self) -> contract.ToolSpec:
        return SHELL.spec.model_copy(update={"version": self.version})

    def command(self, arguments_json: str) -> str | None:
        return SHELL.command(arguments_json)

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return SHELL.shorten(text, limit_chars, failed)

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        if self.words:
            names = call.names.model_copy(update={"argv": tuple(self.words.split())})
            call = call.model_copy(update={"names": names})
        inspection = await SHELL.inspect(call)
        if not self.fact:
            return inspection
        assert self.fact in dict(inspection.facts.bound)
        bound = tuple((k, f"{v}!" if k == self.fact else v) for k, v in inspection.facts.bound)
        return _Found(inspection, inspection.facts.model_copy(update={"bound": bound}))

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        held = inspection.inspection if isinstance(inspection, _Found) else inspection
        return await SHELL.run(call, held, output, secret)

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return await SHELL.reconcile(call, intent)


@dataclasses.dataclass(frozen=True)
class Change:
    """A command, and one thing about it that is another after the approval was asked for."""

    command: str
    outside: Callable[[Path], None] = lambda folder: None
    tool: Other = dataclasses.field(default_factory=Other)
    elsewhere: bool = False
    policy: str = ""


def _write_script(folder: Path) -> None:
    (folder / "x.sh").write_text("echo evil > ran\n")


def _replace_program(folder: Path) -> None:
    """The same bytes, under the same name, in another file."""
    shutil.copy2(folder / "prog", folder / "other")
    (folder / "other").rename(folder / "prog")


def _turn_link(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to("b")


_POLICY = """version = 1
[names]
harmless_variables = [
    "LC_*", "LANG", "LANGUAGE", "TZ", "COLUMNS", "LINES", "NO_COLOR", "CLICOLOR", "FORCE_COLOR",
    "TERM", "MORE_COLOR",
]
"""

CHANGES = {
    "argv": Change("cp a ran", tool=Other(words="cp b ran")),
    "cwd": Change("cp a ran", elsewhere=True),
    "env": Change("cp a ran", tool=Other(fact="environment")),
    "stdin": Change("cp a ran", tool=Other(fact="stdin")),
    "script bytes": Change("bash x.sh", _write_script),
    "program inode": Change("./prog a ran", _replace_program),
    "symlink target": Change("cp link ran", _turn_link),
    "tool version": Change("cp a ran", tool=Other(version=SHELL.spec.version + 1)),
    "policy revision": Change("cp a ran", policy=_POLICY),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return furnished(tmp_path / "project")


def furnished(made: Path) -> Path:
    """A folder with a script, a program and a link."""
    made.mkdir()
    (made / "a").write_text("good\n")
    (made / "b").write_text("evil\n")
    (made / "x.sh").write_text("echo good > ran\n")
    (made / "link").symlink_to("a")
    shutil.copy("/bin/cp", made / "prog")
    return made


def judging(change: Change, folder: Path) -> judge.Judge | None:
    """The judge of the daemon's next start; None for the same as before."""
    if not change.policy:
        return None
    own = folder.parent / "config"
    own.mkdir()
    (own / "permissions.toml").write_text(change.policy)
    loaded = permissions.load((own,))
    assert loaded.revision != rig.loaded_rules().revision
    return judge.Judge(lambda: loaded, rig.place)


async def allowed_after(
    folder: Path, change: Change | None, command: str
) -> tuple[proposing.Story, Path]:
    """What comes of a command that was asked for, then changed while the daemon was down, then
    allowed; and the folder in which it ran, if it did."""
    store = in_memory.InMemoryStore()
    async with rig.started(SHELL, store=store, folder=str(folder)) as first:
        asked = await proposing.propose(first, proposing.command(command))
        assert asked.asks, asked
    change = change or Change(command)
    change.outside(folder)
    later = furnished(folder.parent / "elsewhere") if change.elsewhere else folder
    judged = judging(change, folder)
    async with rig.started(change.tool, store=store, folder=str(later), judging=judged) as second:
        return await proposing.answer(second, asked), later


@pytest.mark.acceptance(16)
@pytest.mark.parametrize("name", CHANGES)
async def test_what_changed_after_the_question_is_refused(name: str, folder: Path) -> None:
    change = CHANGES[name]
    story, where = await allowed_after(folder, change, change.command)
    assert story.started == []
    assert story.outcomes == [events.CallOutcome.REFUSED]
    assert not (where / "ran").exists()
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("command", sorted({one.command for one in CHANGES.values()}))
async def test_what_did_not_change_runs_over_the_same_restart(command: str, folder: Path) -> None:
    story, _ = await allowed_after(folder, None, command)
    assert [one.approval_id for one in story.started] == [story.approval.approval_id]
    assert (folder / "ran").read_text() == "good\n"


@dataclasses.dataclass(frozen=True)
class Race:
    """A command, and how to have it mean another thing; `swap(folder, evil)` there and back."""

    command: str
    swap: Callable[[Path, bool], None]


def _swap_bytes(folder: Path, evil: bool) -> None:
    with (folder / "x.sh").open("r+") as file:
        file.write("echo evil > ran\n" if evil else "echo good > ran\n")


def _swap_file(folder: Path, evil: bool) -> None:
    (folder / "new").write_text("echo evil > ran\n" if evil else "echo good > ran\n")
    (folder / "new").rename(folder / "x.sh")


def _swap_program(folder: Path, evil: bool) -> None:
    shutil.copy2("/bin/ln" if evil else "/bin/cp", folder / "new")
    (folder / "new").rename(folder / "prog")


RACES = {
    "the bytes of a script": Race("bash x.sh", _swap_bytes),
    "the file of a script": Race("bash x.sh", _swap_file),
    "the file of a program": Race("./prog a ran", _swap_program),
}


@contextmanager
def swapping(race: Race, folder: Path, chance: random.Random) -> Iterator[None]:
    """Swap there and back, all the time, from another thread; it is good at the end."""
    stop = threading.Event()

    def swap() -> None:
        while not stop.wait(chance.random() / 100):
            race.swap(folder, chance.random() < 0.5)
        race.swap(folder, False)

    beside = threading.Thread(target=swap)
    beside.start()
    try:
        yield
    finally:
        stop.set()
        beside.join()


def is_wrong(folder: Path) -> bool:
    """Whether another thing ran than what was shown: evil words, or a link in place of a copy."""
    ran = folder / "ran"
    if not ran.exists():
        return False
    return "evil" in ran.read_text() or os.path.samefile(ran, folder / "a")


@pytest.mark.acceptance(16)
@pytest.mark.parametrize("name", RACES)
async def test_a_race_of_swaps_runs_nothing_else(
    name: str, folder: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    race, chance = RACES[name], random.Random(seed)
    count, ran, wrong, refused = rounds(1000), 0, 0, 0
    async with rig.started(SHELL, folder=str(folder)) as runtime:
        for _ in range(count):
            asked = await proposing.propose(runtime, proposing.command(race.command))
            with swapping(race, folder, chance):
                story = await proposing.answer(runtime, asked)
            ran += (folder / "ran").exists()
            refused += not story.started
            wrong += is_wrong(folder)
            (folder / "ran").unlink(missing_ok=True)
    figures(f"rounds of swapping {name}", count)
    figures("runs", ran)
    figures("refused before the start", refused)
    figures("runs of another thing", wrong)
    assert wrong == 0
