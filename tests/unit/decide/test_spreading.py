"""Which folders a tainted one taints, and which of them a person clears."""

import pytest

from daemon.decide import spreading
from daemon.domain import ids, inputs, taints, verdicts, world
from tools import contract

TAINT = (taints.Source(kind=taints.Kind.WEB, source_id="http://a/"),)


def tainted(*folders: str) -> world.World:
    current = world.World()
    for folder in folders:
        current.projects[folder] = world.Project(
            folder=folder, taint=TAINT, conversation_id=ids.ConversationId("c")
        )
    return current


def looked_at(folder: str, *touched: str, writes: bool = False) -> inputs.CallInspected:
    return inputs.CallInspected(
        task_id=ids.TaskId("t"),
        call_id=ids.CallId("k"),
        arguments="{}",
        facts=contract.Facts(
            effect=contract.Effect.PURE,
            bound=(),
            shown=(),
            touched=tuple(
                contract.Touched(written="x", real=one, writes=writes) for one in touched
            ),
        ),
        judged=verdicts.Judgement(verdicts.Verdict.ASK),
        policy="p",
        folder=folder,
        has_secret=False,
    )


READS: dict[str, tuple[str, tuple[str, ...], bool]] = {
    "the folder": ("/p/a", (), True),
    "below it": ("/p/a/b", (), True),
    "above it": ("/p", (), True),
    "beside it": ("/p/ab", (), False),
    "another": ("/q", (), False),
    "a path in it": ("/q", ("/p/a/file",), True),
    "a path above it": ("/q", ("/q/file", "/"), True),
    "a path beside it": ("/q", ("/p/abc", "/p/b"), False),
}


@pytest.mark.spec("D-12")
@pytest.mark.parametrize(("folder", "touched", "found"), READS.values(), ids=READS.keys())
def test_what_a_call_reads(folder: str, touched: tuple[str, ...], found: bool) -> None:
    given = looked_at(folder, *touched)
    assert spreading.of_call(tainted("/p/a"), given) == (TAINT if found else taints.CLEAN)


def test_what_a_call_writes() -> None:
    given = looked_at("/p/a", "/p/a/x/file", "/q/file", "/q/other", writes=True)
    assert spreading.written(given) == ("/p/a", "/q")
    assert spreading.written(looked_at("/p/a", "/q/file")) == ("/p/a",)


def test_what_is_known_of_a_place() -> None:
    """By what it lies in, not by what lies in it: that may be cleared alone."""
    current = tainted("/p/a")
    assert spreading.of_place(current, "/p/a/b") == TAINT
    assert spreading.of_place(current, "/p") == taints.CLEAN
    assert spreading.tainted_within(current, "/p") == ("/p/a",)
    assert spreading.tainted_within(current, "/p/a/b") == ()
