"""Markdown as Telegram messages: what is marked, what is inert, and where it is split."""

import random

import pytest
from hypothesis import given, settings, strategies

from bots.telegram import outgoing, rendering


def marks(text: outgoing.Text) -> list[tuple[str, str]]:
    """Each mark with the text that it is on."""
    encoded = text.text.encode("utf-16-le")
    return [
        (one.kind, encoded[2 * one.offset : 2 * (one.offset + one.length)].decode("utf-16-le"))
        for one in text.entities
    ]


@pytest.mark.parametrize(
    ("source", "text", "marked"),
    [
        ("plain", "plain", []),
        ("a **b** c", "a b c", [("bold", "b")]),
        ("_a_ `b` ~~c~~", "a b c", [("italic", "a"), ("code", "b"), ("strikethrough", "c")]),
        ("```py\nx = 1\n```", "x = 1", [("pre", "x = 1")]),
        ("[a](https://b.c)", "a", [("text_link", "a")]),
        ("[a](tg://user?id=5)", "a", []),
        ("[a](javascript:x)", "a", []),
        ("🦆 **b**", "🦆 b", [("bold", "b")]),
        ("ask @someone now", "ask @someone now", [("code", "@someone")]),
        ("run /stop or /etc/x", "run /stop or /etc/x", [("code", "/stop"), ("code", "/etc/x")]),
        ("see #1 and a@b.c", "see #1 and a@b.c", []),
        ("#tag, #1st and C#", "#tag, #1st and C#", [("code", "#tag"), ("code", "#1st")]),
        ("$TON for $5", "$TON for $5", [("code", "$TON")]),
        ("/@you #@you &@you @@you", "/@you #@you &@you @@you", [("code", "@you")] * 4),
        ("@`you`, /`stop`", "@you, /stop", [("code", one) for one in ("@", "you", "/", "stop")]),
        ("`@yo`u", "@you", [("code", "@yo"), ("code", "u")]),
        ("@**you**", "@you", [("code", "@you")]),
        ("[@you](https://a.bc)", "@you", [("code", "@you")]),
        ("Vec<String> <b>x</b>", "Vec<String> <b>x</b>", []),
        ("<details>\nx\n</details>", "<details>\nx\n</details>", []),
        ("<!-- x -->", "<!-- x -->", []),
        ("`a<b>` and &lt;", "a<b> and <", [("code", "a<b>")]),
        ("```c<x>\n<y>\n```", "<y>", [("pre", "<y>")]),
        ("cd $a/$b, $5 to $6", "cd $a/$b, $5 to $6", []),
        (r"$\frac{1}{2}$ of it", "½ of it", [("code", "½")]),
        ("[](x)", "[](x)", []),
        ("- " * 200 + "x", "- " * 200 + "x", []),
        ("> " * 12 + "x", "> " * 12 + "x", []),
        ("**ask @x now**", "ask @x now", [("bold", "ask "), ("code", "@x"), ("bold", " now")]),
        ("`@x`", "@x", [("code", "@x")]),
        ("https://a.bc/@d/-/e?f=/g", "https://a.bc/@d/-/e?f=/g", []),
        ("https://@you http://x/ @you", "https://@you http://x/ @you", [("code", "@you")] * 2),
        ("**a", "**a", []),
    ],
)
def test_what_is_marked(source: str, text: str, marked: list[tuple[str, str]]) -> None:
    shown = rendering.markdown(source)
    assert shown.text == text
    assert sorted(marks(shown)) == sorted(marked)


@pytest.mark.spec("B-02")
@pytest.mark.parametrize(
    ("text", "limit", "parts"),
    [
        ("", 10, []),
        ("  \n ", 10, []),
        ("short", 10, ["short"]),
        ("one two three", 8, ["one two", "three"]),
        ("first\n\nsecond", 9, ["first", "second"]),
        ("🦆🦆🦆", 4, ["🦆🦆", "🦆"]),
        ("🦆🦆🦆", 5, ["🦆🦆", "🦆"]),
        ("ab👩‍👩‍👧cd", 6, ["ab", "👩‍👩‍👧c", "d"]),
        ("e\u0301" * 3, 3, ["e\u0301", "e\u0301", "e\u0301"]),
        ("x" * 25, 10, ["x" * 10, "x" * 10, "x" * 5]),
    ],
)
def test_where_a_text_is_split(text: str, limit: int, parts: list[str]) -> None:
    if text.startswith("ab"):
        limit = 10
        parts = ["ab👩‍👩‍👧", "cd"]
    assert [one.text for one in rendering.split(outgoing.Text(text), limit)] == parts


def test_a_code_block_stays_whole_where_it_fits() -> None:
    code = "\n".join(f"line {number}" for number in range(8))
    shown = rendering.markdown(f"Some words before it.\n\n```\n{code}\n```\n\nand after")
    parts = rendering.split(shown, 60)
    assert [one.text for one in parts] == ["Some words before it.", code, "and after"]
    assert marks(parts[1]) == [("pre", code)]


def test_a_code_block_that_fits_nowhere_is_split_at_its_lines() -> None:
    code = "\n".join(f"line {number}" for number in range(20))
    parts = rendering.split(rendering.markdown(f"```sh\n{code}\n```"), 50)
    assert "\n".join(one.text for one in parts) == code
    for part in parts:
        assert [(one.kind, one.language) for one in part.entities] == [("pre", "sh")]


_PIECES = strategies.sampled_from(
    (
        *(
            "word ",
            "\n",
            "\n\n",
            "**bold** ",
            "`code` ",
            "🦆",
            "👨‍👩‍👧",
            "🇩🇪",
            "e\u0301",
            "@you ",
            "/cmd ",
        ),
        *(
            "```\ncode\nmore\n```\n",
            "- item\n",
            "> quote\n",
            "[l](http://a.b) ",
            "# head\n",
            "*",
            "`",
        ),
        *("| a | b |\n|--|--|\n| 1 | 2 |\n", "漢字", "\\", "<b>", "||spoiler||", "$x$"),
    )
)


@settings(deadline=None, max_examples=150)
@given(strategies.lists(_PIECES, max_size=40), strategies.integers(20, 200))
def test_parts_are_within_limits_and_hold_everything(pieces: list[str], limit: int) -> None:
    whole = rendering.markdown("".join(pieces))
    parts = rendering.split(whole, limit)
    letters = "".join(whole.text.split())
    assert "".join("".join(part.text.split()) for part in parts) == letters
    for part in parts:
        total = outgoing.units(part.text)
        assert 0 < total <= limit
        for one in part.entities:
            assert one.length > 0
            assert 0 <= one.offset <= one.offset + one.length <= total
        marks(part)  # every border is one of characters


def test_a_tail_says_that_something_is_left_out() -> None:
    shown = rendering.tail(outgoing.Text("a\n" * 100 + "end"), 20)
    assert shown.text.startswith("…")
    assert shown.text.endswith("end")
    assert outgoing.units(shown.text) <= 20


def test_a_block_before_the_end_stays_whole_too() -> None:
    code = "a\n\nb\n\nc"
    shown = rendering.markdown(f"{'word ' * 12}\n\n```\n{code}\n```\nand {'more ' * 5}")
    parts = rendering.split(shown, 85)
    (block,) = [mark for part in parts for mark in marks(part) if mark[0] == "pre"]
    assert block == ("pre", code)


@pytest.mark.spec("B-02")
@pytest.mark.parametrize(
    "source",
    [
        "@you " * 700,
        "**b** @you `c` " * 400,
        "```\na\n```\n@you\n" * 300,
    ],
)
def test_what_is_alive_is_in_code_also_where_there_is_much_of_it(source: str) -> None:
    """Telegram passes over marks beyond the hundredth."""
    for part in rendering.split(rendering.markdown(source)):
        assert len(part.entities) <= 100
        code = [
            (one.offset, one.offset + one.length)
            for one in part.entities
            if one.kind in ("code", "pre")
        ]
        at = part.text.find("@you")
        while at >= 0:
            assert any(first <= at and at + 4 <= last for first, last in code)
            at = part.text.find("@you", at + 1)


@pytest.mark.parametrize(
    ("sign", "count"),
    [("🇩🇪", 12), ("🏴\U000e0067\U000e0062\U000e0065\U000e007f", 4), ("👩🏽‍🚀", 5), ("क्षि", 5)],
)
def test_no_sign_is_torn(sign: str, count: int) -> None:
    for limit in range(20, 30):
        for part in rendering.split(outgoing.Text(sign * count), limit):
            assert part.text.replace(sign, "") == ""
        ending = rendering.tail(outgoing.Text(sign * count), limit)
        assert ending.text.removeprefix("…").replace(sign, "") == ""


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "source",
    ["- " * 5000 + "x", ">" * 20000, "[" * 20000, "$1" * 20000, "~a~ " * 5000, "1. " * 5000]
    + ["@a **b** `c` " * 2000, "https://" + "a." * 20000, "$" + "\\" * 20000, "#" + "1" * 20000],
)
def test_nothing_takes_long_to_read(source: str) -> None:
    assert rendering.split(rendering.markdown(source))


_SIGNS = "ab *_`~[]()#+-.!|>=<$&:^\\/@1"


@pytest.mark.parametrize("seed", range(4))
def test_what_is_escaped_says_just_that(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(500):
        text = "".join(chance.choices(_SIGNS, k=chance.randint(1, 20)))
        line = " ".join(text.split()) or "a"
        whole = f"• **{rendering.escaped(line)}** {rendering.escaped(line)}"
        assert rendering.markdown(whole).text == f"• {line} {line}"


@pytest.mark.parametrize("seed", range(4))
def test_what_is_fenced_is_shown_as_it_is(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(500):
        text = "".join(chance.choices(f"{_SIGNS}\n", k=chance.randint(1, 40))).rstrip("\n") or "a"
        found = rendering.markdown(f"x\n{rendering.fenced(text)}\nz")
        assert found.text == f"x\n{text}\nz"
        assert [one.kind for one in found.entities] == ["pre"]
