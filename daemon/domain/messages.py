"""What is said to a model and what comes back."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import pydantic

from daemon.domain import base, ids


class Role(StrEnum):
    """The named jobs that a model can have; each names an ordered list of slots."""

    THINKER = "thinker"
    JSON_COMPILER = "json_compiler"
    CRITIC = "critic"
    CODER = "coder"
    SYS_UTIL = "sys_util"
    RECALL = "recall"
    EMBEDDINGS = "embeddings"


class Purpose(StrEnum):
    """What a model call is for."""

    THINK = "think"
    """What to do or say next, freely."""
    COMPILE = "compile"
    """A directive, under a grammar, from what was thought."""
    CODE = "code"
    """The edits of a coder step."""
    WRITE = "write"
    """The text of a respond step."""
    CRITICIZE = "criticize"
    """How good a step's result is, and what follows."""
    SUMMARIZE = "summarize"
    """What earlier messages said, in few words."""


Speaker = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt. `content` is data: it can never become control tokens."""

    speaker: Speaker
    content: str


class Sampling(base.Value):
    """How tokens are chosen. Temperature 0 decodes greedily; the other fields are then unused."""

    temperature: float = pydantic.Field(default=0.0, ge=0.0, le=5.0, strict=False)
    top_p: float = pydantic.Field(default=1.0, gt=0.0, le=1.0, strict=False)
    top_k: int = pydantic.Field(default=0, ge=0)
    min_p: float = pydantic.Field(default=0.0, ge=0.0, le=1.0, strict=False)
    repeat_penalty: float = pydantic.Field(default=1.0, ge=0.0, le=4.0, strict=False)
    seed: int = pydantic.Field(default=0, ge=0, lt=2**32)


FinishReason = Literal["stop", "length"]


class Usage(base.Value):
    """Tokens and time of one model call. `reused_tokens` of the prompt came from the cache."""

    prompt_tokens: int = 0
    reused_tokens: int = 0
    completion_tokens: int = 0
    queued_ms: int = 0
    prefill_ms: int = 0
    decode_ms: int = 0


class ModelRequest(base.Value):
    """One generation. `json_schema` is JSON Schema text that bounds the output by a grammar."""

    call_id: ids.CallId
    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    role: Role
    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    max_tokens: int = pydantic.Field(default=1024, ge=1)
    thinking_tokens: int = pydantic.Field(default=0, ge=0)
    """What a reasoning model may think, beside `max_tokens`; 0 turns its thinking off."""
    json_schema: str | None = None
    used_script_lines: tuple[int, ...] = ()


class ModelResult(base.Value):
    """A finished generation: the whole text, why it stopped, and what it cost."""

    text: str
    finish_reason: FinishReason
    slot: str
    usage: Usage = Usage()
    script_line: int | None = None
    reasoning: str = ""
    """What a reasoning model thought before it answered; never sent back to one."""


class ModelFaultKind(StrEnum):
    """Why a model call gave no result."""

    DIED = "died"
    """The worker process ended (crash, abort, out of memory) while it served the call."""
    UNAVAILABLE = "unavailable"
    """No model could be loaded or reached."""
    OVERFLOW = "overflow"
    """The prompt does not fit the context."""
    REJECTED = "rejected"
    """The request itself is bad: a schema or a template that the model cannot serve."""
    SCRIPT = "script"
    """A scripted slot has no line left that fits."""
    STALLED = "stalled"
    """No progress within the limit; the call was ended."""


class Stage(StrEnum):
    """What a model call is doing before its first token."""

    LOADING = "loading"
    QUEUED = "queued"
    PREFILL = "prefill"
    DECODE = "decode"
