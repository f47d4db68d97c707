"""What a project's files would be without some commits: computed as a tree, nothing is changed.

A file that is as the commit left it goes back to what it was. One that was changed since is merged,
line by line; where both touch the same lines, or it is no text, it stands in the way.
"""

from collections.abc import Iterable

from daemon.domain import errors
from daemon.history import git, names, objects, walk

_MOST_NAMED = 10


def without(
    files: objects.Tree,
    newest_first: Iterable[str],
    asked: git.Git,
    writes: objects.Objects,
    deadline: walk.Deadline,
) -> dict[bytes, objects.Kept]:
    """The files without what these commits changed.

    Raises:
        HistoryFault: files were changed since so that it cannot be; it names them.
    """
    result = dict(files)
    in_the_way: set[bytes] = set()
    with asked.contents() as contents:
        for commit in newest_first:
            for edit in asked.edits(commit, deadline):
                now = result.get(edit.path)
                if now == edit.before:
                    continue
                if now == edit.after:
                    back = edit.before
                else:
                    back = _merged(now, edit, asked, contents, writes, deadline)
                    if back is None:
                        in_the_way.add(edit.path)
                        continue
                if back is None:
                    result.pop(edit.path, None)
                else:
                    result[edit.path] = back
    in_the_way |= _both_file_and_folder(result)
    if in_the_way:
        raise blocked(in_the_way)
    return result


def blocked(paths: Iterable[bytes]) -> errors.HistoryFault:
    """The fault that names files which were changed since."""
    shown = [names.shown(path) for path in sorted(paths)]
    named = ", ".join(shown[:_MOST_NAMED])
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return errors.HistoryFault(
        f"Not taken back: {named}{more} changed since. Nothing was changed.", shown
    )


def _merged(
    now: objects.Kept | None,
    edit: git.Edit,
    asked: git.Git,
    contents: git.Contents,
    writes: objects.Objects,
    deadline: walk.Deadline,
) -> objects.Kept | None:
    """A file that was changed since, without what the commit changed in it; None: it cannot be."""
    if now is None or edit.before is None or edit.after is None:
        return None
    if objects.LINK in (now.mode, edit.before.mode, edit.after.mode):
        return None
    mode = edit.before.mode if now.mode == edit.after.mode else now.mode
    if edit.before.oid == edit.after.oid:
        return objects.Kept(mode, now.oid)
    if now.oid == edit.after.oid:
        return objects.Kept(mode, edit.before.oid)
    texts = [contents.read(one.oid) for one in (now, edit.after, edit.before)]
    merged = asked.merged(texts[0], texts[1], texts[2], deadline)
    return None if merged is None else objects.Kept(mode, writes.add(b"blob", merged))


def _both_file_and_folder(files: Iterable[bytes]) -> set[bytes]:
    """Files that would lie where others need a folder."""
    folders: set[bytes] = set()
    paths = set(files)
    for path in paths:
        while (path := path.rpartition(b"/")[0]) and path not in folders:
            folders.add(path)
    return folders & paths
