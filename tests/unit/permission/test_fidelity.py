"""What a card shows of a command decodes to exactly the bytes that would run."""

import random
import re
import unicodedata

import pytest

from daemon.permission import card
from tests.conftest import Figures, Rounds

TEXTS = 2000
_RAW = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_PIECES = (
    *(
        "ls -la",
        "rm -r build",
        "; ",
        "\n",
        "\t",
        "\r",
        "\x1b[2K",
        "\x08",
        "\x7f",
        "\x9b",
        " " * 3000,
    ),
    *("\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00a0", "\u2028", "\u3164", "\ufe0f"),
    *("\U000e0041", "\U000e0100", "\ue000", "\U0001f600", "é", "日本", "\\u{202e}", "\\", "\\u"),
)
_SPELLED = re.compile(r"\\u\{([0-9a-f]+)\}")


def decoded(shown: str) -> str:
    """The text that a shown form stands for."""
    return _SPELLED.sub(lambda match: chr(int(match[1], 16)), shown)


def fuzzed(chance: random.Random) -> str:
    if chance.random() < 0.01:
        return "a" * 65_000 + "; touch x"
    pieces = chance.choices(_PIECES, k=chance.randint(1, 8))
    return "".join(pieces) + chr(chance.randrange(0xD800)) + chance.choice(_PIECES)


@pytest.mark.acceptance(15)
def test_every_byte_is_shown(rounds: Rounds, seed: int, figures: Figures) -> None:
    chance = random.Random(seed)
    count = rounds(TEXTS)
    for _ in range(count):
        text = fuzzed(chance)
        body = card.visible(text)
        assert decoded(body) == text
        shown = card.render("shell_exec", (("command", text),))
        assert shown.endswith(body)
        raw = {c for c in shown if c != "\n" and unicodedata.category(c) in _RAW}
        assert raw == set()
    figures("commands shown byte for byte", count)
