"""A reasoning model's stream: what is thought, what is answered, and no cut changes it."""

import itertools

import hypothesis
import pytest
from hypothesis import strategies

from daemon.models.worker import thoughts

THINK, CHANNELS = thoughts.FORMS[0], thoughts.used_by("<|channel|>analysis<|message|>")
PARTS = ("[THINK]", "[/THINK]", "<|channel|>", "<|message|>", "<|end|>", "<|start|>")
"""Tokens of a vocabulary that are marks, or parts of some."""
MARKS = thoughts.Marks(PARTS)
PLAIN = thoughts.Marks()

Split = tuple[str, str]


def split(
    stream: list[str], marks: thoughts.Marks = MARKS, inside: thoughts.Form | None = None
) -> Split:
    """What was thought and what was answered; an item that is a part comes as its token."""
    splitter = thoughts.Splitter(marks, inside)
    found: list[thoughts.Segment] = []
    for item in stream:
        is_part = marks is MARKS and item in PARTS
        found += splitter.feed_code(marks.code(item)) if is_part else splitter.feed(item)
    found += splitter.finish()
    assert all(segment.text for segment in found)
    thought, answer = (
        "".join(segment.text for segment in found if segment.thinking is thinking)
        for thinking in (True, False)
    )
    return thought, answer


PLAIN_TEXT: dict[str, tuple[str, Split]] = {
    "nothing": ("", ("", "")),
    "an answer": ("Paris.", ("", "Paris.")),
    "an answer's own space": ("\n  Paris. \n", ("", "\n  Paris. \n")),
    "only space": (" \n", ("", " \n")),
    "a thought before it": ("<think>\nhm\n</think>\n\nParis.", ("hm", "Paris.")),
    "space before the thought": ("\n <think>hm</think>Paris.\n", ("hm", "Paris.\n")),
    "an empty thought": ("<think>\n\n</think>\n\nParis.", ("", "Paris.")),
    "a thought alone": ("<think>hm</think>", ("hm", "")),
    "a thought and space": ("<think>hm</think>\n\n", ("hm", "")),
    "a thought without end": ("<think>hm, so\n", ("hm, so", "")),
    "a thought cut in its mark": ("<think>hm</thi", ("hm</thi", "")),
    "two thoughts": ("<think>a</think>\n<think> b</think>c", ("ab", "c")),
    "lines within a thought": ("<think>a\n\nb  c</think>d", ("a\n\nb  c", "d")),
    "a mark that is none": ("<thin air", ("", "<thin air")),
    "a mark that was cut": ("<think", ("", "<think")),
    "nearly an end": ("<think>a </thin </think>b", ("a </thin", "b")),
    "a mark spoken of": ("Write <think>a</think> first.", ("", "Write <think>a</think> first.")),
    "an end without beginning": ("</think>\n\nParis.", ("", "Paris.")),
    "an end spoken of": ("The mark </think> ends it.", ("", "The mark </think> ends it.")),
    "another family's end": ("<think>a[/THINK]b</think>c", ("a[/THINK]b", "c")),
    "thinking": ("<thinking>a</thinking>b", ("a", "b")),
    "thought": ("<thought>a</thought>b", ("a", "b")),
    "Seed": ("<seed:think>a</seed:think>b", ("a", "b")),
    "Magistral": ("[THINK]a[/THINK]b", ("a", "b")),
    "Kimi": ("◁think▷a◁/think▷b", ("a", "b")),
    "Apertus": ("<|inner_prefix|>a<|inner_suffix|>b", ("a", "b")),
    "Gemma": ("<|channel>thought\na<channel|>b", ("a", "b")),
    "Command": ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b", ("a", "b")),
    "gpt-oss": (
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
        ("a", "b"),
    ),
    "gpt-oss, answering at once": ("<|channel|>final<|message|>b", ("", "b")),
    "Kimi K3": ("<|open|>think<|sep|>a<|close|>think<|sep|><|open|>response<|sep|>b", ("a", "b")),
    "Solar": ("<|think|>a<|end|><|begin|>assistant<|content|>b", ("a", "b")),
    "codes that are text": ("\ufdd0a\ufdd1", ("", "\ufffda\ufffd")),
}


@pytest.mark.parametrize(("text", "expected"), PLAIN_TEXT.values(), ids=PLAIN_TEXT.keys())
def test_marks_in_plain_text(text: str, expected: Split) -> None:
    assert split([text], PLAIN) == expected
    assert split(list(text), PLAIN) == expected
    assert split(list(text), MARKS) == expected


OPENED: dict[str, tuple[str, Split]] = {
    "a thought goes on": ("hm\n</think>\n\nParis.", ("hm", "Paris.")),
    "the model opens it again": ("<think>hm</think>b", ("<think>hm", "b")),
    "it ends at once": ("\n</think>\n\nParis.", ("", "Paris.")),
    "it never ends": ("hm, so", ("hm, so", "")),
}


@pytest.mark.parametrize(("text", "expected"), OPENED.values(), ids=OPENED.keys())
def test_a_thought_that_the_prompt_opened(text: str, expected: Split) -> None:
    assert split([text], PLAIN, THINK) == expected
    assert split(list(text), PLAIN, THINK) == expected


def harmony(text: str) -> list[str]:
    """gpt-oss's channels, cut at their tokens."""
    cut = [text]
    for part in PARTS:
        for at in reversed(range(len(cut))):
            pieces = cut[at].split(part)
            cut[at : at + 1] = list(itertools.chain(*((part, piece) for piece in pieces)))[1:]
    return [item for item in cut if item]


TOKENS: dict[str, tuple[list[str], Split]] = {
    "a thought": (["[THINK]", "a", "[/THINK]", "b"], ("a", "b")),
    "a thought after some answer": (["a", "[THINK]", "b", "[/THINK]", "c"], ("b", "a\n\nc")),
    "a thought after all": (["a", "[THINK]", "b"], ("b", "a")),
    "a mark as text, within an answer": (["a ", "[THIN", "K]", " b"], ("", "a [THINK] b")),
    "an end that ends nothing": (["a", "[/THINK]", "b"], ("", "ab")),
    "a token of no mark here": (["<|end|>", "a", "<|message|>", "b"], ("", "ab")),
    "channels": (
        harmony(
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b"
        ),
        ("a", "b"),
    ),
    "channels after a preamble": (
        harmony(
            "<|channel|>commentary<|message|>a<|end|>"
            "<|start|>assistant<|channel|>analysis<|message|>b<|end|>"
            "<|start|>assistant<|channel|>final<|message|>c"
        ),
        ("b", "a\n\nc"),
    ),
}


@pytest.mark.parametrize(("stream", "expected"), TOKENS.values(), ids=TOKENS.keys())
def test_marks_that_are_tokens(stream: list[str], expected: Split) -> None:
    assert split(stream) == expected


BITS = (
    *PARTS, "<think>", "</think>", "<|START_RESPONSE|>", "analysis", "assistant", "final",
    "<thi", "nk>", "</", "[", " ", "\n\n", "a", "b<", "🦆",
)  # fmt: skip
STREAMS = strategies.lists(strategies.sampled_from(BITS), max_size=14)


def cut_anew(stream: list[str], choose: strategies.DataObject) -> list[str]:
    """The same stream with its texts, but not its tokens, in other pieces."""
    pieces: list[str] = []
    for is_part, items in itertools.groupby(stream, lambda item: item in PARTS):
        if is_part:
            pieces += items
            continue
        text = "".join(items)
        ends = choose.draw(strategies.sets(strategies.integers(1, max(1, len(text)))))
        for start, end in itertools.pairwise([0, *sorted(ends), len(text)]):
            pieces.append(text[start:end])
    return pieces


def as_one(stream: list[str]) -> list[str]:
    """The same stream with each text between tokens in one piece."""
    grouped = itertools.groupby(stream, lambda item: item in PARTS)
    return [
        piece for is_part, items in grouped for piece in (items if is_part else ["".join(items)])
    ]


@hypothesis.settings(max_examples=200, deadline=None)
@hypothesis.given(STREAMS, strategies.sampled_from([None, THINK, CHANNELS]), strategies.data())
def test_however_a_stream_is_cut_the_split_is_the_same(
    stream: list[str], inside: thoughts.Form | None, choose: strategies.DataObject
) -> None:
    # A part in pieces is text: two of them that meet must not become one by being joined.
    whole = split(as_one(stream), MARKS, inside)
    assert split(cut_anew(stream, choose), MARKS, inside) == whole


@hypothesis.settings(max_examples=200, deadline=None)
@hypothesis.given(STREAMS)
def test_nothing_is_made_up_and_no_code_comes_out(stream: list[str]) -> None:
    text = "".join(stream)
    for found in split(stream):
        left = iter(text)
        assert all(any(one == other for other in left) for one in found.replace("\n\n", ""))
        assert not any("\ufdd0" <= character <= "\ufdef" for character in found)


def test_what_is_settled_is_answer() -> None:
    splitter = thoughts.Splitter(PLAIN)
    splitter.settle()
    assert splitter.feed("<think>a") == [thoughts.Segment("<think>a", thinking=False)]


FORMS_OF: list[tuple[str, str | None]] = [
    ("{{ '<think>' }}", "<think>"),
    ("{{ content.split('</think>')[-1] }}", "<think>"),
    ("{{ '[THINK]' }}", "[THINK]"),
    ("{{ '<seed:think>' }}", "<seed:think>"),
    ("{{ '<|user|>' + content + '<|end|>' }}", None),
    ("{{ '<|im_start|>' }}", None),
]


@pytest.mark.parametrize(("source", "opening"), FORMS_OF)
def test_a_template_speaks_of_its_form(source: str, opening: str | None) -> None:
    form = thoughts.used_by(source)
    assert (form and form.opening) == opening


@pytest.mark.parametrize("form", thoughts.FORMS, ids=lambda form: form.opening)
def test_every_form_opens_and_closes(form: thoughts.Form) -> None:
    assert split([f"{form.empty}a"], PLAIN) == ("", "a")
    assert split([f"{form.opening}{form.inside}t{form.close}a"], PLAIN) == ("t", "a")
    assert split([f"t{form.close}a"], PLAIN, form) == ("t", "a")
    assert thoughts.opened_by(f"assistant\n{form.opening}{form.inside}") is form
    assert thoughts.opened_by(f"assistant\n{form.empty}") is None
