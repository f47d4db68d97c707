"""Files in and out of projects: every field of their requests, and what must never be reached."""

import functools
import os
import pathlib

import grpc
import pytest

from proto.ducklm.v1 import approvals_pb2, artifacts_pb2, common_pb2, projects_pb2, tasks_pb2
from tests import running_daemon
from tests.integration.rpc import covered, work

covers = covered.covers
refused = covered.refused
PART, PARTS = 1024 * 1024, 8
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64


def put(api: running_daemon.Api, data: bytes) -> str:
    return api.artifacts.Put(iter([artifacts_pb2.PutArtifactRequest(data=data)])).artifact_id


def got(api: running_daemon.Api, path: str, project: str = "") -> bytes:
    request = projects_pb2.GetFileRequest(project=project, path=path)
    return b"".join(piece.data for piece in api.projects.GetFile(request))


@covers(projects_pb2.PutFileRequest, "artifact_id", "name", "project", "origin", "client_key")
@covers(projects_pb2.ListFilesRequest, "project", "path")
@covers(projects_pb2.GetFileRequest, "project", "path")
@covers(tasks_pb2.SubmitRequest, "files")
@pytest.mark.spec("K-15")
def test_a_file_comes_in_is_listed_and_goes_out(api: running_daemon.Api) -> None:
    project = api.projects.Create(projects_pb2.CreateProjectRequest(name="files"))
    origin = common_pb2.Origin(
        principal="telegram:files:7", chat="7", message_id="9", forwarded=True
    )
    request = projects_pb2.PutFileRequest(
        artifact_id=put(api, PNG),
        name="../../etc/\u202egnp.ü 1.png",
        project="files",
        origin=origin,
        client_key="put",
    )
    kept = api.projects.PutFile(request)
    assert (kept.path, kept.size, kept.media_type) == ("incoming/_gnp.ü 1.png", 72, "image/png")
    assert api.projects.PutFile(request) == kept, "the same file is there already"
    request.artifact_id, request.client_key = put(api, b"other"), "put other"
    assert api.projects.PutFile(request).path == "incoming/_gnp.ü 1-2.png"
    listing = projects_pb2.ListFilesRequest(project="files", path="incoming")
    listed = api.projects.ListFiles(listing)
    assert [one.path for one in listed.files] == ["incoming/_gnp.ü 1-2.png", kept.path]
    assert not listed.more
    assert got(api, kept.path, "files") == PNG
    tainted = [one for one in work.all_events(api) if one.HasField("project_tainted")]
    assert [one.project_tainted.folder for one in tainted].count(project.folder) == 1
    submit = tasks_pb2.SubmitRequest(text="look", files=[kept.path])
    task_id = api.tasks.Submit(submit).task_id
    (told,) = [one for one in work.events(api, task_id) if one.HasField("task_submitted")]
    assert f'"{kept.path}"' in told.task_submitted.note


@pytest.mark.spec("K-15")
@pytest.mark.spec("D-12")
def test_what_a_tainted_task_gave_taints_where_it_comes() -> None:
    """A person who keeps a tool's whole output keeps what it was tainted by."""
    with running_daemon.running(work.SCRIPT) as daemon, daemon.api() as api:
        folder = api.projects.Create(projects_pb2.CreateProjectRequest(name="outputs")).folder
        origin = common_pb2.Origin(chat="c", message_id="m-2", forwarded=True)
        submit = tasks_pb2.SubmitRequest(text="`env seq 20000`", origin=origin)
        task_id = api.tasks.Submit(submit).task_id
        work.resolve(api, work.pending(api, task_id), approvals_pb2.ALLOW_ONCE)
        work.end(api, task_id)
        (ended,) = [one for one in work.events(api, task_id) if one.HasField("tool_call_ended")]
        request = projects_pb2.PutFileRequest(
            artifact_id=ended.tool_call_ended.artifact_id, name="output.txt", project="outputs"
        )
        assert api.projects.PutFile(request).media_type == "text/plain"
        tainted = [one.project_tainted for one in work.all_events(api)]
        sources = [one.sources for one in tainted if one.folder == folder]
        assert [[source.source_id for source in one] for one in sources] == [["m-2"]]


@pytest.mark.spec("K-15")
def test_a_kill_while_files_come_leaves_whole_files_alone() -> None:
    with running_daemon.running(work.SCRIPT) as daemon:
        with daemon.api() as api:
            project = api.projects.Create(projects_pb2.CreateProjectRequest(name="killed"))
            parts = [artifacts_pb2.PutArtifactRequest(data=b"x" * PART)] * PARTS
            artifact_id = api.artifacts.Put(iter(parts)).artifact_id
            given = [
                projects_pb2.PutFileRequest(
                    artifact_id=artifact_id, name=f"{number}.bin", project="killed", client_key=key
                )
                for number, key in enumerate(("a", "b", "c", "d"))
            ]
            coming = [api.projects.PutFile.future(one) for one in given]
            first = coming[0].result().path
            daemon.kill()
        incoming = pathlib.Path(project.folder) / "incoming"
        there = {
            f"incoming/{name}": (incoming / name).stat().st_size for name in os.listdir(incoming)
        }
        assert first in there
        assert {*there.values()} == {PART * PARTS}
        assert {*there} <= {f"incoming/{one.name}" for one in given}, "nothing else is left"
        daemon.start()
        with daemon.api() as api:
            again = [api.projects.PutFile(one).path for one in given]
            assert again == [f"incoming/{one.name}" for one in given], "each is the same file"
            assert len(got(api, again[-1], "killed")) == PART * PARTS
        assert len(os.listdir(incoming)) == len(given)


@pytest.mark.spec("K-15")
def test_nothing_outside_of_the_folder_and_nothing_secret_goes_out(
    api: running_daemon.Api, tmp_path: pathlib.Path
) -> None:
    folder = pathlib.Path(
        api.projects.Create(projects_pb2.CreateProjectRequest(name="shut")).folder
    )
    outside = tmp_path / "outside.txt"
    outside.write_text("outside")
    (folder / "link").symlink_to(outside)
    (folder / "folder-link").symlink_to(tmp_path)
    (folder / "hard").hardlink_to(outside)
    (folder / ".hidden").write_text("x")
    (folder / "server.pem").write_text("x")
    (folder / "plain.txt").write_text("plain")
    assert got(api, "plain.txt", "shut") == b"plain"
    codes = {
        path: refused(functools.partial(got, api, path, "shut"))
        for path in (
            "link",
            "folder-link/outside.txt",
            "hard",
            ".hidden",
            "server.pem",
            "../default",
            "/etc/passwd",
            "missing",
            "",
            "a\0b",
        )
    }
    assert grpc.StatusCode.OK not in codes.values()
    assert grpc.StatusCode.INTERNAL not in codes.values(), codes
    listed = api.projects.ListFiles(projects_pb2.ListFilesRequest(project="shut")).files
    assert [one.path for one in listed] == ["hard", "plain.txt", "server.pem"]
    (folder / "incoming").symlink_to(tmp_path)
    request = projects_pb2.PutFileRequest(artifact_id=put(api, b"x"), name="a", project="shut")
    assert refused(lambda: api.projects.PutFile(request)) is grpc.StatusCode.NOT_FOUND
    assert not (tmp_path / "a").exists()
