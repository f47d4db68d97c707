"""The card shows every byte, and nothing that can hide or mislead."""

import re

import hypothesis
import pytest
from hypothesis import strategies

from daemon.permission import card

SHOWN = {
    "ls -l": "ls -l",
    "a\nb": "a\nb",
    "äöü漢🦆": "äöü漢🦆",
    "tab\there": "tab\\u{9}here",
    "nul\0": "nul\\u{0}",
    "esc\x1b[31m": "esc\\u{1b}[31m",
    "cr\rover": "cr\\u{d}over",
    "bidi\u202eevil": "bidi\\u{202e}evil",
    "zero\u200bwidth": "zero\\u{200b}width",
    "odd\u00a0space": "odd\\u{a0}space",
    "wide\u3000space": "wide\\u{3000}space",
    "line\u2028sep": "line\\u{2028}sep",
    "bom\ufeff": "bom\\u{feff}",
    "private\ue000": "private\\u{e000}",
    "tag\U000e0041": "tag\\u{e0041}",
    "selector\ufe0f": "selector\\u{fe0f}",
    "ideograph\U000e0101": "ideograph\\u{e0101}",
    "filler\u3164\u115f\uffa0": "filler\\u{3164}\\u{115f}\\u{ffa0}",
    "blank\u2800": "blank\\u{2800}",
    "joiner\u034f": "joiner\\u{34f}",
    "spelled \\u{202e}": "spelled \\u{5c}u{202e}",
    "back\\slash": "back\\slash",
}


def decode(text: str) -> str:
    return re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), text)


@pytest.mark.parametrize(("text", "shown"), SHOWN.items(), ids=range(len(SHOWN)))
def test_what_cannot_be_seen_is_spelled(text: str, shown: str) -> None:
    assert card.visible(text) == shown


@hypothesis.settings(max_examples=200, deadline=None, database=None)
@hypothesis.given(strategies.text())
def test_the_shown_form_decodes_to_exactly_one_text(text: str) -> None:
    shown = card.visible(text)
    assert decode(shown) == text
    assert all(character.isprintable() or character == "\n" for character in shown)


def test_a_card_names_the_tool_and_each_fact() -> None:
    text = card.render("shell_exec", (("command", "ls"), ("folder", "/tmp/a\u202eb")))
    assert text == "shell_exec\ncommand: ls\nfolder: /tmp/a\\u{202e}b"


def test_more_than_one_line_says_its_size() -> None:
    text = card.render("shell_exec", (("command", "echo ä\nls"), ("folder", "/tmp")))
    assert text == "shell_exec\ncommand (10 bytes, 2 lines):\necho ä\nls\nfolder: /tmp"
