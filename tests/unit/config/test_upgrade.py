"""An older file of the owner's is brought to this version, kept beside it, and said so."""

import tomllib
from pathlib import Path

import pytest

from daemon.config import layers, upgrade
from daemon.domain import errors

pytestmark = pytest.mark.spec("O-06")

STEPS: tuple[upgrade.Step, ...] = (
    upgrade.Rename(version=2, section="limits", old="rounds", new="task_rounds"),
    upgrade.Add(version=2, section="limits", key="subscribers", default=64),
    upgrade.NewDefault(version=3, section="log", key="level", old="warn", new="info"),
    upgrade.Add(version=3, section="tools", key="shell_exec", default=True),
)
OLD = """\
# My own file.
version = 1

[limits]
# I like few rounds.
rounds = 4  # not more
running_tasks = 2

[log]
level = "warn"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "daemon.toml"


def bring_up(path: Path, version: int = 3) -> tuple[layers.Table, list[str]]:
    layer = layers.file(path)
    assert layer is not None
    brought, said = upgrade.bring_up(layer, path, STEPS, version)
    assert brought.folder == path.parent
    assert brought.source == str(path)
    return brought.table, said


def test_every_step_since_its_version_is_done_and_said(path: Path) -> None:
    path.write_text(OLD)
    table, said = bring_up(path)
    assert table == {
        "version": 3,
        "limits": {"running_tasks": 2, "task_rounds": 4, "subscribers": 64},
        "log": {"level": "info"},
    }
    assert said == [
        f"{path}: brought from version 1 to 3; the old file is daemon.toml.v1",
        f"{path}: limits.rounds is now called task_rounds",
        f"{path}: limits.subscribers is new, with its default 64",
        f"{path}: log.level was at its old default and is now 'info'",
    ]


def test_the_file_says_the_same_and_keeps_its_comments(path: Path) -> None:
    path.write_text(OLD)
    path.chmod(0o640)
    table, _ = bring_up(path)
    text = path.read_text()
    assert tomllib.loads(text) == table
    for comment in ("# My own file.", "# I like few rounds.", "# not more"):
        assert comment in text
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.with_name("daemon.toml.v1").read_text() == OLD
    assert sorted(one.name for one in path.parent.iterdir()) == ["daemon.toml", "daemon.toml.v1"]


def test_a_file_that_was_brought_up_is_left_alone(path: Path) -> None:
    path.write_text(OLD)
    first, _ = bring_up(path)
    text = path.read_text()
    again, said = bring_up(path)
    assert (again, said) == (first, [])
    assert path.read_text() == text


def test_only_the_steps_since_its_version_are_done(path: Path) -> None:
    path.write_text(OLD.replace("version = 1", "version = 2"))
    table, said = bring_up(path)
    assert table["limits"] == {"rounds": 4, "running_tasks": 2}
    assert len(said) == 2


def test_a_value_that_the_owner_chose_stays(path: Path) -> None:
    path.write_text(OLD.replace('"warn"', '"debug"'))
    table, said = bring_up(path)
    assert table["log"] == {"level": "debug"}
    assert not [line for line in said if "log.level" in line]


def test_a_new_key_that_the_owner_has_already_stays(path: Path) -> None:
    path.write_text(OLD.replace("running_tasks", "subscribers"))
    table, _ = bring_up(path)
    assert table["limits"] == {"subscribers": 2, "task_rounds": 4}


def test_a_renamed_key_does_not_displace_the_new_one(path: Path) -> None:
    path.write_text(OLD.replace("running_tasks", "task_rounds"))
    table, _ = bring_up(path)
    assert table["limits"] == {"task_rounds": 2, "subscribers": 64}


def test_sections_that_the_owner_does_not_have_are_not_made(path: Path) -> None:
    path.write_text("version = 1\n")
    table, said = bring_up(path)
    assert table == {"version": 3}
    assert len(said) == 1


@pytest.mark.parametrize(
    "text", ["version = 1\nlimits = {rounds = 4}\n", "version = 1\nlimits.rounds = 4\n"]
)
def test_a_section_however_it_is_written(path: Path, text: str) -> None:
    path.write_text(text)
    table, _ = bring_up(path)
    assert table["limits"] == {"task_rounds": 4, "subscribers": 64}
    assert tomllib.loads(path.read_text()) == table


def test_an_older_backup_is_never_overwritten(path: Path) -> None:
    path.with_name("daemon.toml.v1").write_text("the first one")
    path.write_text(OLD)
    bring_up(path)
    assert path.with_name("daemon.toml.v1").read_text() == "the first one"


def test_a_file_that_cannot_be_written_is_read_all_the_same(path: Path) -> None:
    path.write_text(OLD)
    path.with_name(".daemon.toml.tmp").mkdir()
    table, said = bring_up(path)
    assert table["limits"] == {"running_tasks": 2, "task_rounds": 4, "subscribers": 64}
    assert said[0] == f"{path}: version 1 is read as version 3; the file stays: Is a directory"
    assert path.read_text() == OLD


def test_nothing_is_left_when_the_backup_cannot_be_made(path: Path) -> None:
    path.write_text(OLD)
    path.with_name("daemon.toml.v1").symlink_to("nowhere")
    _, said = bring_up(path)
    assert "the file stays" in said[0]
    assert path.read_text() == OLD
    assert not path.with_name(".daemon.toml.tmp").exists()


@pytest.mark.parametrize("version", ["", "version = '1'\n", "version = true\n", "version = 1.0\n"])
def test_a_file_without_a_version(path: Path, version: str) -> None:
    path.write_text(version + "[limits]\nrounds = 4\n")
    with pytest.raises(errors.ConfigFault, match="version: write version = 3 at the top"):
        bring_up(path)


def test_a_file_of_a_newer_version(path: Path) -> None:
    path.write_text("version = 4\n")
    with pytest.raises(errors.ConfigFault, match="it is of version 4, this program knows 3"):
        bring_up(path)
    assert path.read_text() == "version = 4\n"


def test_the_steps_of_this_version_fit_it() -> None:
    assert set(upgrade.STEPS) == {"daemon.toml", "models.toml", "profiles.toml"}
    for steps in upgrade.STEPS.values():
        assert all(1 < step.version <= upgrade.VERSION for step in steps)
