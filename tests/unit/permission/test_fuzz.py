"""Random words and structures: the judge never fails, and nothing strange only reads."""

import shlex
import string

from hypothesis import given, settings, strategies as st

from daemon.permission import command, findings, rules

_NAMES = st.sampled_from(["ls", "cat", "rm", "frob", "echo", "find", "sh", "sort", "x", "[", "sed"])
_WORDS = st.one_of(
    _NAMES,
    st.sampled_from(["-la", "-rf", "/", "a.txt", "--", "-o", "-c", "'a b'", '"$x"', "$(ls)", "*"]),
    st.sampled_from(["~", "${x:-/}", "`id`", "<(ls)", "2>&1", ">x", "<a", "{a,b}", "a=b", "\\\n"]),
    st.text(max_size=6),
)
_JOINTS = st.sampled_from(
    [" ", " | ", "; ", " && ", "\n", " & ", "(", ")", "{ ", "}", "<<E\n", "'"]
)
_TEXTS = st.lists(st.tuples(_WORDS, _JOINTS), max_size=12).map(
    lambda parts: "".join(word + joint for word, joint in parts)
)


@settings(max_examples=150, deadline=None)
@given(text=_TEXTS)
def test_any_text_is_judged(known: rules.Rules, text: str) -> None:
    judged = command.judge(known, text, command.EXAMPLE_PLACE)
    if judged.verdict is findings.READONLY:
        assert set(judged.programs) <= reading(known)
        assert not set(text) & set("`\0\r")


def reading(known: rules.Rules) -> set[str]:
    """Programs that may only read in some form."""
    schemas = {
        name
        for name, forms in known.schemas.items()
        if any(form.verdict == "allow-readonly" for form in forms)
    }
    return schemas | {"find", "test", "[", "sed", "sleep", "echo", "printf"}


@settings(max_examples=100, deadline=None)
@given(
    name=st.text(string.ascii_lowercase, min_size=1, max_size=8),
    words=st.lists(st.text(string.printable, max_size=8), max_size=4),
)
def test_a_program_without_a_schema_never_only_reads(
    known: rules.Rules, name: str, words: list[str]
) -> None:
    text = " ".join(map(shlex.quote, [name, *words]))
    judged = command.judge(known, text, command.EXAMPLE_PLACE)
    if name not in reading(known):
        assert judged.verdict is not findings.READONLY
