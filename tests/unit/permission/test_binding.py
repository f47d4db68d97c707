"""The digest changes with everything that must not change between yes and run."""

import itertools

import pytest

from daemon.domain import ids, principals
from daemon.permission import binding
from tools import contract

SPEC = contract.ToolSpec(
    name="shell_exec",
    version=1,
    description="d",
    parameters="{}",
    effect=contract.Effect.UNSAFE,
    category=contract.Category.NORMAL,
)
FACTS = contract.Facts(
    effect=contract.Effect.UNSAFE, bound=(("command", "ls"),), shown=(("command", "ls"),)
)


def digest(
    spec: contract.ToolSpec = SPEC,
    arguments: str = "{}",
    facts: contract.Facts = FACTS,
    policy: str = "1",
    task: str = "task-1",
    requester: str = "local:owner",
) -> str:
    key = binding.key(spec, arguments, facts, policy, principals.Principal(requester))
    return binding.digest(key, ids.TaskId(task))


def bound(*pairs: tuple[str, str]) -> contract.Facts:
    return FACTS.model_copy(update={"bound": pairs})


OTHERS = {
    "tool": digest(SPEC.model_copy(update={"name": "other"})),
    "version": digest(SPEC.model_copy(update={"version": 2})),
    "arguments": digest(arguments='{"command":"ls"}'),
    "fact": digest(facts=bound(("command", "ls -l"))),
    "label": digest(facts=bound(("folder", "ls"))),
    "split": digest(facts=bound(("command", "l"), ("s", ""))),
    "effect": digest(facts=FACTS.model_copy(update={"effect": contract.Effect.PURE})),
    "policy": digest(policy="2"),
    "task": digest(task="task-2"),
    "requester": digest(requester="telegram:bot:42"),
}


@pytest.mark.parametrize("pair", list(itertools.combinations(["", *OTHERS], 2)), ids="-".join)
def test_no_two_calls_share_a_digest(pair: tuple[str, str]) -> None:
    digests = {"": digest()} | OTHERS
    assert digests[pair[0]] != digests[pair[1]]


def test_what_is_shown_and_described_is_not_bound() -> None:
    described = SPEC.model_copy(update={"description": "other"})
    shown = FACTS.model_copy(update={"shown": (), "intent": "x"})
    assert digest(described, facts=shown) == digest()


def test_a_digest_is_sha256() -> None:
    assert len(bytes.fromhex(digest())) == 32
