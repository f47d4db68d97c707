"""Refuses requests that say what this version does not know, or say it at too great length.

Names, keys and the like are short; what a person says has a limit of its own, which is a setting.
"""

from collections.abc import Iterable

from google.protobuf import descriptor, message, unknown_fields

from daemon.domain import errors

FIELD_BYTES = 1024
MOST_ITEMS = 64
_OTHER_BYTES = {
    "ducklm.v1.ResolveRequest.reason": 8 * 1024,
    "ducklm.v1.FeedbackRequest.text": 8 * 1024,
    "ducklm.v1.PostRequest.text": 64 * 1024,
    "ducklm.v1.SetCursorRequest.value": 4096,
    "ducklm.v1.Profile.instructions": 16 * 1024,
    "ducklm.v1.Skill.text": 16 * 1024,
    "ducklm.v1.TestSkillsRequest.text": 16 * 1024,
}
_CHECKED_LATER = frozenset(
    {
        "ducklm.v1.SubmitRequest.text",
        "ducklm.v1.CreateScheduleRequest.text",
        "ducklm.v1.UpdateScheduleRequest.text",
    }
)

_Field = descriptor.FieldDescriptor


def check(request: message.Message) -> None:
    """Raise errors.Refusal when a field or an enum value is unknown, or a field too long."""
    unknown = unknown_fields.UnknownFieldSet(request)
    if len(unknown):
        number = unknown[0].field_number
        _refuse(f"{request.DESCRIPTOR.name} has no field with number {number}.")
    for known, value in request.ListFields():
        values = value if known.is_repeated else (value,)
        if len(values) > MOST_ITEMS:
            _refuse(f"{known.name} has {len(values)} items; at most {MOST_ITEMS} are taken.")
        if known.type == _Field.TYPE_MESSAGE:
            for one in values:
                check(one)
        elif known.enum_type is not None:
            _check_enum(known.name, known.enum_type, values)
        elif known.type == _Field.TYPE_STRING and known.full_name not in _CHECKED_LATER:
            _check_size(known.name, _OTHER_BYTES.get(known.full_name, FIELD_BYTES), values)


def _check_enum(field: str, kind: descriptor.EnumDescriptor, values: Iterable[int]) -> None:
    for value in values:
        if value not in kind.values_by_number:
            known = ", ".join(one.name for one in kind.values if one.number)
            _refuse(f"{field} cannot be {value}; it is one of {known}.")


def _check_size(field: str, most_bytes: int, values: Iterable[str]) -> None:
    for value in values:
        size = len(value.encode())
        if size > most_bytes:
            _refuse(f"{field} has {size} bytes; at most {most_bytes} are taken.")


def _refuse(sentence: str) -> None:
    raise errors.Refusal(errors.RefusalKind.INVALID, sentence)
