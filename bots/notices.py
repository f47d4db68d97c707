"""What is told of trust, grants and secrets: one notice for each of their events.

Answers for: the plain words of these events. It must never hold state, and no secret comes here.
"""

import datetime
import typing
from collections.abc import Iterable, Sequence

from bots import texts, views
from proto.ducklm.v1 import common_pb2, events_pb2

SOURCES_NAMED: typing.Final = 5


def of(event: events_pb2.Event) -> Sequence[views.View]:
    """The notice of an event of trust, a grant or a secret; none for any other."""
    text = _text(event)
    return (views.Notice(event.task_id, text),) if text else ()


def _text(event: events_pb2.Event) -> str:
    match event.WhichOneof("kind"):
        case "task_tainted":
            return texts.TASK_TAINTED.format(sources=sources(event.task_tainted.sources))
        case "project_tainted":
            tainted = event.project_tainted
            return texts.PROJECT_TAINTED.format(
                folder=tainted.folder, sources=sources(tainted.sources)
            )
        case "project_trusted":
            trusted = event.project_trusted
            return texts.PROJECT_TRUSTED.format(folder=trusted.folder, by=trusted.principal)
        case "grant_created":
            return _granted(event.grant_created)
        case "grant_revoked":
            revoked = event.grant_revoked
            return texts.GRANT_REVOKED.format(id=revoked.grant_id, by=revoked.principal)
        case "secret_requested":
            return texts.SECRET_REQUESTED.format(what=event.secret_requested.what)
        case "secret_provided":
            return texts.SECRET_PROVIDED.format(by=event.secret_provided.principal)
        case _:
            return ""


def _granted(created: events_pb2.GrantCreated) -> str:
    until = created.expires_at.ToDatetime(tzinfo=datetime.UTC).date().isoformat()
    return texts.GRANT_CREATED.format(
        id=created.grant_id, by=created.granted_by, until=until, uses=created.uses
    )


def sources(found: Iterable[common_pb2.TaintSource]) -> str:
    """Where untrusted text came from, in plain words; the first few."""
    named = [_source(one) for one in found]
    more = len(named) - SOURCES_NAMED
    if more > 0:
        named[SOURCES_NAMED:] = [texts.TAINT_MORE.format(count=more)]
    return ", ".join(named)


def _source(one: common_pb2.TaintSource) -> str:
    kind = texts.TAINT_KINDS.get(one.kind, one.kind)
    return f"{kind} ({one.source_id})" if one.source_id else kind
