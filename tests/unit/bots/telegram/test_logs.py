"""What the bot logs of its own faults: what and where, never what anybody said."""

import typing

from bots.telegram import __main__ as program


def logged(error: Exception) -> typing.Any:
    """The line of a fault."""
    try:
        raise error
    except (ValueError, ExceptionGroup):
        return program.without_values(None, "error", {"event": "broke", "exc_info": True})


def test_a_fault_is_logged_without_its_words() -> None:
    entry = logged(ValueError("pass word"))
    assert entry["event"] == "broke"
    assert entry["fault"][0] == "ValueError"
    assert entry["fault"][-1].endswith("logged")
    assert "pass" not in str(entry)


def test_every_fault_of_a_group_is_logged() -> None:
    group = ExceptionGroup("pass", [ValueError("word"), ExceptionGroup("x", [KeyError("word")])])
    assert logged(group)["fault"] == ["ValueError", "KeyError"]


def test_a_line_without_a_fault_stays_as_it_is() -> None:
    assert program.without_values(None, "info", {"event": "serving"}) == {"event": "serving"}
