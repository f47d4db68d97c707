"""What is kept with events but is not of the log.

Content, answers to keyed writes, tokens, projects, presets, checkpoints, and how the last run
ended.

Never deletes content: to forget a text is to null it, so that what refers to it stays readable.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import assert_never

import pydantic
import sqlalchemy

from daemon.domain import (
    base,
    decisions,
    ids,
    presets as preset_values,
    principals,
    taints,
    views,
    world,
)
from daemon.storage import bulk, codec

_REPLY: pydantic.TypeAdapter[decisions.Reply] = pydantic.TypeAdapter(
    decisions.Reply, config=codec.WITH_THE_FIRST
)
_TAINT: pydantic.TypeAdapter[taints.Taint] = pydantic.TypeAdapter(
    taints.Taint, config=codec.WITH_THE_FIRST
)
_SCOPES: pydantic.TypeAdapter[frozenset[principals.Scope]] = pydantic.TypeAdapter(
    frozenset[principals.Scope], config=codec.WITH_THE_FIRST
)
_NEW_TAINT = bulk.Upsert("artifact_id", ("taint",))
_NEW_CHECKPOINT = bulk.Upsert("head_seq", ("version", "body"))

CHECKPOINTS_KEPT = 2
DAY_MS = 24 * 3600 * 1000


def insert(
    connection: sqlalchemy.Connection,
    records: Sequence[decisions.Record],
    deleted: Collection[ids.ConversationId] = (),
) -> None:
    """Keep contents, client keys, tokens and their ends. What is there already is an error.

    Of a text that comes late, for a conversation that is deleted, only the id is kept.
    """
    contents: list[bulk.Row] = []
    keys: list[bulk.Row] = []
    forgotten: list[decisions.ForgottenRecord] = []
    for record in records:
        match record:
            case decisions.ContentRecord():
                text = None if record.owner in deleted else record.text
                row = (record.content_id, record.owner, text, _taint_text(record.taint))
                contents.append(row)
            case decisions.ArtifactTaint():
                _taint_artifact(connection, record)
            case decisions.ClientKeyRecord():
                reply = codec.to_json(record.reply)
                owner = (record.credential, record.client_key)
                keys.append((*owner, record.body_hash, reply, record.at_ms))
            case decisions.TokenRecord():
                bulk.insert(connection, "token", [_token_row(record)])
            case decisions.TokenRevoked():
                _revoke_token(connection, record)
            case decisions.ProjectRecord():
                project = (record.name, record.folder, record.created_ms)
                bulk.insert(connection, "project", [project])
            case decisions.ProfileRecord():
                _keep_preset(connection, "profile", record.name, record.profile)
            case decisions.SkillRecord():
                _keep_preset(connection, "skill", record.name, record.skill)
            case decisions.CursorRecord():
                cursor = (record.credential, record.name, record.value)
                bulk.run(connection, "INSERT OR REPLACE INTO cursor VALUES (?, ?, ?)", cursor)
            case decisions.ForgottenRecord():
                forgotten.append(record)
            case _:
                assert_never(record)
    bulk.insert(connection, "content", contents)
    bulk.insert(connection, "client_key", keys)
    for record in forgotten:
        bulk.run(connection, "UPDATE content SET text = NULL WHERE owner = ?", (record.owner,))


def _taint_text(taint: taints.Taint) -> str | None:
    return _TAINT.dump_json(taint).decode() if taint else None


def _taint_artifact(connection: sqlalchemy.Connection, given: decisions.ArtifactTaint) -> None:
    taint = taints.join(artifact_taint(connection, (given.artifact_id,)), given.taint)
    row = (given.artifact_id, _taint_text(taint))
    bulk.insert(connection, "artifact_taint", [row], _NEW_TAINT)


def artifact_taint(
    connection: sqlalchemy.Connection, artifact_ids: Sequence[ids.ArtifactId]
) -> taints.Taint:
    """Every source of untrusted text in some artifacts."""
    text = f"SELECT taint FROM artifact_taint WHERE artifact_id IN ({_places(artifact_ids)})"
    return _joined(connection.exec_driver_sql(text, tuple(artifact_ids)).scalars())


def content_taint(
    connection: sqlalchemy.Connection, content_ids: Sequence[ids.ContentId]
) -> taints.Taint:
    """Every source of untrusted text in some contents."""
    text = f"SELECT taint FROM content WHERE content_id IN ({_places(content_ids)})"
    return _joined(connection.exec_driver_sql(text, tuple(content_ids)).scalars())


def _joined(found: Iterable[str | None]) -> taints.Taint:
    return taints.join(*(_TAINT.validate_json(text) for text in found if text is not None))


def _token_row(given: decisions.TokenRecord) -> bulk.Row:
    """The row of a new token; the database numbers it."""
    who = (given.principal, " ".join(sorted(given.scopes)))
    return (None, given.token_id, given.name, given.digest, *who, given.created_ms, None)


def _revoke_token(connection: sqlalchemy.Connection, given: decisions.TokenRevoked) -> None:
    text = "UPDATE token SET revoked_ms = ? WHERE token_id = ? AND revoked_ms IS NULL"
    bulk.run(connection, text, (given.revoked_ms, given.token_id))


def scopes(text: str) -> frozenset[principals.Scope]:
    """The scopes of a token's row."""
    return _SCOPES.validate_python(frozenset(text.split()))


def live_tokens(connection: sqlalchemy.Connection) -> tuple[decisions.TokenRecord, ...]:
    """The tokens that are not revoked, oldest first."""
    found = connection.exec_driver_sql(
        "SELECT token_id, name, digest, principal, scopes, created_ms FROM token "
        "WHERE revoked_ms IS NULL ORDER BY created_seq"
    )
    return tuple(
        decisions.TokenRecord(
            token_id=ids.TokenId(row.token_id),
            name=row.name,
            digest=row.digest,
            principal=principals.Principal(row.principal),
            scopes=scopes(row.scopes),
            created_ms=row.created_ms,
        )
        for row in found
    )


def projects(connection: sqlalchemy.Connection) -> tuple[views.ProjectView, ...]:
    """Every named project, by name."""
    text = "SELECT name, folder, created_ms FROM project ORDER BY name"
    return tuple(
        views.ProjectView(name=name, folder=folder, created_ms=created_ms)
        for name, folder, created_ms in connection.exec_driver_sql(text)
    )


def project_folder(connection: sqlalchemy.Connection, name: str) -> str | None:
    """What a named project is."""
    text = "SELECT folder FROM project WHERE name = ?"
    return connection.exec_driver_sql(text, (name,)).scalar()


def project_name(connection: sqlalchemy.Connection, folder: str) -> str | None:
    """What a folder is named."""
    text = "SELECT name FROM project WHERE folder = ?"
    return connection.exec_driver_sql(text, (folder,)).scalar()


def cursor(connection: sqlalchemy.Connection, credential: str, name: str) -> str:
    """What a bot kept under a name; empty for nothing."""
    text = "SELECT value FROM cursor WHERE credential = ? AND name = ?"
    found = connection.exec_driver_sql(text, (credential, name)).scalar()
    return "" if found is None else str(found)


def _keep_preset(
    connection: sqlalchemy.Connection, kind: str, name: str, preset: base.Value | None
) -> None:
    if preset is None:
        bulk.run(connection, "DELETE FROM preset WHERE kind = ? AND name = ?", (kind, name))
    else:
        text = "INSERT OR REPLACE INTO preset (kind, name, body) VALUES (?, ?, ?)"
        bulk.run(connection, text, (kind, name, codec.to_json(preset)))


def presets(connection: sqlalchemy.Connection) -> preset_values.Kept:
    """The profiles and skills that were set, by name."""
    profiles: dict[str, preset_values.Profile] = {}
    skills: dict[str, preset_values.Skill] = {}
    text = "SELECT kind, name, body FROM preset ORDER BY kind, name"
    for kind, name, body in connection.exec_driver_sql(text):
        if kind == "profile":
            profiles[name] = preset_values.Profile.model_validate_json(body)
        else:
            skills[name] = preset_values.Skill.model_validate_json(body)
    return preset_values.Kept(profiles=profiles, skills=skills)


def texts(
    connection: sqlalchemy.Connection, content_ids: Iterable[ids.ContentId]
) -> dict[ids.ContentId, str | None]:
    """Texts by id; None for one that was forgotten or never kept."""
    found: dict[ids.ContentId, str | None] = dict.fromkeys(content_ids)
    wanted = tuple(found)
    text = f"SELECT content_id, text FROM content WHERE content_id IN ({_places(wanted)})"
    for content_id, kept in connection.exec_driver_sql(text, wanted):
        found[content_id] = kept
    return found


def forget(connection: sqlalchemy.Connection, content_ids: Sequence[ids.ContentId]) -> None:
    """Null texts."""
    text = f"UPDATE content SET text = NULL WHERE content_id IN ({_places(content_ids)})"
    connection.exec_driver_sql(text, tuple(content_ids))


def _places(values: Sequence[str]) -> str:
    return bulk.placeholders(len(values))


def client_key(
    connection: sqlalchemy.Connection, credential: str, key: str
) -> tuple[str, decisions.Reply] | None:
    """The hash of the body that came with a client key, and its reply."""
    found = connection.exec_driver_sql(
        "SELECT body_hash, reply FROM client_key WHERE credential = ? AND client_key = ?",
        (credential, key),
    ).one_or_none()
    return None if found is None else (found[0], _REPLY.validate_json(found[1]))


def expire_client_keys(connection: sqlalchemy.Connection, before_ms: int) -> None:
    """Delete client keys that were kept before a time."""
    connection.exec_driver_sql("DELETE FROM client_key WHERE at_ms < ?", (before_ms,))


def insert_checkpoint(connection: sqlalchemy.Connection, checkpoint: world.Snapshot) -> None:
    """Keep a checkpoint, and of the earlier ones only the newest."""
    row = (checkpoint.head_seq, checkpoint.version, codec.to_json(checkpoint))
    bulk.insert(connection, "checkpoint", [row], _NEW_CHECKPOINT)
    connection.exec_driver_sql(
        "DELETE FROM checkpoint WHERE head_seq NOT IN "
        "(SELECT head_seq FROM checkpoint ORDER BY head_seq DESC LIMIT ?)",
        (CHECKPOINTS_KEPT,),
    )


def latest_checkpoint(connection: sqlalchemy.Connection) -> world.Snapshot | None:
    """The newest checkpoint that this version can read."""
    found = connection.exec_driver_sql(
        "SELECT body FROM checkpoint WHERE version = ? ORDER BY head_seq DESC",
        (world.SNAPSHOT_VERSION,),
    )
    for (body,) in found.all():
        try:
            return world.Snapshot.model_validate_json(body)
        except pydantic.ValidationError:
            continue
    return None


def drained(connection: sqlalchemy.Connection) -> bool:
    """Whether the last run ended by draining."""
    return bool(connection.exec_driver_sql("SELECT drained FROM run").scalar_one())


def set_drained(connection: sqlalchemy.Connection, value: bool) -> None:
    """Note whether this run has drained."""
    connection.exec_driver_sql("UPDATE run SET drained = ?", (int(value),))
