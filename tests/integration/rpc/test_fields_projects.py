"""Every field of requests about projects is read back from what it did."""

import pathlib

import grpc

from proto.ducklm.v1 import approvals_pb2, common_pb2, projects_pb2, tasks_pb2
from tests import running_daemon
from tests.integration.rpc import covered, work

covers = covered.covers
refused = covered.refused
STRANGER = common_pb2.Origin(principal="telegram:bot:9")


def _touch(api: running_daemon.Api, project: str, name: str) -> None:
    """Have a task make a file in a project."""
    submit = tasks_pb2.SubmitRequest(text=f"`touch {name}`", folder=project)
    task_id = api.tasks.Submit(submit).task_id
    work.resolve(api, work.pending(api, task_id), approvals_pb2.ALLOW_ONCE)
    assert len(work.end(api, task_id).commits) == 1


@covers(projects_pb2.CreateProjectRequest, "name", "origin", "client_key")
@covers(projects_pb2.RegisterProjectRequest, "name", "folder", "origin", "client_key")
def test_projects_are_made_and_named(api: running_daemon.Api, tmp_path: pathlib.Path) -> None:
    create = projects_pb2.CreateProjectRequest(name="fields-made", client_key="fields make")
    made = api.projects.Create(create)
    assert made.name == "fields-made"
    assert api.projects.Create(create).folder == made.folder
    register = projects_pb2.RegisterProjectRequest(
        name="fields-named", folder=str(tmp_path), client_key="fields name"
    )
    for _ in range(2):
        named = api.projects.Register(register)
        assert (named.name, named.folder) == ("fields-named", str(tmp_path))
    listed = api.projects.List(projects_pb2.ListProjectsRequest()).projects
    assert {"fields-made", "fields-named"} <= {one.name for one in listed}
    create.origin.CopyFrom(STRANGER)
    register.origin.CopyFrom(STRANGER)
    assert refused(lambda: api.projects.Create(create)) is grpc.StatusCode.PERMISSION_DENIED
    assert refused(lambda: api.projects.Register(register)) is grpc.StatusCode.PERMISSION_DENIED


@covers(projects_pb2.ProjectLogRequest, "project", "page")
@covers(projects_pb2.ProjectDiffRequest, "project", "commit")
@covers(projects_pb2.ProjectRevertRequest, "project", "commits", "origin", "client_key")
def test_histories(api: running_daemon.Api) -> None:
    project = "fields-history"
    api.projects.Create(projects_pb2.CreateProjectRequest(name=project))
    _touch(api, project, "first")
    _touch(api, project, "second")
    asked = projects_pb2.ProjectLogRequest(project=project, page=common_pb2.Page(size=1))
    page = api.projects.Log(asked)
    (newest,) = page.commits
    asked.page.token = page.next_page_token
    (older,) = api.projects.Log(asked).commits
    for commit, name in ((newest, "second"), (older, "first")):
        diff = projects_pb2.ProjectDiffRequest(project=project, commit=commit.commit)
        assert name in api.projects.Diff(diff).diff
    revert = projects_pb2.ProjectRevertRequest(
        project=project, commits=[older.commit], origin=STRANGER, client_key="fields revert"
    )
    assert refused(lambda: api.projects.Revert(revert)) is grpc.StatusCode.PERMISSION_DENIED
    revert.origin.Clear()
    reverted = api.projects.Revert(revert)
    assert api.projects.Revert(revert) == reverted
    asked.page.token = ""
    assert list(api.projects.Log(asked).commits[0].reverts) == [older.commit]
