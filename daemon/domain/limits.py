"""Every bound of the runtime, with its unit last in the name and its default beside it.

Reaching one is a state or a clear refusal, never a crash. `config/daemon.toml` sets them by the
same names under `[limits]`.
"""

import pydantic

from daemon.domain import base


class Limits(base.Value):
    """Bounds of one daemon. Defaults suit one person on one machine."""

    inbox_inputs: int = pydantic.Field(default=1024, ge=8)
    batch_inputs: int = pydantic.Field(default=64, ge=1)
    subscribers: int = pydantic.Field(default=64, ge=1)
    running_tasks: int = pydantic.Field(default=8, ge=1)
    queued_tasks: int = pydantic.Field(default=256, ge=1)
    tokens: int = pydantic.Field(default=64, ge=1)
    profiles: int = pydantic.Field(default=64, ge=1)
    skills: int = pydantic.Field(default=64, ge=1)
    task_rounds: int = pydantic.Field(default=16, ge=1)
    task_tool_calls: int = pydantic.Field(default=32, ge=1)
    model_retries: int = pydantic.Field(default=1, ge=0)
    step_attempts: int = pydantic.Field(default=2, ge=1)
    parallel_steps: int = pydantic.Field(default=4, ge=1)
    task_recoveries: int = pydantic.Field(default=5, ge=1)
    task_seconds: int = pydantic.Field(default=3600, ge=1)
    progress_seconds: int = pydantic.Field(default=60, ge=1)
    shell_seconds: int = pydantic.Field(default=600, ge=1)
    approval_seconds: int = pydantic.Field(default=24 * 3600, ge=1)
    secret_seconds: int = pydantic.Field(default=600, ge=1)
    grants: int = pydantic.Field(default=256, ge=1)
    grant_days: int = pydantic.Field(default=90, ge=1)
    grant_uses: int = pydantic.Field(default=1000, ge=1)
    schedules: int = pydantic.Field(default=200, ge=1)
    schedule_model_seconds: int = pydantic.Field(default=300, ge=1)
    """Between two tries of a run whose model is not ready."""
    schedule_grant_days: int = pydantic.Field(default=365, ge=1)
    schedule_grant_uses: int = pydantic.Field(default=100_000, ge=1)
    drain_seconds: int = pydantic.Field(default=5, ge=1)
    message_bytes: int = pydantic.Field(default=1024 * 1024, ge=1)
    artifact_bytes: int = pydantic.Field(default=64 * 1024 * 1024, ge=1)
    result_to_model_chars: int = pydantic.Field(default=8000, ge=100)
    answer_tokens: int = pydantic.Field(default=1024, ge=1)
    history_exchanges: int = pydantic.Field(default=200, ge=0)
    checkpoint_events: int = pydantic.Field(default=2000, ge=1)
    client_key_days: int = pydantic.Field(default=30, ge=1)
