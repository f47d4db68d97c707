"""Makes the model slots that the settings name: the only module that names the kinds of slots."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import util
from pathlib import Path

from daemon.config import settings as configured
from daemon.domain import errors
from daemon.models import gguf, scripted, session, slots
from daemon.runtime import ports


@asynccontextmanager
async def started(chosen: configured.Settings) -> AsyncIterator[slots.Slots]:
    """The slots that the settings name, until the block ends; a model loads with its first call."""
    built = await asyncio.to_thread(_build_slots, chosen)
    try:
        yield built
    finally:
        await built.stop()


def _build_slots(chosen: configured.Settings) -> slots.Slots:
    models: dict[str, ports.Model] = {}
    details: dict[str, str] = {}
    for name, slot in chosen.models.slots.items():
        match slot:
            case configured.GgufSlot():
                path = _in_package(slot.package, slot.path)
                models[name] = _gguf(name, path, slot, chosen.daemon.limits.progress_seconds)
                details[name] = str(path)
            case configured.ScriptedSlot():
                models[name] = scripted.ScriptedModel.load(name, Path(slot.path))
                details[name] = slot.path
            case configured.SentenceSlot():
                continue
    for name in dict.fromkeys(one for listed in chosen.models.roles.values() for one in listed):
        if name.startswith(configured.SCRIPTED_PREFIX):
            path = Path(name.removeprefix(configured.SCRIPTED_PREFIX)).expanduser()
            models[name] = scripted.ScriptedModel.load(name, path)
            details[name] = str(path)
    return slots.Slots(models, chosen.models.roles, details)


def _gguf(
    name: str, path: Path, slot: configured.GgufSlot, progress_seconds: int
) -> gguf.GgufModel:
    return gguf.GgufModel(
        gguf.Settings(
            name=name,
            path=path,
            context_tokens=slot.context_tokens,
            places=slot.places,
            gpu_layers=slot.gpu_layers,
            threads=slot.threads,
            patience=session.Patience(progress_seconds=progress_seconds),
        )
    )


def _in_package(package: str, path: str) -> Path:
    """A file of an installed package, found without importing it."""
    if not package:
        return Path(path)
    spec = util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise errors.ConfigFault([f"the package {package} is missing: run ./scripts/run to set up"])
    return Path(spec.submodule_search_locations[0]) / path
