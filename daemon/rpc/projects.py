"""Projects: the folders that tasks work in."""

import posixpath

from daemon.domain import decisions, errors, inputs
from daemon.rpc import backend, caller, convert, interceptors
from proto.ducklm.v1 import projects_pb2, projects_pb2_grpc


class Projects(projects_pb2_grpc.ProjectsServicer):
    """The Projects service."""

    def __init__(self, served: backend.Backend) -> None:
        self._served = served

    async def Trust(
        self, request: projects_pb2.TrustRequest, context: interceptors.Context
    ) -> projects_pb2.Project:
        who = caller.current()
        reply = await self._served.inbox.ask(
            inputs.TrustProject(
                credential=who.credential.name,
                principal=convert.origin(request.origin, who.credential).principal,
                correlation_id=who.correlation_id,
                client_key=request.client_key,
                body_hash=convert.body_hash(request),
                folder=_folder(request.folder),
            )
        )
        if not isinstance(reply, decisions.ProjectKept):
            raise TypeError(f"a project was answered with {type(reply).__name__}")
        return projects_pb2.Project(folder=reply.folder)


def _folder(given: str) -> str:
    """A folder as the daemon names it: in full, with nothing to leave out."""
    if not given.startswith("/") or "\0" in given:
        raise errors.Refusal(
            errors.RefusalKind.INVALID, "folder is a project's full path; it begins with a slash."
        )
    return posixpath.normpath("/" + given.lstrip("/"))
