"""Projects: the folders that tasks work in, and what became of their files."""

import posixpath
import re
from collections.abc import AsyncIterator

from google.protobuf import message

from daemon.domain import decisions, errors, ids, inputs, principals, state, views
from daemon.rpc import backend, caller, convert, folders, interceptors, paging
from daemon.runtime import ports
from proto.ducklm.v1 import common_pb2, projects_pb2, projects_pb2_grpc

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_MOST_RUNNING = 500
_KIND = errors.RefusalKind


class Projects(projects_pb2_grpc.ProjectsServicer):
    """The Projects service."""

    def __init__(self, served: backend.Backend) -> None:
        self._served = served

    async def Create(
        self, request: projects_pb2.CreateProjectRequest, context: interceptors.Context
    ) -> projects_pb2.Project:
        principal = self._owner(request.origin, "add")
        folder = self._folders().made(_name(request.name))
        return await self._register(request, request.client_key, principal, request.name, folder)

    async def Register(
        self, request: projects_pb2.RegisterProjectRequest, context: interceptors.Context
    ) -> projects_pb2.Project:
        principal = self._owner(request.origin, "add")
        name = _name(request.name)
        folder = self._folders().checked(_folder(request.folder))
        return await self._register(request, request.client_key, principal, name, folder)

    async def List(
        self, request: projects_pb2.ListProjectsRequest, context: interceptors.Context
    ) -> projects_pb2.ListProjectsResponse:
        found = await self._served.store.projects()
        return projects_pb2.ListProjectsResponse(projects=[self._sent(one) for one in found])

    async def Trust(
        self, request: projects_pb2.TrustRequest, context: interceptors.Context
    ) -> projects_pb2.Project:
        who = caller.current()
        principal = convert.origin(request.origin, who.credential).principal
        reply = await self._served.inbox.ask(
            inputs.TrustProject(
                **convert.keyed(request, request.client_key, who, principal),
                folder=_folder(request.folder),
            )
        )
        return projects_pb2.Project(folder=_kept(reply))

    async def Log(
        self, request: projects_pb2.ProjectLogRequest, context: interceptors.Context
    ) -> projects_pb2.ProjectLogResponse:
        limit = paging.size(request.page)
        before = _commit(request.page.token) if request.page.token else ""
        folder = await self._named(request.project)
        try:
            commits = await self._history().log(folder, limit, before)
        except errors.HistoryFault as fault:
            raise _refused(fault) from fault
        more = commits[-1].commit if len(commits) == limit else ""
        return projects_pb2.ProjectLogResponse(
            commits=[_sent_commit(one) for one in commits], next_page_token=more
        )

    async def Diff(
        self, request: projects_pb2.ProjectDiffRequest, context: interceptors.Context
    ) -> projects_pb2.ProjectDiffResponse:
        commit = _commit(request.commit)
        folder = await self._named(request.project)
        try:
            diff = await self._history().diff(folder, commit)
        except errors.HistoryFault as fault:
            raise _refused(fault) from fault
        return projects_pb2.ProjectDiffResponse(diff=diff)

    async def Revert(
        self, request: projects_pb2.ProjectRevertRequest, context: interceptors.Context
    ) -> projects_pb2.ProjectRevertResponse:
        """Beside the loop: refused while a task runs in the folder, which would not know of it."""
        self._owner(request.origin, "take back changes of")
        commits = [_commit(one) for one in request.commits]
        if not commits:
            raise errors.Refusal(_KIND.INVALID, "commits names at least one commit to take back.")
        folder = await self._named(request.project)
        await self._check_at_rest(folder)
        try:
            commit = await self._history().revert(folder, commits)
        except errors.HistoryFault as fault:
            raise _refused(fault) from fault
        return projects_pb2.ProjectRevertResponse(commit=commit)

    async def PutFile(
        self, request: projects_pb2.PutFileRequest, context: interceptors.Context
    ) -> projects_pb2.ProjectFile:
        who = caller.current()
        stated = convert.origin(request.origin, who.credential)
        folder = await self._named(request.project)
        artifact_id = ids.ArtifactId(request.artifact_id)
        data = bytearray()
        async for chunk in self._served.artifacts.get(artifact_id):
            data += chunk
            if len(data) > self._served.artifact_bytes:
                limit = self._served.artifact_bytes
                raise errors.Refusal(_KIND.EXHAUSTED, f"The file is larger than {limit} bytes.")
        await self._served.inbox.ask(
            inputs.TaintProject(
                **convert.keyed(request, request.client_key, who, stated.principal),
                origin=stated,
                folder=folder,
                artifact_id=artifact_id,
            )
        )
        put = await self._files().put(folder, request.name, bytes(data))
        return _sent_file(put)

    async def ListFiles(
        self, request: projects_pb2.ListFilesRequest, context: interceptors.Context
    ) -> projects_pb2.ListFilesResponse:
        folder = await self._named(request.project)
        found, more = await self._files().list(folder, request.path)
        return projects_pb2.ListFilesResponse(files=map(_sent_file, found), more=more)

    async def GetFile(
        self, request: projects_pb2.GetFileRequest, context: interceptors.Context
    ) -> AsyncIterator[projects_pb2.FilePiece]:
        folder = await self._named(request.project)
        limit_bytes = self._served.artifact_bytes
        async for data in self._files().read(folder, request.path, limit_bytes):
            yield projects_pb2.FilePiece(data=data)

    def _files(self) -> ports.ProjectFiles:
        if self._served.files is None:
            raise errors.Refusal(_KIND.UNAVAILABLE, "This daemon has no projects.")
        return self._served.files

    def _owner(self, origin: common_pb2.Origin, what: str) -> principals.Principal:
        """Who asks, who has to be an owner: a folder of the machine is at stake."""
        principal = convert.origin(origin, caller.current().credential).principal
        if not self._served.is_owner(principal):
            raise errors.Refusal(
                _KIND.FORBIDDEN, f"Only the owner of this daemon may {what} a project."
            )
        return principal

    def _folders(self) -> ports.ProjectFolders:
        if self._served.folders is None:
            raise errors.Refusal(_KIND.UNAVAILABLE, "This daemon has no projects.")
        return self._served.folders

    def _history(self) -> ports.History:
        if self._served.history is None:
            raise errors.Refusal(_KIND.UNAVAILABLE, "This daemon keeps no history of projects.")
        return self._served.history

    async def _named(self, project: str) -> str:
        """The folder of the project that a request names."""
        return await folders.named(self._served, project) or self._folders().default

    async def _check_at_rest(self, folder: str) -> None:
        default = self._folders().default
        running = await self._served.store.tasks(
            _MOST_RUNNING, states=frozenset((state.TaskState.RUNNING,))
        )
        for task in running.rows:
            if (task.folder or default) == folder:
                raise errors.Refusal(
                    _KIND.STATE,
                    f"Task {task.task_id} runs in {folder}: wait for its end or cancel it first.",
                )

    async def _register(
        self,
        request: message.Message,
        client_key: str,
        principal: principals.Principal,
        name: str,
        folder: str,
    ) -> projects_pb2.Project:
        reply = await self._served.inbox.ask(
            inputs.RegisterProject(
                **convert.keyed(request, client_key, caller.current(), principal),
                name=name,
                folder=folder,
            )
        )
        kept = _kept(reply)
        for project in await self._served.store.projects():
            if project.folder == kept:
                return self._sent(project)
        return projects_pb2.Project(folder=kept, name=name)

    def _sent(self, project: views.ProjectView) -> projects_pb2.Project:
        return projects_pb2.Project(
            folder=project.folder,
            name=project.name,
            created_at=convert.timestamp(project.created_ms),
            missing=self._folders().missing(project.folder),
        )


def _sent_file(view: views.FileView) -> projects_pb2.ProjectFile:
    return projects_pb2.ProjectFile(
        path=view.path,
        folder=view.folder,
        size=view.size,
        media_type=view.media_type,
        modified_at=convert.timestamp(view.modified_ms) if view.modified_ms else None,
    )


def _sent_commit(view: views.CommitView) -> projects_pb2.Commit:
    return projects_pb2.Commit(
        commit=view.commit,
        at=convert.timestamp(view.at_ms),
        message=view.message,
        task_id=view.task_id,
        call_id=view.call_id,
        reverts=view.reverts,
    )


def _kept(reply: object) -> str:
    if not isinstance(reply, decisions.ProjectKept):
        raise TypeError(f"a project was answered with {type(reply).__name__}")
    return reply.folder


def _refused(fault: errors.HistoryFault) -> errors.Refusal:
    sentence = str(fault).rstrip(".")
    return errors.Refusal(_KIND.STATE, f"{sentence[:1].upper()}{sentence[1:]}.")


def _name(given: str) -> str:
    if not _NAME.fullmatch(given):
        raise errors.Refusal(
            _KIND.INVALID,
            "name is 1 to 41 small letters, digits, - and _, and begins with a letter or digit.",
        )
    return given


def _commit(given: str) -> str:
    if not _COMMIT.fullmatch(given):
        raise errors.Refusal(_KIND.INVALID, "A commit is named by the 40 digits of its whole id.")
    return given


def _folder(given: str) -> str:
    """A folder as the daemon names it: in full, with nothing to leave out."""
    if not given.startswith("/") or "\0" in given:
        raise errors.Refusal(
            _KIND.INVALID, "folder is a project's full path; it begins with a slash."
        )
    return posixpath.normpath("/" + given.lstrip("/"))
