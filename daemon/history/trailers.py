"""What a commit says beside its message: who made it, and what it takes back.

The last paragraph of a message that this module wrote. The text before it is one line that no
caller can break, so nothing that a call is named can pass for a trailer.
"""

import re
from collections.abc import Sequence

from daemon.domain import views
from daemon.history import git

_MOST_SUBJECT_CHARS = 200
_TASK, _CALL, _REVERTS = "DuckLM-Task", "DuckLM-Call", "DuckLM-Reverts"
_NOT_ID = re.compile(r"[^\w.:-]")


def message(text: str, task_id: str = "", call_id: str = "", reverts: Sequence[str] = ()) -> str:
    """The whole message of a commit."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    subject = " ".join(shown.split())[:_MOST_SUBJECT_CHARS] or "A change"
    lines = [
        f"{key}: {_NOT_ID.sub('', value)}"
        for key, value in ((_TASK, task_id), (_CALL, call_id))
        if value
    ]
    lines += [f"{_REVERTS}: {commit}" for commit in reverts]
    return "\n".join([subject, *(("", *lines) if lines else ())])


def view(commit: git.Commit) -> views.CommitView:
    """A commit as it is shown."""
    subject, _, rest = commit.message.partition("\n\n")
    values: dict[str, list[str]] = {}
    for line in rest.split("\n"):
        key, _, value = line.partition(": ")
        values.setdefault(key, []).append(value)
    return views.CommitView(
        commit=commit.commit,
        at_ms=commit.at_seconds * 1000,
        message=subject.strip(),
        task_id=values.get(_TASK, [""])[0],
        call_id=values.get(_CALL, [""])[0],
        reverts=tuple(values.get(_REVERTS, ())),
    )


def taken_back(newest_first: Sequence[views.CommitView]) -> dict[str, str]:
    """The commits that are taken back now, each with the commit that did it.

    A commit that was itself taken back counts for nothing.
    """
    found: dict[str, str] = {}
    for commit in newest_first:
        if commit.commit not in found:
            for reverted in commit.reverts:
                found.setdefault(reverted, commit.commit)
    return found
