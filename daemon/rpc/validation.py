"""Refuses requests that say what this version does not know: unknown fields and enum values."""

from collections.abc import Iterable

from google.protobuf import descriptor, message, unknown_fields

from daemon.domain import errors

_Field = descriptor.FieldDescriptor


def check(request: message.Message) -> None:
    """Raise errors.Refusal when a field or an enum value of the request is unknown."""
    unknown = unknown_fields.UnknownFieldSet(request)
    if len(unknown):
        number = unknown[0].field_number
        _refuse(f"{request.DESCRIPTOR.name} has no field with number {number}.")
    for known, value in request.ListFields():
        values = value if known.is_repeated else (value,)
        if known.type == _Field.TYPE_MESSAGE:
            for one in values:
                check(one)
        elif known.enum_type is not None:
            _check_enum(known.name, known.enum_type, values)


def _check_enum(field: str, kind: descriptor.EnumDescriptor, values: Iterable[int]) -> None:
    for value in values:
        if value not in kind.values_by_number:
            known = ", ".join(one.name for one in kind.values if one.number)
            _refuse(f"{field} cannot be {value}; it is one of {known}.")


def _refuse(sentence: str) -> None:
    raise errors.Refusal(errors.RefusalKind.INVALID, sentence)
