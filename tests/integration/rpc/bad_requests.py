"""Requests that must be refused, each with its status and a part of its sentence."""

from collections.abc import Iterator

import grpc
from google.protobuf import message

from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    artifacts_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    projects_pb2,
    tasks_pb2,
)
from tests.integration.rpc import bad, bad_conversations, bad_files, bad_profiles

MEBIBYTE = 1024 * 1024

Bad = bad.Bad
_CODE = grpc.StatusCode
_PAGE = common_pb2.Page
_SUBMIT = tasks_pb2.SubmitRequest
_SECRET = approvals_pb2.ProvideSecretRequest
_ARTIFACT = "0" * 64
_LONG = "x" * 100_000


def _pages(page: common_pb2.Page, says: str) -> Iterator[Bad]:
    code = _CODE.INVALID_ARGUMENT
    yield Bad("Tasks/List", tasks_pb2.ListTasksRequest(page=page), code, says)
    yield Bad("Approvals/List", approvals_pb2.ListApprovalsRequest(page=page), code, says)
    conversations = conversations_pb2.ListConversationsRequest(page=page)
    yield Bad("Conversations/List", conversations, code, says)
    yield Bad("Admin/ListTokens", admin_pb2.ListTokensRequest(page=page), code, says)


BAD: dict[str, Bad] = {
    "empty text": Bad("Tasks/Submit", _SUBMIT(), _CODE.INVALID_ARGUMENT, "The text is empty."),
    "blank text": Bad(
        "Tasks/Submit", _SUBMIT(text=" \n\t "), _CODE.INVALID_ARGUMENT, "The text is empty."
    ),
    "ask without submit": Bad(
        "Tasks/Ask", tasks_pb2.AskRequest(), _CODE.INVALID_ARGUMENT, "The text is empty."
    ),
    "chat without submit": Bad(
        "Tasks/Chat", tasks_pb2.ChatRequest(), _CODE.INVALID_ARGUMENT, "The text is empty."
    ),
    "5 MiB text": Bad(
        "Tasks/Submit",
        _SUBMIT(text="x" * 5 * MEBIBYTE),
        _CODE.RESOURCE_EXHAUSTED,
        "The text has 5242880 bytes; at most 1048576 are taken.",
    ),
    "9 MiB text": Bad(
        "Tasks/Submit",
        _SUBMIT(text="x" * 9 * MEBIBYTE),
        _CODE.RESOURCE_EXHAUSTED,
        "larger than max",
    ),
    "too large by its bytes, not its characters": Bad(
        "Tasks/Submit",
        _SUBMIT(text="鴨" * 400_000),
        _CODE.RESOURCE_EXHAUSTED,
        "The text has 1200000 bytes",
    ),
    "unknown conversation": Bad(
        "Tasks/Submit",
        _SUBMIT(text="x", conversation_id="conversation-none"),
        _CODE.NOT_FOUND,
        "There is no conversation conversation-none.",
    ),
    "missing attachment": Bad(
        "Tasks/Submit",
        _SUBMIT(text="x", attachments=[_ARTIFACT]),
        _CODE.NOT_FOUND,
        f"There is no artifact {_ARTIFACT}.",
    ),
    "an attachment that is a path": Bad(
        "Tasks/Submit",
        _SUBMIT(text="x", attachments=["../token"]),
        _CODE.NOT_FOUND,
        "There is no artifact ../token.",
    ),
    "a principal that is none": Bad(
        "Tasks/Submit",
        _SUBMIT(text="x", origin=common_pb2.Origin(principal="nobody")),
        _CODE.INVALID_ARGUMENT,
        "origin.principal must look like platform:account:user.",
    ),
    "unknown task": Bad(
        "Tasks/Get",
        tasks_pb2.GetTaskRequest(task_id="task-none"),
        _CODE.NOT_FOUND,
        "There is no task task-none.",
    ),
    "cancel an unknown task": Bad(
        "Tasks/Cancel",
        tasks_pb2.CancelRequest(task_id="task-none"),
        _CODE.NOT_FOUND,
        "There is no task task-none.",
    ),
    "decide an unknown task": Bad(
        "Tasks/Decide",
        tasks_pb2.DecideRequest(task_id="task-none", decision=tasks_pb2.ABANDON),
        _CODE.NOT_FOUND,
        "There is no task task-none.",
    ),
    "no decision": Bad(
        "Tasks/Decide",
        tasks_pb2.DecideRequest(task_id="task-none"),
        _CODE.INVALID_ARGUMENT,
        "decision is one of MARK_DONE, RUN_AGAIN, ABANDON, RETRY.",
    ),
    "unknown approval": Bad(
        "Approvals/Get",
        approvals_pb2.GetApprovalRequest(approval_id="approval-none"),
        _CODE.NOT_FOUND,
        "There is no approval approval-none.",
    ),
    "resolve an unknown approval": Bad(
        "Approvals/Resolve",
        approvals_pb2.ResolveRequest(approval_id="approval-none", answer=approvals_pb2.DENY),
        _CODE.NOT_FOUND,
        "There is no approval approval-none.",
    ),
    "no answer": Bad(
        "Approvals/Resolve",
        approvals_pb2.ResolveRequest(approval_id="approval-none"),
        _CODE.INVALID_ARGUMENT,
        "answer is one of ALLOW_ONCE, ALLOW_ALWAYS, DENY.",
    ),
    "a mode for a conversation that is there": Bad(
        "Tasks/Submit",
        _SUBMIT(text="x", conversation_id="conversation-none", mode=common_pb2.PLAN),
        _CODE.NOT_FOUND,
        "There is no conversation conversation-none.",
    ),
    "revoke an unknown grant": Bad(
        "Approvals/RevokeGrant",
        approvals_pb2.RevokeGrantRequest(grant_id="grant-none"),
        _CODE.NOT_FOUND,
        "There is no grant grant-none: it was revoked, used up or has expired.",
    ),
    "a secret for an unknown task": Bad(
        "Approvals/ProvideSecret",
        _SECRET(task_id="task-none", secret=b"x"),
        _CODE.NOT_FOUND,
        "There is no task task-none.",
    ),
    "an empty secret": Bad(
        "Approvals/ProvideSecret", _SECRET(), _CODE.INVALID_ARGUMENT, "The secret is empty."
    ),
    "a secret of two lines": Bad(
        "Approvals/ProvideSecret",
        _SECRET(secret=b"one\ntwo"),
        _CODE.INVALID_ARGUMENT,
        "A secret is one line: ",
    ),
    "a secret with a line's end": Bad(
        "Approvals/ProvideSecret",
        _SECRET(secret=b"one\r"),
        _CODE.INVALID_ARGUMENT,
        "not even at its end.",
    ),
    "a secret with a NUL": Bad(
        "Approvals/ProvideSecret",
        _SECRET(secret=b"a\0b"),
        _CODE.INVALID_ARGUMENT,
        "A secret is one line: ",
    ),
    "a secret that is too long": Bad(
        "Approvals/ProvideSecret",
        _SECRET(secret=b"x" * 4097),
        _CODE.INVALID_ARGUMENT,
        "A secret has at most 4096 bytes.",
    ),
    "trust a folder that is no full path": Bad(
        "Projects/Trust",
        projects_pb2.TrustRequest(folder="project"),
        _CODE.INVALID_ARGUMENT,
        "folder is a project's full path",
    ),
    "subscribe to an unknown task": Bad(
        "Events/Subscribe",
        events_pb2.SubscribeRequest(task_id="task-none"),
        _CODE.NOT_FOUND,
        "There is no task task-none.",
    ),
    "subscribe to an unknown conversation": Bad(
        "Events/Subscribe",
        events_pb2.SubscribeRequest(conversation_id="conversation-none"),
        _CODE.NOT_FOUND,
        "There is no conversation conversation-none.",
    ),
    "after_seq beyond the head": Bad(
        "Events/Subscribe",
        events_pb2.SubscribeRequest(after_seq=1_000_000_000),
        _CODE.INVALID_ARGUMENT,
        "after_seq must lie between 0 and ",
    ),
    "list after_seq beyond the head": Bad(
        "Events/List",
        events_pb2.ListEventsRequest(after_seq=1_000_000_000),
        _CODE.INVALID_ARGUMENT,
        "after_seq must lie between 0 and ",
    ),
    "negative after_seq": Bad(
        "Events/List",
        events_pb2.ListEventsRequest(after_seq=-1),
        _CODE.INVALID_ARGUMENT,
        "after_seq must lie between 0 and ",
    ),
    "too many events": Bad(
        "Events/List",
        events_pb2.ListEventsRequest(limit=501),
        _CODE.INVALID_ARGUMENT,
        "A page has 1 to 500 rows, not 501.",
    ),
    "a token without a scope": Bad(
        "Admin/CreateToken",
        admin_pb2.CreateTokenRequest(name="x"),
        _CODE.INVALID_ARGUMENT,
        "Name the scopes: RUN, READ, APPROVE, CHANNEL, ADMIN.",
    ),
    "a token with an unnamed scope": Bad(
        "Admin/CreateToken",
        admin_pb2.CreateTokenRequest(name="x", scopes=[admin_pb2.Token.SCOPE_UNSPECIFIED]),
        _CODE.INVALID_ARGUMENT,
        "Name the scopes: RUN, READ, APPROVE, CHANNEL, ADMIN.",
    ),
    "a token named like a path": Bad(
        "Admin/CreateToken",
        admin_pb2.CreateTokenRequest(name="../token", scopes=[admin_pb2.Token.RUN]),
        _CODE.INVALID_ARGUMENT,
        "name has 1 to 64 of ",
    ),
    "revoke an unknown token": Bad(
        "Admin/RevokeToken",
        admin_pb2.RevokeTokenRequest(token_id="token-none"),
        _CODE.NOT_FOUND,
        "There is no token token-none.",
    ),
    "unknown artifact": Bad(
        "Artifacts/Get",
        artifacts_pb2.GetArtifactRequest(artifact_id=_ARTIFACT),
        _CODE.NOT_FOUND,
        f"There is no artifact {_ARTIFACT}.",
    ),
    "an artifact that is a path": Bad(
        "Artifacts/Get",
        artifacts_pb2.GetArtifactRequest(artifact_id="../../token"),
        _CODE.NOT_FOUND,
        "There is no artifact ../../token.",
    ),
    "artifact over the limit": Bad(
        "Artifacts/Put",
        artifacts_pb2.PutArtifactRequest(data=b"x" * MEBIBYTE),
        _CODE.RESOURCE_EXHAUSTED,
        "The artifact is larger than 1048575 bytes.",
    ),
    "artifact part over the limit": Bad(
        "Artifacts/Put",
        artifacts_pb2.PutArtifactRequest(data=b"x" * (MEBIBYTE + 1)),
        _CODE.RESOURCE_EXHAUSTED,
        "A part has at most 1048576 bytes.",
    ),
}
BAD |= bad_conversations.BAD | bad_files.BAD | bad_profiles.BAD
_NO_TOKEN = "page.token must be the next_page_token of a page."
_BAD_PAGES = {
    "501 rows": (_PAGE(size=501), "A page has 1 to 500 rows, not 501."),
    "-1 rows": (_PAGE(size=-1), "A page has 1 to 500 rows, not -1."),
    "a word as token": (_PAGE(token="first"), _NO_TOKEN),
    "a negative token": (_PAGE(token="-1"), _NO_TOKEN),
    "a foreign digit as token": (_PAGE(token="٣"), _NO_TOKEN),
    "a token beyond 64 bits": (_PAGE(token="9" * 19), _NO_TOKEN),
    "a token of 900 digits": (_PAGE(token="9" * 900), _NO_TOKEN),
}
BAD |= {
    f"{bad.method}: {name}": bad
    for name, (page, says) in _BAD_PAGES.items()
    for bad in _pages(page, says)
}


def _long(method: str, request: message.Message) -> tuple[str, Bad]:
    return f"long {method}", Bad(
        method, request, _CODE.INVALID_ARGUMENT, " has 100000 bytes; at most "
    )


BAD |= dict(
    (
        _long("Tasks/Get", tasks_pb2.GetTaskRequest(task_id=_LONG)),
        _long("Tasks/Submit", _SUBMIT(text="x", client_key=_LONG)),
        (
            "65 attachments",
            Bad(
                "Tasks/Submit",
                _SUBMIT(text="x", attachments=[_ARTIFACT] * 65),
                _CODE.INVALID_ARGUMENT,
                "attachments has 65 items; at most 64 are taken.",
            ),
        ),
        _long("Tasks/Ask", tasks_pb2.AskRequest(submit=_SUBMIT(text="x", conversation_id=_LONG))),
        _long("Tasks/Chat", tasks_pb2.ChatRequest(submit=_SUBMIT(text="x", attachments=[_LONG]))),
        _long("Tasks/Cancel", tasks_pb2.CancelRequest(task_id=_LONG)),
        _long("Tasks/List", tasks_pb2.ListTasksRequest(conversation_id=_LONG)),
        _long("Approvals/Get", approvals_pb2.GetApprovalRequest(approval_id=_LONG)),
        _long("Conversations/Create", conversations_pb2.CreateConversationRequest(title=_LONG)),
        _long("Conversations/Undo", conversations_pb2.UndoRequest(client_key=_LONG)),
        _long("Tasks/Feedback", tasks_pb2.FeedbackRequest(good=True, text=_LONG)),
        _long(
            "Approvals/Resolve",
            approvals_pb2.ResolveRequest(
                approval_id="x",
                answer=approvals_pb2.DENY,
                origin=common_pb2.Origin(chat=_LONG),
            ),
        ),
        _long("Approvals/RevokeGrant", approvals_pb2.RevokeGrantRequest(grant_id=_LONG)),
        _long("Approvals/ProvideSecret", _SECRET(task_id=_LONG, secret=b"x")),
        _long("Projects/Trust", projects_pb2.TrustRequest(folder="/" + _LONG[1:])),
        _long("Admin/CreateToken", admin_pb2.CreateTokenRequest(name=_LONG)),
        _long("Admin/RevokeToken", admin_pb2.RevokeTokenRequest(token_id=_LONG)),
        _long("Artifacts/Get", artifacts_pb2.GetArtifactRequest(artifact_id=_LONG)),
        _long("Events/Subscribe", events_pb2.SubscribeRequest(task_id=_LONG)),
    )
)
