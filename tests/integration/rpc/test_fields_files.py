"""Files in and out of projects: every field of their requests, and what must never be reached."""

import functools
import pathlib

import grpc
import pytest

from proto.ducklm.v1 import artifacts_pb2, common_pb2, projects_pb2, tasks_pb2
from tests import running_daemon
from tests.integration.rpc import covered, work

covers = covered.covers
refused = covered.refused
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
