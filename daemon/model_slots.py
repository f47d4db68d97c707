"""Makes the model slots that the settings name: the only module that names the kinds of slots.

One copy of a GGUF file is loaded for all slots that want it alike: the same file, backend, layers
on the GPU and context. Slots that want the same file otherwise load it once more, which the owner
is told.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import util
from pathlib import Path

from daemon.config import settings as configured
from daemon.domain import errors
from daemon.models import gguf, scripted, session, slots
from daemon.runtime import ports

PREFIXES = Path("cache", "prefix")
"""Below the state; none of it is missed when it is deleted."""
_Copy = tuple[Path, int, int]
"""What makes a loaded copy another one; there is one backend, llama.cpp."""


@asynccontextmanager
async def started(
    chosen: configured.Settings, state: Path | None = None
) -> AsyncIterator[slots.Slots]:
    """The slots that the settings name, until the block ends; a model loads with its first call.

    Below the folder `state`, where there is one, they keep the fixed part of prompts as they have
    read it.
    """
    prefixes = state / PREFIXES if state is not None else None
    built = await asyncio.to_thread(_build_slots, chosen, prefixes)
    try:
        yield built
    finally:
        await built.stop()


def _build_slots(chosen: configured.Settings, prefixes: Path | None) -> slots.Slots:
    models: dict[str, ports.Model] = {}
    details: dict[str, str] = {}
    copies: dict[_Copy, str] = {}
    for name, slot in chosen.models.slots.items():
        match slot:
            case configured.GgufSlot():
                path = _in_package(slot.package, slot.path)
                first = copies.setdefault(_copy(path, slot), name)
                if first != name:
                    models[name] = slots.Shared(name, models[first])
                else:
                    patience = session.Patience(
                        progress_seconds=chosen.daemon.limits.progress_seconds
                    )
                    models[name] = _gguf(name, path, slot, patience, prefixes)
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
    return slots.Slots(models, chosen.models.roles, details, _notices(chosen.models.slots))


def _copy(path: Path, slot: configured.GgufSlot) -> _Copy:
    return path.resolve(), slot.gpu_layers, slot.context_tokens


def _notices(named: Mapping[str, configured.Slot]) -> list[str]:
    """What slots of one file cost that could be had once, or cannot have each for itself."""
    said: list[str] = []
    loaded: dict[_Copy, tuple[str, configured.GgufSlot]] = {}
    for name, slot in named.items():
        if not isinstance(slot, configured.GgufSlot):
            continue
        copy = _copy(_in_package(slot.package, slot.path), slot)
        if copy in loaded:
            first, its = loaded[copy]
            if keys := _different(its, slot, ("places", "threads")):
                said.append(f"the slots {first} and {name} are one copy, with {keys} of {first}")
            continue
        for first, its in (loaded[one] for one in loaded if one[0] == copy[0]):
            keys = _different(its, slot, ("gpu_layers", "context_tokens"))
            said.append(
                f"the slots {first} and {name} load {copy[0]} twice, because of {keys}: "
                "make these alike to load it once"
            )
        loaded[copy] = (name, slot)
    return said


def _different(one: configured.GgufSlot, other: configured.GgufSlot, keys: tuple[str, ...]) -> str:
    return " and ".join(key for key in keys if getattr(one, key) != getattr(other, key))


def _gguf(
    name: str,
    path: Path,
    slot: configured.GgufSlot,
    patience: session.Patience,
    prefixes: Path | None,
) -> gguf.GgufModel:
    return gguf.GgufModel(
        gguf.Settings(
            name=name,
            path=path,
            context_tokens=slot.context_tokens,
            places=slot.places,
            gpu_layers=slot.gpu_layers,
            threads=slot.threads,
            patience=patience,
            prefixes=prefixes,
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
