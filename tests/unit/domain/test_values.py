"""The contracts are closed and strict, principals are read, errors are sentences."""

import dataclasses
import typing

import pydantic
import pytest

from daemon.domain import (
    base,
    decisions,
    directives,
    errors,
    events,
    inputs,
    limits,
    messages,
    principals,
    world,
)

CONTRACTS: list[type[pydantic.BaseModel]] = [
    *typing.get_args(events.Event),
    *typing.get_args(inputs.Input),
    *typing.get_args(directives.Directive),
    inputs.Known,
    *typing.get_args(decisions.Record),
    limits.Limits,
    messages.ModelRequest,
    messages.ModelResult,
    principals.Origin,
    principals.Credential,
    world.Snapshot,
    world.Task,
]

PLAIN_VALUES: list[type] = [
    *typing.get_args(decisions.Action),
    events.Recorded,
    inputs.Stamped,
    inputs.Piece,
    decisions.Permit,
    decisions.Step,
]

UNITS = frozenset(
    ("inputs", "subscribers", "tasks", "rounds", "calls", "recoveries", "seconds")
    + ("bytes", "chars", "tokens", "exchanges", "events", "days", "grants", "uses")
    + ("steps", "attempts", "retries", "profiles", "skills", "schedules")
)


@pytest.mark.spec("D-02")
@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda one: one.__name__)
def test_a_contract_is_frozen_closed_and_strict(contract: type[pydantic.BaseModel]) -> None:
    assert issubclass(contract, base.Value)
    config = contract.model_config
    assert (config["extra"], config["frozen"], config["strict"]) == ("forbid", True, True)


@pytest.mark.parametrize("plain", PLAIN_VALUES, ids=lambda one: one.__name__)
def test_a_value_that_stays_inside_is_frozen_and_has_no_other_fields(plain: type) -> None:
    if not issubclass(plain, tuple):
        assert dataclasses.is_dataclass(plain)
        assert plain.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(plain)


@pytest.mark.spec("D-02")
def test_a_fault_names_the_field() -> None:
    for given, field, reason in (
        ({"text": "x", "kind": "respond", "y": 1}, "y", "Extra inputs"),
        ({"text": 1, "kind": "respond"}, "text", "valid string"),
        ({"kind": "respond"}, "text", "Field required"),
    ):
        with pytest.raises(pydantic.ValidationError) as caught:
            directives.Respond.model_validate(given)
        (fault,) = caught.value.errors()
        assert fault["loc"] == (field,)
        assert reason in fault["msg"]


def test_the_names_of_events_are_told_apart() -> None:
    names = [one.model_fields["type"].default for one in typing.get_args(events.Event)]
    assert len(set(names)) == len(names)


@pytest.mark.spec("L-03")
def test_every_bound_is_positive_and_has_its_unit_last() -> None:
    for name, field in limits.Limits.model_fields.items():
        assert name.split("_")[-1] in UNITS
        with pytest.raises(pydantic.ValidationError):
            limits.Limits.model_validate({name: -1})
        with pytest.raises(pydantic.ValidationError):
            limits.Limits.model_validate({name: "many"})
        assert isinstance(field.default, int)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("telegram:bot:42", True),
        ("matrix:account:@duck:example.org", True),
        ("local:owner", False),
        ("a::b", False),
        ("::", False),
        ("", False),
    ],
)
def test_a_principal_of_a_platform_has_three_parts(text: str, found: bool) -> None:
    assert principals.is_principal(text) is found


def test_the_platform_of_a_principal() -> None:
    assert principals.platform(principals.Principal("telegram:bot:42")) == "telegram"
    assert principals.platform(principals.LOCAL_OWNER) == "local"


def test_errors_are_sentences() -> None:
    refusal = errors.Refusal(errors.RefusalKind.STATE, "It has ended.")
    assert (str(refusal), refusal.kind) == ("It has ended.", errors.RefusalKind.STATE)
    assert errors.ConfigFault(["a: b", "c: d"]).faults == ("a: b", "c: d")
    assert issubclass(errors.StorageFull, errors.StorageFault)


def test_a_changed_copy_is_like_one_by_the_library() -> None:
    origin = principals.Origin(principal=principals.LOCAL_OWNER)
    changed = origin.but({"chat": "here"})
    assert changed == origin.model_copy(update={"chat": "here"})
    assert (origin.chat, changed.chat, type(changed)) == ("", "here", principals.Origin)
    assert changed.model_dump_json() == origin.model_copy(update={"chat": "here"}).model_dump_json()
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        changed.chat = "there"  # type: ignore[misc]
