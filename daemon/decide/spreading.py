"""How taint spreads between tasks and folders: by where a call works, and by what it touches.

A project's files are untrusted when a tainted task may have written them. What lies in a tainted
folder is tainted, and so is what holds one: a call that works in either may read from it. Asks
nothing and decides nothing.
"""

from pathlib import PurePosixPath

from daemon.domain import inputs, principals, taints, world


def within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it; both are real and absolute."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def of_origin(origin: principals.Origin) -> taints.Taint:
    """What a forwarded message brings along: who wrote it is not who sent it."""
    if not origin.forwarded:
        return taints.CLEAN
    return (taints.Source(kind=taints.Kind.FORWARDED, source_id=origin.message_id),)


def of_call(current: world.World, given: inputs.CallInspected) -> taints.Taint:
    """What a call may read: of the files where it works, and of those that it names."""
    if not current.projects:
        return taints.CLEAN
    places = (given.folder, *(one.real for one in given.facts.touched))
    return taints.join(
        *(
            project.taint
            for project in current.projects.values()
            if any(within(one, project.folder) or within(project.folder, one) for one in places)
        )
    )


def of_place(current: world.World, folder: str) -> taints.Taint:
    """What is known of a folder's files, by itself or by a folder that it lies in."""
    projects = current.projects.values()
    return taints.join(*(one.taint for one in projects if within(folder, one.folder)))


def written(given: inputs.CallInspected) -> tuple[str, ...]:
    """The folders that a call may write into: where it works, and where it names a file to write
    elsewhere."""
    above = (str(PurePosixPath(one.real).parent) for one in given.facts.touched if one.writes)
    outside = (one for one in above if not within(one, given.folder))
    return tuple(one for one in dict.fromkeys((given.folder, *outside)) if one)


def tainted_within(current: world.World, folder: str) -> tuple[str, ...]:
    """The tainted folders that a folder is or holds."""
    return tuple(one for one in current.projects if within(one, folder))
