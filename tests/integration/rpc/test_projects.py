"""Projects by RPC: which folders may be one, what became of their files, and taking that back."""

import asyncio
import contextlib
import dataclasses
import os
import pathlib
from collections.abc import AsyncIterator, Iterator

import grpc
import pytest

from daemon import workplace
from daemon.domain import decisions, ids, world
from daemon.history import histories, store
from daemon.rpc import backend
from daemon.runtime import bus, clock, contents, inbox, loop
from daemon.storage import in_memory
from proto.ducklm.v1 import common_pb2, projects_pb2, projects_pb2_grpc, tasks_pb2, tasks_pb2_grpc
from tests import rules, running_daemon
from tests.integration.rpc import methods, served

pytestmark = [pytest.mark.spec("K-04")]
_OWNER = methods.bearer(served.OWNER)
_SCRIPT = methods.bearer(served.OTHER)
_CODE = grpc.StatusCode


class _Nothing:
    """Performs no action: tasks stay where they are."""

    def perform(self, action: decisions.Action) -> None:
        pass


@dataclasses.dataclass(frozen=True)
class Place:
    """A daemon's folders, its histories, and the ways in."""

    root: pathlib.Path
    folders: workplace.ProjectFolders
    history: histories.Histories
    projects: "projects_pb2_grpc.ProjectsAsyncStub"
    tasks: "tasks_pb2_grpc.TasksAsyncStub"

    async def register(self, name: str, folder: pathlib.Path | str) -> projects_pb2.Project:
        request = projects_pb2.RegisterProjectRequest(name=name, folder=str(folder))
        return await self.projects.Register(request, metadata=_OWNER)

    async def create(self, name: str, key: str = "") -> projects_pb2.Project:
        request = projects_pb2.CreateProjectRequest(name=name, client_key=key)
        return await self.projects.Create(request, metadata=_OWNER)

    async def names(self) -> list[str]:
        listed = await self.projects.List(projects_pb2.ListProjectsRequest(), metadata=_OWNER)
        return [one.name for one in listed.projects]

    async def revert(self, project: str, *commits: str) -> str:
        request = projects_pb2.ProjectRevertRequest(project=project, commits=commits)
        return (await self.projects.Revert(request, metadata=_OWNER)).commit

    async def diff(self, project: str, commit: str) -> str:
        request = projects_pb2.ProjectDiffRequest(project=project, commit=commit)
        return (await self.projects.Diff(request, metadata=_OWNER)).diff

    async def log(
        self, project: str, size: int = 0, token: str = ""
    ) -> projects_pb2.ProjectLogResponse:
        page = common_pb2.Page(size=size, token=token)
        request = projects_pb2.ProjectLogRequest(project=project, page=page)
        return await self.projects.Log(request, metadata=_OWNER)

    async def changed(self, folder: str, name: str, text: str) -> str:
        """Have a call write a file; returns its commit."""
        await self.history.before(folder)
        (pathlib.Path(folder) / name).write_text(text)
        call = (ids.TaskId("t"), ids.CallId("c"))
        change = await self.history.after(folder, f"write {name}", *call)
        assert change is not None
        return change.commit


@pytest.fixture
def root() -> Iterator[pathlib.Path]:
    with running_daemon.folder() as made:
        yield pathlib.Path(os.path.realpath(made))


@pytest.fixture
async def place(root: pathlib.Path) -> AsyncIterator[Place]:
    for name in ("state", "config"):
        (root / name).mkdir()
    named = workplace.Folders(root / "state", root / "data/projects", (root / "config",))
    own = workplace.ProjectFolders(named, "")
    hidden = workplace.hidden(named)
    history = histories.Histories(workplace.histories(named), hidden, clock.SystemClock())
    async with _served(root, own, history) as channel:
        yield Place(
            root,
            own,
            history,
            projects_pb2_grpc.ProjectsStub(channel),
            tasks_pb2_grpc.TasksStub(channel),
        )
    history.close()


@contextlib.asynccontextmanager
async def _served(
    root: pathlib.Path, own: workplace.ProjectFolders, history: histories.Histories
) -> AsyncIterator[grpc.aio.Channel]:
    """A daemon's loop over a store in memory."""
    kept_in = in_memory.InMemoryStore()
    kept = contents.Contents(kept_in)
    box = inbox.Inbox(32)
    publish = bus.Bus(kept_in, clock.SystemClock(), 0, 32)
    used = rules.plain({})
    parts = (kept, clock.SystemClock(), clock.SystemChance(), box, publish)
    running = loop.RuntimeLoop(used, world.World(), kept_in, *parts)
    backing = backend.Backend(
        box,
        kept_in,
        kept_in.artifacts,
        kept,
        publish,
        1024,
        served.empty_vault(),
        tuple,
        used.owners.is_owner,
        own,
        history,
    )
    serving = asyncio.create_task(running.run(_Nothing()))
    try:
        async with served.serving(backing, served.two_tokens(), served.Look(root)) as channel:
            yield channel
    finally:
        serving.cancel()
        await asyncio.wait((serving,))


@contextlib.contextmanager
def refused(code: grpc.StatusCode, sentence: str = "") -> Iterator[None]:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        yield
    assert caught.value.code() is code, caught.value.details()
    assert sentence in (caught.value.details() or "")


class TestNaming:
    async def test_a_new_one(self, place: Place) -> None:
        made = await place.create("a-project_1", "key")
        folder = place.root / "data/projects/a-project_1"
        assert (made.name, made.folder, made.missing) == ("a-project_1", str(folder), False)
        assert folder.stat().st_mode & 0o7777 == 0o700
        assert made.created_at.seconds > 0
        assert await place.create("a-project_1", "key") == made
        assert await place.create("a-project_1") == made
        assert await place.names() == ["a-project_1"]
        with refused(_CODE.ALREADY_EXISTS, "client_key"):
            await place.create("another", "key")

    async def test_a_folder_of_the_owners(self, place: Place) -> None:
        (place.root / "home/work").mkdir(parents=True)
        (place.root / "link").symlink_to("home/work")
        made = await place.register("work", f"{place.root}/./link//")
        assert made.folder == str(place.root / "home/work")
        assert await place.register("work", place.root / "home/work") == made
        with refused(_CODE.ALREADY_EXISTS, "is the project work already"):
            await place.register("other", place.root / "home/work")
        (place.root / "home/more").mkdir()
        with refused(_CODE.ALREADY_EXISTS, "There is a project work already"):
            await place.register("work", place.root / "home/more")
        (place.root / "home/work").rmdir()
        listed = await place.projects.List(projects_pb2.ListProjectsRequest(), metadata=_OWNER)
        assert [(one.name, one.missing) for one in listed.projects] == [("work", True)]

    @pytest.mark.parametrize(
        "name", ["", "A", "-a", "_a", "a/b", "..", "a b", "ä", "a\n", "a" * 42, "a.b", "a\0"]
    )
    async def test_names_that_are_none(self, place: Place, name: str) -> None:
        with refused(_CODE.INVALID_ARGUMENT, "small letters"):
            await place.create(name)
        with refused(_CODE.INVALID_ARGUMENT, "small letters"):
            await place.register(name, "/srv")
        assert sorted(os.listdir(place.root / "data/projects")) == ["default"]

    @pytest.mark.parametrize("name", ["a", "0", "a" * 41, "a-_9", "default"])
    async def test_names(self, place: Place, name: str) -> None:
        assert (await place.create(name)).name == name

    @pytest.mark.parametrize(
        "folder",
        [
            "/",
            "/etc",
            "/etc/ssl",
            "/usr/share",
            "/var",
            "/var/backups",
            "/var/lib",
            "/tmp",
            "/proc/self",
            "/dev/shm",
            "/sys",
            "/run",
            "/boot",
            "/home",
            "/root",
            "~",
            "{home}",
            "{home}/..",
            "{root}",
            "{root}/state",
            "{root}/state/projects",
            "{root}/config",
            "{root}/config/sub",
            "{root}/data/projects",
            "{root}/to-state",
            "{root}/to-home",
            "{root}/repository/.git",
            "{root}/repository/.git/hooks",
            "{root}/keys/.ssh",
            "{root}/nothing",
            "{root}/file",
            "relative",
            "{root}/a\0b",
            "",
        ],
    )
    async def test_folders_that_may_be_none(self, place: Place, folder: str) -> None:
        root = place.root
        (root / "config/sub").mkdir()
        (root / "repository/.git/hooks").mkdir(parents=True)
        (root / "keys/.ssh").mkdir(parents=True)
        (root / "file").write_text("")
        (root / "to-state").symlink_to("state")
        (root / "to-home").symlink_to(pathlib.Path.home())
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await place.register("a", folder.format(root=root, home=pathlib.Path.home()))
        assert caught.value.code() in (_CODE.INVALID_ARGUMENT, _CODE.NOT_FOUND)
        assert await place.names() == []

    async def test_a_name_whose_place_leads_elsewhere(self, place: Place) -> None:
        (place.root / "data/projects/a").symlink_to(place.root / "state")
        (place.root / "data/projects/b").write_text("")
        for name in ("a", "b"):
            with refused(_CODE.INVALID_ARGUMENT):
                await place.create(name)

    async def test_only_an_owner(self, place: Place) -> None:
        create = projects_pb2.CreateProjectRequest(name="a")
        register = projects_pb2.RegisterProjectRequest(name="a", folder=str(place.root))
        revert = projects_pb2.ProjectRevertRequest(commits=["0" * 40])
        with refused(_CODE.PERMISSION_DENIED, "Only the owner"):
            await place.projects.Create(create, metadata=_SCRIPT)
        with refused(_CODE.PERMISSION_DENIED, "Only the owner"):
            await place.projects.Register(register, metadata=_SCRIPT)
        with refused(_CODE.PERMISSION_DENIED, "Only the owner"):
            await place.projects.Revert(revert, metadata=_SCRIPT)
        assert not (place.root / "data/projects/a").exists()


class TestHistory:
    async def test_log_diff_and_revert(self, place: Place) -> None:
        folder = (await place.create("a")).folder
        commits = [await place.changed(folder, "x", f"{number}\n") for number in range(3)]
        first = await place.log("a", 2)
        assert [one.commit for one in first.commits] == commits[:0:-1]
        assert (first.commits[0].message, first.commits[0].task_id) == ("write x", "t")
        assert first.commits[0].call_id == "c"
        assert first.commits[0].at.seconds > 0
        rest = await place.log(folder, 2, first.next_page_token)
        assert [one.message for one in rest.commits] == ["write x", store.FOUND]
        assert not (await place.log("a", 10)).next_page_token
        assert "-1\n+2\n" in await place.diff("a", commits[2])
        made = await place.revert("a", commits[2], commits[1])
        assert (pathlib.Path(folder) / "x").read_text() == "0\n"
        assert await place.revert("a", commits[1], commits[2]) == made
        assert set((await place.log("a", 1)).commits[0].reverts) == set(commits[1:])

    async def test_without_a_name_it_is_the_daemons_own(self, place: Place) -> None:
        commit = await place.changed(place.folders.default, "x", "1")
        assert (await place.log("")).commits[0].commit == commit
        assert await place.diff("", commit)

    async def test_what_stands_in_the_way_is_named(self, place: Place) -> None:
        folder = (await place.create("a")).folder
        commit = await place.changed(folder, "x", "1\n")
        (pathlib.Path(folder) / "x").write_text("mine\n")
        with refused(_CODE.FAILED_PRECONDITION, "Not taken back: x changed since."):
            await place.revert("a", commit)
        assert (pathlib.Path(folder) / "x").read_text() == "mine\n"

    @pytest.mark.parametrize("commit", ["", "main", "0" * 39, "--all", "HEAD", "0" * 41])
    async def test_what_is_no_commit(self, place: Place, commit: str) -> None:
        for asked in (place.diff("", commit), place.revert("", commit)):
            with refused(_CODE.INVALID_ARGUMENT, "40 digits"):
                await asked
        if commit:
            with refused(_CODE.INVALID_ARGUMENT, "40 digits"):
                await place.log("", 1, commit)

    async def test_what_is_not_there(self, place: Place) -> None:
        for asked in (place.diff("", "0" * 40), place.revert("", "0" * 40)):
            with refused(_CODE.FAILED_PRECONDITION, "no commit"):
                await asked
        with refused(_CODE.NOT_FOUND):
            await place.log("unknown")
        with refused(_CODE.INVALID_ARGUMENT, "at least one"):
            await place.revert("")

    async def test_not_while_a_task_runs_there(self, place: Place) -> None:
        commit = await place.changed(place.folders.default, "x", "1")
        kept = await place.tasks.Submit(tasks_pb2.SubmitRequest(text="hi"), metadata=_OWNER)
        with refused(_CODE.FAILED_PRECONDITION, f"Task {kept.task_id} runs in"):
            await place.revert("", commit)
        assert (pathlib.Path(place.folders.default) / "x").exists()
        other = (await place.create("other")).folder
        assert await place.revert("other", await place.changed(other, "x", "1"))
        cancel = tasks_pb2.CancelRequest(task_id=kept.task_id)
        await place.tasks.Cancel(cancel, metadata=_OWNER)
        assert await place.revert("", commit)


def test_a_folder_that_is_missing(root: pathlib.Path) -> None:
    for name in ("state", "config", "there", "replaced"):
        (root / name).mkdir()
    named = workplace.Folders(root / "state", root / "projects", (root / "config",))
    own = workplace.ProjectFolders(named, "")
    assert not own.missing("")
    assert not own.missing(str(root / "there"))
    (root / "replaced").rmdir()
    (root / "replaced").symlink_to("there")
    (root / "file").write_text("")
    for name in ("nothing", "replaced", "file"):
        assert own.missing(str(root / name)), name
