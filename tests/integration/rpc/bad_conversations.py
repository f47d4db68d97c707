"""Requests about conversations and answers that must be refused."""

import grpc

from proto.ducklm.v1 import common_pb2, conversations_pb2, tasks_pb2
from tests.integration.rpc import bad

Bad = bad.Bad
_CODE = grpc.StatusCode
_SUBMIT = tasks_pb2.SubmitRequest

BAD: dict[str, Bad] = {
    "get an unknown conversation": Bad(
        "Conversations/Get",
        conversations_pb2.GetConversationRequest(conversation_id="conversation-none"),
        _CODE.NOT_FOUND,
        "There is no conversation conversation-none.",
    ),
    "update an unknown conversation": Bad(
        "Conversations/Update",
        conversations_pb2.UpdateConversationRequest(conversation_id="none", title="x"),
        _CODE.NOT_FOUND,
        "There is no conversation none.",
    ),
    "update nothing": Bad(
        "Conversations/Update",
        conversations_pb2.UpdateConversationRequest(conversation_id="none"),
        _CODE.INVALID_ARGUMENT,
        "Set the fields to change, one or more of: title, mode, folder, profile, steering.",
    ),
    "update to no mode": Bad(
        "Conversations/Update",
        conversations_pb2.UpdateConversationRequest(
            conversation_id="none", mode=common_pb2.MODE_UNSPECIFIED
        ),
        _CODE.INVALID_ARGUMENT,
        "mode is one of PLAN, BUILD, YOLO.",
    ),
    "update to no steering": Bad(
        "Conversations/Update",
        conversations_pb2.UpdateConversationRequest(
            conversation_id="none", steering=common_pb2.STEERING_UNSPECIFIED
        ),
        _CODE.INVALID_ARGUMENT,
        "steering is one of QUEUE, STEER.",
    ),
    "a project that is none": Bad(
        "Conversations/Create",
        conversations_pb2.CreateConversationRequest(folder="/etc"),
        _CODE.NOT_FOUND,
        "There is no project /etc.",
    ),
    "a profile that is none": Bad(
        "Conversations/Create",
        conversations_pb2.CreateConversationRequest(profile="none"),
        _CODE.NOT_FOUND,
        "There is no profile none.",
    ),
    "a message in a project that is none": Bad(
        "Tasks/Submit",
        _SUBMIT(text="x", folder="none"),
        _CODE.NOT_FOUND,
        "There is no project none.",
    ),
    "delete an unknown conversation": Bad(
        "Conversations/Delete",
        conversations_pb2.DeleteConversationRequest(conversation_id="none"),
        _CODE.NOT_FOUND,
        "There is no conversation none.",
    ),
    "compact an unknown conversation": Bad(
        "Conversations/Compact",
        conversations_pb2.CompactConversationRequest(conversation_id="none"),
        _CODE.NOT_FOUND,
        "There is no conversation none.",
    ),
    "undo in an unknown conversation": Bad(
        "Conversations/Undo",
        conversations_pb2.UndoRequest(conversation_id="none"),
        _CODE.NOT_FOUND,
        "There is no conversation none.",
    ),
    "export an unknown conversation": Bad(
        "Conversations/Export",
        conversations_pb2.ExportConversationRequest(conversation_id="none"),
        _CODE.NOT_FOUND,
        "There is no conversation none.",
    ),
    "export less than nothing": Bad(
        "Conversations/Export",
        conversations_pb2.ExportConversationRequest(conversation_id="none", last_turns=-1),
        _CODE.INVALID_ARGUMENT,
        "last_turns is 0 or more, not -1.",
    ),
    "feedback on an unknown task": Bad(
        "Tasks/Feedback",
        tasks_pb2.FeedbackRequest(task_id="task-none", good=True),
        _CODE.NOT_FOUND,
        "There is no task task-none.",
    ),
    "feedback that says nothing": Bad(
        "Tasks/Feedback",
        tasks_pb2.FeedbackRequest(task_id="task-none", text="well"),
        _CODE.INVALID_ARGUMENT,
        "Say what the answer is worth: good is true or false.",
    ),
}
