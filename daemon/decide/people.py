"""Who may talk through a bot: owners, those that the settings name, and those an owner lets in.

Judged here for whatever a bot asks in somebody's name, so that a bot which forgets to look cannot
let a stranger in.
"""

from daemon.decide import channels, turn
from daemon.domain import decisions, errors, events, inputs, principals, world

_KIND = errors.RefusalKind
OPEN_REQUESTS = 16
"""How many may wait for an owner's word at once."""
REQUEST_MS = 24 * 3600 * 1000
_NAME_CHARS = 64

_OF_NOBODY = (
    inputs.ReportDelivery,
    inputs.PostNotice,
    inputs.MoveChat,
    inputs.SetCursor,
    inputs.RequestPairing,
)
"""What bots do for themselves, or for people who are not in yet."""
_OWNER = "owner"


def _reject(kind: errors.RefusalKind, message: str) -> decisions.Rejected:
    return decisions.Rejected(refusal=kind, message=message)


def is_in(rules: turn.Rules, current: world.World, who: principals.Principal) -> bool:
    """Whether somebody may talk."""
    if rules.owners.is_owner(who) or rules.people.has(who):
        return True
    person = current.people.get(who)
    return person is not None and person.state is world.PersonState.ALLOWED


def refused(current: turn.Turn, given: inputs.RpcInput) -> decisions.Rejected | None:
    """The refusal of what a bot asks in the name of somebody who may not talk."""
    if isinstance(given, _OF_NOBODY) or given.credential == _OWNER:
        return None
    if not principals.is_chat_user(given.principal):
        return None
    if is_in(current.rules, current.world, given.principal):
        return None
    message = f"{given.principal} may not talk here: an owner lets people in."
    return _reject(_KIND.FORBIDDEN, message)


def _is_recent(current: turn.Turn, one: world.Person) -> bool:
    """Whether a request still waits; later it is made anew, with another code."""
    return current.at_ms - one.asked_ms < REQUEST_MS


def request(
    current: turn.Turn, given: inputs.RequestPairing
) -> decisions.Reply | decisions.Rejected:
    """Ask the owners whether somebody may talk; who asked already keeps the code."""
    who = given.principal
    if not principals.is_chat_user(who):
        return _reject(_KIND.INVALID, "origin.principal must be a person of a chat platform.")
    kept = decisions.PersonKept(principal=who)
    known = current.world.people.get(who)
    if is_in(current.rules, current.world, who):
        return kept
    if known is not None and known.state is world.PersonState.REFUSED:
        return kept
    if known is not None and _is_recent(current, known):
        return kept
    asking = world.PersonState.ASKED
    recent = (
        one
        for one in current.world.people.values()
        if one.state is asking and _is_recent(current, one)
    )
    if sum(1 for _ in recent) >= OPEN_REQUESTS:
        message = f"{OPEN_REQUESTS} people wait to be let in already. Try again later."
        return _reject(_KIND.EXHAUSTED, message)
    name = "".join(one if one.isprintable() else " " for one in given.name).strip()
    asked = events.PairingRequested(
        principal=who,
        name=name[:_NAME_CHARS] or principals.user_of(who),
        code=current.ids.pairing_code(),
        chats=tuple(sorted(current.rules.owners.users(principals.platform(who)))),
    )
    current.record(asked, channels.NO_CONVERSATION, given.correlation_id)
    return kept


def decide(current: turn.Turn, given: inputs.DecidePairing) -> decisions.Reply | decisions.Rejected:
    """Let somebody in, or not, or not any longer; the same word again changes nothing."""
    if not current.rules.owners.is_owner(given.principal):
        return _reject(_KIND.FORBIDDEN, "Only an owner lets people in.")
    found = [
        one
        for one in current.world.people.values()
        if (given.person is not None and one.principal == given.person)
        or (given.code and one.code == given.code and _is_recent(current, one))
    ]
    if len(found) > 1:
        return _reject(_KIND.INVALID, "Several people ask with this code: name the principal.")
    known = found[0] if found else None
    who = known.principal if known is not None else given.person
    if who is None or not principals.is_chat_user(who):
        return _reject(_KIND.NOT_FOUND, "Nobody asks to talk by that principal or code.")
    kept = decisions.PersonKept(principal=who)
    decided = world.PersonState.ALLOWED if given.allow else world.PersonState.REFUSED
    if known is not None and known.state is decided:
        return kept
    if current.rules.people.has(who) and not given.allow:
        message = f"{who} is named in the section [people] of daemon.toml: take them out there."
        return _reject(_KIND.STATE, message)
    word = events.PairingDecided(
        principal=who,
        allowed=given.allow,
        decided_by=given.principal,
        code=known.code if known is not None else "",
        chats=known.chats if known is not None else (),
    )
    current.record(word, channels.NO_CONVERSATION, given.correlation_id)
    return kept
