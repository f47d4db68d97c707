"""The packaged settings at the embedded model's 4,096 tokens, by its own count of them.

With every default tool on there is room for the fixed part, a question, the longest result of a
tool as the thinker is told it, whatever it holds, and an answer.
"""

import pathlib
import subprocess

import pytest

from daemon.decide import context, transcript
from daemon.domain import ids, inputs
from scripts.benchmarks import prompt
from tools import contract

ROOT = pathlib.Path(__file__).resolve().parents[3]
DEFAULT_CONTEXT_TOKENS = 4096
LEAST_ANSWER_TOKENS = 256
QUESTION = "What of this is new, what was there before, and what should be done about it next?"
CALL = '{"kind":"tool","tool":"shell_exec","arguments":{"command":"cat what there is | sort"}}'


def results() -> dict[str, str]:
    """Long outputs of each kind that tools give."""
    listing = subprocess.run(["ls", "-laR", "daemon"], cwd=ROOT, capture_output=True, check=True)
    return {
        "code": (ROOT / "daemon/decide/thinking.py").read_text(),
        "settings": (ROOT / "config/permissions.toml").read_text(),
        "listing": listing.stdout.decode(),
        "numbers": " ".join(str(number * 7919) for number in range(3000)),
        "made code": (ROOT / "proto/ducklm/v1/events_pb2.py").read_text(),
    }


@pytest.mark.spec("D-06")
@pytest.mark.spec("D-13")
async def test_a_result_of_any_kind_fits_beside_every_default_tool() -> None:
    plain = await prompt.counted()
    assert plain.context_tokens == DEFAULT_CONTEXT_TOKENS
    limits = plain.rules.limits
    chars = context.result_chars(limits.result_to_model_chars, plain.context_tokens)
    before = transcript.CALL_RESULT.replace("{tool}", "shell_exec")
    told = {name: before + contract.ends(text, chars) for name, text in results().items()}
    counted = await prompt.counted([QUESTION, CALL, *told.values()])
    question, call, *of_results = counted.tokens
    wanted = context.answer_budget(counted.context_tokens, limits.answer_tokens)
    least = context.least_answer(counted.context_tokens, wanted)
    assert least >= LEAST_ANSWER_TOKENS
    for (name, text), tokens in zip(told.items(), of_results, strict=True):
        gathered = inputs.ContextGathered(
            task_id=ids.TaskId("task-1"),
            asked=0,
            heard=(),
            summary=None,
            history=(),
            turn=(
                inputs.Piece("user", QUESTION, question),
                inputs.Piece("assistant", CALL, call),
                inputs.Piece("tool", text, tokens),
            ),
            system_tokens=counted.fixed_tokens,
            context_tokens=counted.context_tokens,
        )
        system = counted.rules.kits[""].system_prompt
        said = context.compose(system, gathered, least, 0)
        assert not isinstance(said, context.TooLong), f"{name}: {tokens} tokens"
        assert said[-1].content == text


@pytest.mark.spec("D-06")
async def test_the_fixed_part_of_a_chat_is_short() -> None:
    counted = await prompt.counted()
    assert counted.fixed_tokens <= 1000
    assert len(counted.rules.kits[""].tools) >= 8
