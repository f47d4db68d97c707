"""What owners ask about projects: the folders that tasks work in."""

from daemon.decide import spreading, turn
from daemon.domain import decisions, errors, events, ids, inputs, principals, taints

_KIND = errors.RefusalKind
_HELD = "{folder} lies in a folder with untrusted text: look at that one, and trust it."
_OWNER_ONLY = "Only the owner of this daemon may {what} a project."


def _reject(kind: errors.RefusalKind, message: str) -> decisions.Rejected:
    return decisions.Rejected(refusal=kind, message=message)


def trust(current: turn.Turn, given: inputs.TrustProject) -> decisions.Reply | decisions.Rejected:
    """Clear a project's taint, and that of all below it: its owner has looked at its files."""
    if not current.rules.owners.is_owner(given.principal):
        return _reject(_KIND.FORBIDDEN, _OWNER_ONLY.replace("{what}", "trust"))
    tainted = spreading.tainted_within(current.world, given.folder)
    if not tainted and spreading.of_place(current.world, given.folder):
        return _reject(_KIND.STATE, _HELD.replace("{folder}", given.folder))
    for folder in tainted:
        conversation_id = current.world.projects[folder].conversation_id
        trusted = events.ProjectTrusted(folder=folder, principal=given.principal)
        current.record(trusted, conversation_id, given.correlation_id)
    return decisions.ProjectKept(folder=given.folder)


def taint(current: turn.Turn, given: inputs.TaintProject) -> decisions.Reply:
    """A file comes into a project's folder: what reads there has read what it holds."""
    sources = taints.join(spreading.of_origin(given.origin), current.known.taint)
    new = taints.beyond(sources, current.world.taint_of(given.folder))
    if new:
        place = principals.place(given.origin)
        conversation_id = current.world.places.get(place, ids.ConversationId(""))
        tainted = events.ProjectTainted(folder=given.folder, sources=new)
        current.record(tainted, conversation_id, given.correlation_id)
    return decisions.ProjectKept(folder=given.folder)


def register(
    current: turn.Turn, given: inputs.RegisterProject
) -> decisions.Reply | decisions.Rejected:
    """Name a folder; the same name for the same folder again is no fault."""
    if not current.rules.owners.is_owner(given.principal):
        return _reject(_KIND.FORBIDDEN, _OWNER_ONLY.replace("{what}", "add"))
    folder, name = current.known.project_folder, current.known.project_name
    if folder == given.folder:
        return decisions.ProjectKept(folder=given.folder)
    if folder is not None:
        message = f"There is a project {given.name} already, in {folder}. Choose another name."
        return _reject(_KIND.CONFLICT, message)
    if name is not None:
        return _reject(_KIND.CONFLICT, f"{given.folder} is the project {name} already.")
    current.keep_record(
        decisions.ProjectRecord(name=given.name, folder=given.folder, created_ms=current.at_ms)
    )
    return decisions.ProjectKept(folder=given.folder)
