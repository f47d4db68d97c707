"""Requests about files of projects that must be refused."""

import grpc
from google.protobuf import message

from proto.ducklm.v1 import projects_pb2, tasks_pb2
from tests.integration.rpc import bad

Bad = bad.Bad
_CODE = grpc.StatusCode
_ARTIFACT = "0" * 64
_PATHS = {
    "an absolute path": ("/etc/passwd", _CODE.INVALID_ARGUMENT, "stays within it."),
    "a path above": ("a/../../b", _CODE.INVALID_ARGUMENT, "stays within it."),
    "a path with NUL": ("a\0b", _CODE.INVALID_ARGUMENT, "stays within it."),
    "a hidden path": ("a/.ssh/id", _CODE.PERMISSION_DENIED, "Hidden files stay where they are."),
    "a secret path": ("secrets/a.txt", _CODE.PERMISSION_DENIED, "looks like a secret"),
    "a missing path": ("none/a", _CODE.NOT_FOUND, "There is no none/a in the project."),
    "a long name": ("n" * 300, _CODE.FAILED_PRECONDITION, "File name too long"),
}


def _submit(name: str, *files: str, says: str) -> tuple[str, Bad]:
    request = tasks_pb2.SubmitRequest(text="x", files=files)
    return name, Bad("Tasks/Submit", request, _CODE.INVALID_ARGUMENT, says)


def _in(method: str, request: message.Message, says: str) -> Bad:
    return Bad(method, request, _CODE.NOT_FOUND, says)


_NO_FILE = "files are paths below the project's folder"
BAD: dict[str, Bad] = {
    **{
        f"get {name}": Bad("Projects/GetFile", projects_pb2.GetFileRequest(path=path), code, says)
        for name, (path, code, says) in _PATHS.items()
    },
    **{
        f"list {name}": Bad(
            "Projects/ListFiles", projects_pb2.ListFilesRequest(path=path), code, says
        )
        for name, (path, code, says) in _PATHS.items()
    },
    "get a file without a path": Bad(
        "Projects/GetFile",
        projects_pb2.GetFileRequest(),
        _CODE.INVALID_ARGUMENT,
        "path names a file of the project.",
    ),
    "list an unknown project": _in(
        "Projects/ListFiles",
        projects_pb2.ListFilesRequest(project="none"),
        "There is no project none.",
    ),
    "get from an unknown project": _in(
        "Projects/GetFile",
        projects_pb2.GetFileRequest(project="/none", path="a"),
        "There is no project /none.",
    ),
    "put into an unknown project": _in(
        "Projects/PutFile",
        projects_pb2.PutFileRequest(artifact_id=_ARTIFACT, name="a", project="none"),
        "There is no project none.",
    ),
    "put an unknown artifact": _in(
        "Projects/PutFile",
        projects_pb2.PutFileRequest(artifact_id=_ARTIFACT, name="a"),
        f"There is no artifact {_ARTIFACT}.",
    ),
    **dict(
        (
            _submit("17 files", *map(str, range(17)), says="files names 17 files; at most 16"),
            _submit("a file above", "incoming/../../a", says=_NO_FILE),
            _submit("an absolute file", "/etc/passwd", says=_NO_FILE),
            _submit("an empty file", "", says=_NO_FILE),
            _submit("a file on two lines", "a\nb", says=_NO_FILE),
            _submit("a file that turns around", "a\u202eb", says=_NO_FILE),
        )
    ),
}
