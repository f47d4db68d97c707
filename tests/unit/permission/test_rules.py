"""The file of rules: a closed form, and examples that must be judged as they say."""

import copy
from typing import Any

import pytest

from daemon.permission import command, rules


def changed(table: dict[str, object]) -> dict[str, Any]:
    return copy.deepcopy(table)


def test_every_rule_has_examples_that_hold(known: rules.Rules) -> None:
    assert len(known.rules) > 50


def test_an_example_that_does_not_match_stops_the_load(table: dict[str, object]) -> None:
    own = changed(table)
    own["rules"][0]["matches"] = ["ls"]
    with pytest.raises(rules.PermissionsFault, match="own-state does not match its example 'ls'"):
        command.load(own)


def test_a_counter_example_that_matches_stops_the_load(table: dict[str, object]) -> None:
    own = changed(table)
    own["rules"][0]["not_matches"] = ["cat /var/lib/ducklm/x"]
    with pytest.raises(rules.PermissionsFault, match="own-state matches its counter-example"):
        command.load(own)


@pytest.mark.parametrize(
    ("key", "value"),
    [("version", 2), ("frob", 1), ("rules", [{"id": "x"}]), ("paths", {})],
)
def test_another_form_is_refused(table: dict[str, object], key: str, value: object) -> None:
    own = changed(table)
    own[key] = value
    with pytest.raises(rules.PermissionsFault, match=key if key != "frob" else "frob"):
        command.load(own)


def test_a_rule_that_stands_twice_is_refused(table: dict[str, object]) -> None:
    own = changed(table)
    own["rules"].append(own["rules"][0])
    with pytest.raises(rules.PermissionsFault, match="own-state stands twice"):
        command.load(own)


def test_a_rule_of_the_owner_is_obeyed(table: dict[str, object]) -> None:
    own = changed(table)
    own["rules"].append(
        {
            "id": "no-deploys",
            "verdict": "hard-stop",
            "reason": "deploys, which we do by hand",
            "programs": ["make"],
            "first": ["deploy"],
            "matches": ["make deploy", "sh -c 'make deploy'"],
            "not_matches": ["make test"],
        }
    )
    judged = command.judge(command.load(own), "make deploy", command.EXAMPLE_PLACE)
    assert judged.verdict.value == "hard-stop"
    assert "deploys, which we do by hand" in judged.reasons
