"""Which folder a conversation may be told to work in: a named project's, or the daemon's own."""

import posixpath

from daemon.domain import errors
from daemon.rpc import backend


async def named(served: backend.Backend, given: str) -> str:
    """The folder of a project, given by its full path or its name; empty for the daemon's own.

    Raises:
        errors.Refusal: there is no such project.
    """
    if not given:
        return ""
    wanted = posixpath.normpath("/" + given.lstrip("/")) if given.startswith("/") else given
    for project in await served.store.projects():
        if wanted in (project.folder, project.name):
            return project.folder
    raise errors.Refusal(
        errors.RefusalKind.NOT_FOUND,
        f"There is no project {given}. Name a folder as a project first.",
    )
