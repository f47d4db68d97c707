"""What a call changed is kept as its commit, and what others changed apart from it."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from daemon.domain import errors
from daemon.history import histories, store, walk
from daemon.runtime import clock
from tests.integration.history import folders

pytestmark = [pytest.mark.spec("K-04")]


async def test_a_calls_changes_are_one_commit(project: folders.Project) -> None:
    project.write("old.py", "a\nb\n")
    project.write("gone.py", "x\n")
    await project.before()
    project.write("old.py", "a\nc\n")
    project.write("deep/new.py", "n\n")
    (project.folder / "gone.py").unlink()
    change = await project.changed()
    assert change.files == ("deep/new.py", "gone.py", "old.py")
    assert "-b\n+c\n" in change.diff
    assert "deleted file mode 100644" in change.diff
    assert project.kept(change.commit) == ["deep/new.py", "old.py"]
    assert project.subjects() == ["call call-1", store.FOUND]
    project.check()


async def test_a_call_that_changed_nothing_has_no_commit(project: folders.Project) -> None:
    project.write("a", "1")
    await project.before()
    os.utime(project.folder / "a", (1, 1))
    (project.folder / "empty").mkdir()
    assert await project.after() is None
    assert project.subjects() == [store.FOUND]


async def test_what_was_changed_outside_is_not_a_calls(project: folders.Project) -> None:
    await project.before()
    project.write("mine", "1")
    await project.before()
    project.write("its", "2")
    change = await project.changed()
    assert change.files == ("its",)
    assert project.subjects() == ["call call-1", store.OUTSIDE, store.FOUND]


async def test_a_change_at_once_after_a_look_is_seen(project: folders.Project) -> None:
    """Of the same size, under the same times as far as a clock's tick may tell."""
    path = project.write("a", "1")
    await project.before()
    status = path.stat()
    for text in ("2", "3"):
        path.write_text(text)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert (await project.changed()).files == ("a",)
        assert project.content("a") == text


async def test_a_new_daemon_goes_on_from_the_store(project: folders.Project) -> None:
    project.write("a", "1")
    await project.before()
    project.history = histories.Histories(project.stores, (), clock.SystemClock())
    await project.before()
    assert project.subjects() == [store.FOUND]
    project.write("a", "2")
    await project.changed()
    assert project.subjects() == ["call call-1", store.FOUND]


async def test_many_files_become_a_pack_that_git_reads(project: folders.Project) -> None:
    for number in range(300):
        project.write(f"d{number % 7}/f{number}", f"{number}\n" * number)
    await project.before()
    assert list((project.store / "objects/pack").glob("*.idx"))
    assert project.content("d3/f3") == "3\n" * 3
    project.check()
    git_gc = ("gc", "-q", "--prune=now")
    folders.git(*git_gc, store_at=project.store)
    project.write("d3/f3", "new\n")
    await project.changed()
    project.history = histories.Histories(project.stores, (), clock.SystemClock())
    await project.before()
    assert project.subjects() == ["call call-1", store.FOUND]
    project.check()


async def test_an_empty_folder_is_the_default(project: folders.Project) -> None:
    project.history = histories.Histories(
        project.stores, (), clock.SystemClock(), default=project.path
    )
    await project.history.before("")
    project.write("a")
    change = await project.history.after("", "x", folders.TASK, folders.CALL)
    assert change is not None
    assert await project.history.log("", 1) == await project.history.log(project.path, 1)
    await project.history.revert("", [change.commit])
    assert project.kept() == []


async def test_many_single_objects_are_put_together(project: folders.Project) -> None:
    """What is in no commit stays: it may be what a look that was given up has read."""
    project.history = histories.Histories(project.stores, (), clock.SystemClock(), most_objects=-1)
    await project.before()
    project.write("a", "1")
    await project.changed()
    found = project.store / "objects"
    async with asyncio.timeout(10):
        while not list(found.glob("pack/*.idx")):
            await project.before()
    await project.before()
    assert not [path for path in found.glob("??/*") if path.is_file()]
    project.write("a", "2")
    await project.changed()
    assert project.subjects() == ["call call-1", "call call-1", store.FOUND]
    assert project.history.notices() == ()
    project.check()
    project.history.close()


async def test_a_message_cannot_pass_for_what_only_the_history_says(
    project: folders.Project,
) -> None:
    await project.before()
    project.write("a")
    message = "x\n\nDuckLM-Reverts: " + "0" * 40 + "\x1b[0m"
    change = await project.history.after(project.path, message, folders.TASK, folders.CALL)
    assert change is not None
    (made, _) = await project.history.log(project.path, 5)
    assert made.message == "x DuckLM-Reverts: " + "0" * 40 + " [0m"
    assert (made.commit, made.task_id, made.call_id) == (change.commit, "task-1", "call-1")
    assert made.reverts == ()


class TestLog:
    async def test_pages(self, project: folders.Project) -> None:
        await project.before()
        made = []
        for number in range(5):
            project.write("a", str(number))
            made.append((await project.changed(f"call-{number}")).commit)
        first = await project.history.log(project.path, 2)
        assert [one.commit for one in first] == [made[4], made[3]]
        rest = await project.history.log(project.path, 10, first[-1].commit)
        assert [one.commit for one in rest[:3]] == made[2::-1]
        assert rest[-1].message == store.FOUND
        assert await project.history.log(project.path, 10, rest[-1].commit) == ()
        assert "-3" in await project.history.diff(project.path, made[4])

    @pytest.mark.parametrize("commit", ["0" * 40, "main", "--output=/tmp/x", "0" * 39, ""])
    async def test_no_such_commit(self, project: folders.Project, commit: str) -> None:
        await project.before()
        with pytest.raises(errors.HistoryFault):
            await project.history.diff(project.path, commit)
        with pytest.raises(errors.HistoryFault):
            await project.history.revert(project.path, [commit])

    async def test_a_folder_without_a_history_has_an_empty_one(
        self, project: folders.Project
    ) -> None:
        assert await project.history.log(project.path, 10) == ()
        with pytest.raises(errors.HistoryFault, match="no commit"):
            await project.history.diff(project.path, "0" * 40)


class TestBounds:
    async def test_a_long_diff_is_cut_and_says_so(self, project: folders.Project) -> None:
        await project.before()
        project.write("a", "".join(f"line {number}\n" for number in range(50_000)))
        diff = (await project.changed()).diff
        assert len(diff) < store.DIFF_BYTES + 200
        assert diff.endswith("\n(only the first 64 KiB are shown)\n")

    async def test_a_binary_file_is_only_named(self, project: folders.Project) -> None:
        await project.before()
        (project.folder / "a.bin").write_bytes(bytes(range(256)) * 100)
        diff = (await project.changed()).diff
        assert "Binary files /dev/null and b/a.bin differ" in diff
        assert len(diff) < 300

    async def test_many_names_are_cut(self, project: folders.Project) -> None:
        await project.before()
        for number in range(150):
            project.write(f"f{number:03}", "x")
        change = await project.changed()
        assert len(change.files) == store.MOST_NAMED_FILES
        assert "(50 more files changed)" in change.diff

    async def test_a_large_file_is_left_out_and_said(self, project: folders.Project) -> None:
        await project.before()
        project.write("small", "x")
        os.truncate(project.write("large"), walk.MOST_FILE_BYTES + 1)
        change = await project.changed()
        assert change.files == ("small",)
        assert change.diff.endswith("(not kept: large: larger than 5 MB)\n")
        os.truncate(project.write("limit"), walk.MOST_FILE_BYTES)
        assert (await project.changed()).files == ("limit",)

    async def test_a_folder_of_too_many_files_has_no_history(
        self, project: folders.Project
    ) -> None:
        for number in range(walk.MOST_FILES + 1):
            os.close(os.open(project.folder / f"f{number}", os.O_CREAT | os.O_WRONLY))
        await project.before()
        (notice,) = project.history.notices()
        assert notice.endswith("are not kept and cannot be undone: it holds more than 20,000 files")
        began = time.monotonic()
        await project.before()
        assert time.monotonic() - began < 0.05, "it is looked at again"
        assert await project.after() is None

    async def test_what_takes_too_long_is_given_up_and_goes_on_later(
        self, project: folders.Project
    ) -> None:
        for number in range(500):
            project.write(f"f{number}", f"{number}")
        kept = store.Store(project.stores, project.path, (), lambda: 0)
        tries = 0
        with pytest.raises(walk.Late):
            kept.catch_up(walk.Deadline(0))
        while tries < 200:
            tries += 1
            try:
                kept.catch_up(walk.Deadline(0.02))
                break
            except walk.Late:
                continue
        assert len(project.kept()) == 500, tries

    async def test_a_late_look_makes_the_call_one_without_history(
        self, project: folders.Project
    ) -> None:
        await project.before()
        in_time = project.history
        project.history = histories.Histories(
            project.stores, (), clock.SystemClock(), call_seconds=0.0
        )
        await project.before()
        assert project.history.notices() == (
            f"Changes in {project.path} are not kept and cannot be undone: "
            "its history took too long",
        )
        project.write("a", "1")
        assert await project.after() is None
        project.history = in_time
        await project.before()
        assert project.history.notices() == ()
        assert project.subjects() == [store.OUTSIDE, store.FOUND]


class TestMissing:
    async def test_a_folder_that_is_gone(self, project: folders.Project) -> None:
        await project.before()
        project.folder.rmdir()
        assert await project.after() is None
        await project.before()
        (notice,) = project.history.notices()
        assert notice.endswith("the folder is not there")
        project.folder.mkdir()
        await project.before()
        assert project.history.notices() == ()

    async def test_a_folder_that_became_a_link(self, project: folders.Project) -> None:
        elsewhere = project.folder.with_name("elsewhere")
        project.folder.rename(elsewhere)
        project.folder.symlink_to(elsewhere)
        await project.before()
        (notice,) = project.history.notices()
        assert notice.endswith("it is no real path")
        assert not project.store.exists()

    async def test_without_git_there_is_no_history_and_it_is_said(self, tmp_path: Path) -> None:
        without = histories.Histories(tmp_path, (), clock.SystemClock(), find_git=lambda: False)
        await without.before(str(tmp_path))
        assert await without.after(str(tmp_path), "", folders.TASK, folders.CALL) is None
        (notice,) = without.notices()
        assert "git is missing; install git" in notice
        with pytest.raises(errors.HistoryFault, match="git is missing"):
            await without.log(str(tmp_path), 1)
        without.close()

    async def test_a_store_that_cannot_be_made(self, project: folders.Project) -> None:
        project.stores.rmdir()
        project.stores.write_text("")
        await project.before()
        (notice,) = project.history.notices()
        assert "its store: Not a directory" in notice
        assert await project.after() is None


class TestTogether:
    async def test_one_folder_in_turn_and_two_at_once(self, tmp_path: Path) -> None:
        first = folders.Project(tmp_path / "a")
        second = folders.Project(tmp_path / "b", beside=first)
        for project in (first, second):
            for number in range(40):
                project.write(f"f{number}", "x")
        await asyncio.gather(*(one.before() for one in (first, second) for _ in range(5)))
        for project in (first, second):
            project.write("f0", "y")
        kept = await asyncio.gather(*(one.after() for one in (first, second) for _ in range(5)))
        assert sum(one is not None for one in kept) == 2
        for project in (first, second):
            assert project.subjects() == ["call call-1", store.FOUND]
            project.check()
        first.history.close()

    async def test_who_does_not_wait_any_more_ends_nothing(self, project: folders.Project) -> None:
        for number in range(300):
            project.write(f"f{number}", f"{number}")
        waiting = asyncio.create_task(project.before())
        await asyncio.wait((waiting,), timeout=0.001)
        waiting.cancel()
        await asyncio.wait((waiting,))
        await project.before()
        assert len(project.kept()) == 300
        assert project.subjects() == [store.FOUND]

    async def test_more_folders_than_are_remembered(self, tmp_path: Path) -> None:
        first = folders.Project(tmp_path / "0")
        more = [folders.Project(tmp_path / str(one), beside=first) for one in range(1, 20)]
        for text in ("1", "2"):
            for project in (first, *more):
                await project.before()
                project.write("a", text)
                assert await project.changed()
        assert all(len(project.subjects()) == 3 for project in (first, *more))
        first.history.close()
