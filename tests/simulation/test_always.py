"""What "always" lets run unasked is one call, and nothing that is nearly it."""

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from daemon.domain import errors, events, ids, inputs, principals, verdicts
from daemon.runtime import judge
from daemon.storage import in_memory
from tests import corpus
from tests.conftest import Figures, Rounds
from tests.simulation import near_misses, proposing
from tests.unit.runtime import rig
from tools import contract, shell
from tools.sandbox import launching

pytestmark = [pytest.mark.timeout(240), pytest.mark.spec("D-12")]

SHELL = shell.Shell(600)
OPEN = shell.Shell(600, launching.Powers(launching.Kind.NONE, missing=("no sandbox",)))
GRANTED = proposing.command(near_misses.GRANTED)
STRANGER = principals.Origin(principal=principals.Principal("telegram:bot:7"))
FORWARDED = principals.Origin(principal=principals.LOCAL_OWNER, message_id="7", forwarded=True)


def furnished(folder: Path) -> Path:
    """A folder in which the granted command does what it says."""
    (folder / "out").mkdir(parents=True)
    (folder / "sub").mkdir()
    for name in ("a", "a b.txt"):
        (folder / name).write_text("text\n")
    (folder / "link").symlink_to("a")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return furnished(tmp_path / "project")


async def granted(to: rig.Rig) -> ids.GrantId:
    """Answer "always" for the command, and see it run unasked."""
    story = await proposing.answer(
        to, await proposing.propose(to, GRANTED), inputs.Answer.ALLOW_ALWAYS
    )
    assert len(story.started) == 1, story
    await runs_unasked(to)
    (grant_id,) = to.loop.world.grants
    return grant_id


async def runs_unasked(to: rig.Rig) -> None:
    story = await proposing.propose(to, GRANTED)
    assert [one.basis for one in story.started] == [verdicts.Basis.GRANT], story


async def ran_unasked(to: rig.Rig, reply: str, origin: principals.Origin | None = None) -> bool:
    """Whether anything starts before a person was asked; what asks is cancelled."""
    story = await proposing.propose(to, reply, origin)
    if story.asks:
        await proposing.leave(to, story)
    else:
        assert story.outcomes, story
    return bool(story.started)


@pytest.mark.acceptance(17)
async def test_no_near_miss_runs_unasked(
    folder: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    missed = near_misses.sample(rounds(200), random.Random(seed))
    async with rig.started(SHELL, folder=str(folder)) as runtime:
        await granted(runtime)
        wrong = [one for one in missed if await ran_unasked(runtime, proposing.command(one))]
        await runs_unasked(runtime)
    figures("near misses", len(set(missed)))
    figures("run unasked", len(wrong))
    assert wrong == []


def _turn_link(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to("a b.txt")


def _link_out(folder: Path) -> None:
    (folder / "out").rename(folder / "was")
    (folder / "out").symlink_to("sub")


def _same_folder_again(folder: Path) -> None:
    folder.rename(folder.with_name("was"))
    furnished(folder)


def _second_name(folder: Path) -> None:
    (folder / "again").hardlink_to(folder / "a b.txt")


@dataclasses.dataclass(frozen=True)
class Around:
    """One thing about the same command that is another, after a restart."""

    outside: Callable[[Path], None] = lambda folder: None
    origin: principals.Origin | None = None
    tool: contract.Tool = SHELL
    elsewhere: bool = False
    other_rules: bool = False


AROUND = {
    "another principal": Around(origin=STRANGER),
    "a forwarded message": Around(origin=FORWARDED),
    "another folder": Around(elsewhere=True),
    "the same path, another folder": Around(_same_folder_again),
    "a link turned": Around(_turn_link),
    "a folder that became a link": Around(_link_out),
    "a file that got a second name": Around(_second_name),
    "less confinement": Around(tool=OPEN),
    "other rules": Around(other_rules=True),
}


def other_rules() -> judge.Judge:
    loaded = rig.loaded_rules()
    return judge.Judge(lambda: judge.Loaded(loaded.rules, f"{loaded.revision}!"), rig.place)


@pytest.mark.acceptance(17)
@pytest.mark.parametrize("name", AROUND)
async def test_nor_does_the_same_command_in_other_surroundings(name: str, folder: Path) -> None:
    around, store = AROUND[name], in_memory.InMemoryStore()
    async with rig.started(SHELL, store=store, folder=str(folder)) as runtime:
        await granted(runtime)
    around.outside(folder)
    where = furnished(folder.parent / "elsewhere") if around.elsewhere else folder
    judging = other_rules() if around.other_rules else None
    async with rig.started(around.tool, store=store, folder=str(where), judging=judging) as later:
        assert len(later.loop.world.grants) == 1
        assert not await ran_unasked(later, GRANTED, around.origin)


async def test_a_restart_alone_changes_nothing(folder: Path) -> None:
    store = in_memory.InMemoryStore()
    async with rig.started(SHELL, store=store, folder=str(folder)) as runtime:
        await granted(runtime)
    async with rig.started(SHELL, store=store, folder=str(folder)) as later:
        await runs_unasked(later)


async def stored(to: rig.Rig, command: str) -> bool:
    """Whether "always" could be said to a command, or it ran; what asks is cancelled."""
    story = await proposing.propose(to, proposing.command(command))
    if not story.asks:
        assert story.outcomes == [events.CallOutcome.REFUSED] or story.started == [], story
        return bool(story.started)
    with pytest.raises(errors.Refusal, match="only be allowed once"):
        await to.resolve(story.approval.approval_id, inputs.Answer.ALLOW_ALWAYS)
    await proposing.leave(to, story)
    return False


@pytest.mark.acceptance(17)
@pytest.mark.parametrize("expected", ["ask-never-always", "hard-stop"])
async def test_what_asks_each_time_or_never_runs_is_not_stored(
    expected: str, folder: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    rows = [row for row in corpus.rows("commands.tsv") if row.expected == expected]
    chosen = random.Random(seed).sample(rows, min(len(rows), rounds(200)))
    async with rig.started(SHELL, folder=str(folder)) as runtime:
        wrong = [row.id for row in chosen if await stored(runtime, row.command)]
        kept = len(runtime.loop.world.grants)
    figures(f"{expected} rows answered with always", len(chosen))
    figures("stored", kept)
    assert (wrong, kept) == ([], 0)


@pytest.mark.acceptance(17)
async def test_revoking_acts_on_the_next_call(folder: Path) -> None:
    async with rig.started(SHELL, folder=str(folder)) as runtime:
        grant_id = await granted(runtime)
        await runtime.box.ask(
            inputs.RevokeGrant(
                credential="owner",
                principal=principals.LOCAL_OWNER,
                correlation_id="c",
                grant_id=grant_id,
            )
        )
        assert not await ran_unasked(runtime, GRANTED)
