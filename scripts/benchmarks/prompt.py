"""prompt: how much of a chat turn's prompt is the same for every turn, with all default tools on.

Counted by the embedded model's own tokenizer, over the kit that the packaged settings make.
"""

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from daemon import kits, logs, model_slots
from daemon.config import settings as configured
from daemon.decide import turn
from daemon.domain import messages, presets, redaction
from scripts.benchmarks import figure
from tools import registry

_TARGET_TOKENS = 1000


@dataclass(frozen=True)
class Counted:
    """The packaged rules, the tokens of the fixed part, of other texts, and the context's."""

    rules: turn.Rules
    fixed_tokens: int
    tokens: tuple[int, ...]
    context_tokens: int


async def counted(texts: Sequence[str] = ()) -> Counted:
    """Count the fixed part, and texts beside it, in the slot that serves a chat by default."""
    with tempfile.TemporaryDirectory() as nothing:
        places = configured.Places(Path(nothing), None, None, ())
        chosen = configured.load(places, {})
    found = await kits.offered(chosen.daemon, registry.build)
    specs = {name: tool.spec for name, tool in found.tools.items()}
    rules = kits.rules(chosen, specs, presets.Kept())
    async with model_slots.started(chosen) as slots:
        slot = slots.slot(messages.Role.THINKER)
        fixed, *others = await slot.count([rules.kits[""].system_prompt, *texts])
        return Counted(rules, fixed, tuple(others), slot.context_tokens)


def measure() -> Sequence[figure.Figure]:
    """The fixed part, in tokens."""
    logs.set_up("error", redaction.Redactor(), sys.stderr)
    fixed = asyncio.run(counted()).fixed_tokens
    return [figure.Figure("prompt.fixed_part", fixed, "tokens", _TARGET_TOKENS, "lower")]
