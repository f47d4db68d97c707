"""`ducklm files`, `put` and `get` against a real daemon: a file in, listed, and out again."""

import json
import os
import pathlib

import pytest

from proto.ducklm.v1 import projects_pb2
from tests import running_daemon
from tests.e2e import terminal

pytestmark = pytest.mark.spec("K-15")
DATA = bytes(range(256)) * 3000


def test_a_file_goes_in_and_comes_out_whole(
    daemon: running_daemon.RunningDaemon, tmp_path: pathlib.Path
) -> None:
    source, target = tmp_path / "-odd \x1b[2J name.bin", tmp_path / "out.bin"
    source.write_bytes(DATA)
    path = "incoming/odd __2J name.bin"
    for _ in range(2):
        done = terminal.run(daemon, "put", str(source))
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}\n", "")
    done = terminal.run(daemon, "files", "incoming")
    assert (done.returncode, done.stdout) == (0, f"{len(DATA):>12}  {path}\n")
    assert "incoming/" in terminal.run(daemon, "files").stdout
    done = terminal.run(daemon, "files", "incoming", "--json")
    assert json.loads(done.stdout)["path"] == path
    done = terminal.run(daemon, "get", path, "--output", str(target))
    assert (done.returncode, done.stdout) == (0, "")
    assert target.read_bytes() == DATA
    assert target.stat().st_mode & 0o777 == 0o600
    again = terminal.run(daemon, "get", path, "--output", str(target))
    assert (again.returncode, "File exists" in again.stderr) == (2, True)
    assert target.read_bytes() == DATA


def test_a_project_is_named_and_an_empty_folder_says_so(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api, tmp_path: pathlib.Path
) -> None:
    folder = api.projects.Create(projects_pb2.CreateProjectRequest(name="named")).folder
    done = terminal.run(daemon, "files", "--project", "named")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "There are no files.\n")
    source = tmp_path / "a.json"
    source.write_text("{}")
    done = terminal.run(daemon, "put", str(source), "--project", "named", "--json")
    row = json.loads(done.stdout)
    assert (row["path"], row["mediaType"]) == ("incoming/a.json", "text/plain")
    assert (pathlib.Path(folder) / row["path"]).read_text() == "{}"


def test_what_cannot_be_is_told_and_leaves_nothing(
    daemon: running_daemon.RunningDaemon, tmp_path: pathlib.Path
) -> None:
    for arguments, says in (
        (("put", str(tmp_path / "none")), "cannot be read: No such file or directory."),
        (("put", str(tmp_path)), "cannot be read: Is a directory."),
        (("put", "/etc/hostname", "--project", "none"), "There is no project none."),
        (("get", "../../etc/passwd", "-o", str(tmp_path / "a")), "stays within it."),
        (("get", "server.pem", "-o", str(tmp_path / "a")), "looks like a secret"),
        (("files", "none"), "There is no none in the project."),
    ):
        done = terminal.run(daemon, *arguments)
        assert (done.returncode, done.stdout) == (2, ""), (arguments, done.stderr)
        assert says in done.stderr
    assert os.listdir(tmp_path) == []
