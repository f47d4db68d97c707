"""The shape of all settings, and how they are loaded. Every fault of every file comes at once."""

import json
import re
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import pydantic

from daemon import zones
from daemon.config import layers, profiles, texts, upgrade
from daemon.domain import base, errors, limits, messages, presets, principals

SCRIPTED_PREFIX = "scripted:"


class Listening(base.Value):
    listen: tuple[str, ...] = pydantic.Field(min_length=1)


class Logging(base.Value):
    level: Literal["debug", "info", "warning", "error"]


class Tools(base.Value):
    shell_exec: bool
    files: bool
    web_fetch: bool
    web_search: bool
    plugins: bool
    off: tuple[str, ...]
    testing: bool
    folder: str


_PLACE = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+):[0-9]{1,5}")


class Web(base.Value):
    """What the web's tools may reach, and whom they ask."""

    allowed: tuple[str, ...]
    searxng_url: str
    keyless_search: bool
    keyless_url: str

    @pydantic.field_validator("allowed")
    @classmethod
    def _are_places(cls, allowed: tuple[str, ...]) -> tuple[str, ...]:
        for place in allowed:
            if not _PLACE.fullmatch(place):
                raise ValueError(f'write "{place}" as host:port, in small letters')
        return allowed

    @pydantic.field_validator("searxng_url", "keyless_url")
    @classmethod
    def _is_plain(cls, url: str) -> str:
        parts = urllib.parse.urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("write an address that begins with http:// or https://")
        if "@" in parts.netloc or "?" in url or "#" in url:
            raise ValueError("write the address without a password, a query or a fragment")
        return url


class Agent(base.Value):
    """How the agent thinks. `compile`: whether a model makes directives of what the thinker says;
    "auto" when the role json_compiler has slots of its own. `critic`: whether one judges steps;
    `review`: whether it also looks at each answer before that is given."""

    compile: Literal["auto", "always", "never"]
    critic: bool
    review: bool


def _zone(name: str) -> str:
    if name:
        zones.named(name)
    return name


class Schedules(base.Value):
    """Whose clock schedules follow where nobody names another; empty for the machine's."""

    zone: Annotated[str, pydantic.AfterValidator(_zone)]


class DaemonFile(base.Value):
    """daemon.toml."""

    version: int
    daemon: Listening
    log: Logging
    owner: principals.Owners
    people: principals.People
    schedules: Schedules
    tools: Tools
    web: Web
    agent: Agent
    limits: limits.Limits


class GgufSlot(base.Value):
    """A GGUF file that this daemon loads; with `package`, the path lies inside that package."""

    kind: Literal["gguf"]
    path: str = pydantic.Field(min_length=1)
    package: str = ""
    context_tokens: int = pydantic.Field(default=4096, ge=256)
    places: int = pydantic.Field(default=2, ge=1, le=64)
    gpu_layers: int = pydantic.Field(default=-1, ge=-1)
    threads: int = pydantic.Field(default=0, ge=0)
    generation: presets.Generation = presets.Generation()


class ScriptedSlot(base.Value):
    """Replies from a file, for tests and dry runs."""

    kind: Literal["scripted"]
    path: str = pydantic.Field(min_length=1)


class SentenceSlot(base.Value):
    """A sentence-embedding model; kept for memory."""

    kind: Literal["sentence_embedding"]
    path: str = pydantic.Field(min_length=1)
    package: str = ""


Slot = Annotated[GgufSlot | ScriptedSlot | SentenceSlot, pydantic.Field(discriminator="kind")]


class ModelsFile(base.Value):
    """models.toml."""

    version: int
    slots: dict[str, Slot]
    roles: dict[messages.Role, tuple[str, ...]]
    generation: dict[messages.Role, presets.Generation] = {}
    """By role, over the slot's own."""

    @pydantic.model_validator(mode="after")
    def _roles_name_slots(self) -> "ModelsFile":
        for role, names in self.roles.items():
            if not names:
                raise ValueError(f"roles.{role}: name at least one slot")
            for name in names:
                if name not in self.slots and not name.startswith(SCRIPTED_PREFIX):
                    raise ValueError(f"roles.{role}: there is no slot {name}")
        if messages.Role.THINKER not in self.roles:
            raise ValueError("roles.thinker: name at least one slot")
        presets.check_roles(self.generation)
        return self


@dataclass(frozen=True)
class Places:
    """Where settings come from; a folder that is not there is no fault."""

    xdg_config: Path
    config_folder: Path | None = None
    models_file: Path | None = None
    listen: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """Everything that was set. `notices` says what was done to older files."""

    daemon: DaemonFile
    models: ModelsFile
    system_prompt: str
    prompts: Mapping[messages.Purpose, str]
    skills: Mapping[str, presets.Skill]
    profiles: Mapping[str, presets.Profile]
    notices: tuple[str, ...]

    @property
    def compiles(self) -> bool:
        """Whether directives are compiled by a call of their own."""
        wanted = self.daemon.agent.compile
        return wanted == "always" or (
            wanted == "auto" and messages.Role.JSON_COMPILER in self.models.roles
        )


_DAEMON_SECTIONS = frozenset(DaemonFile.model_fields) - {"version"}
_MODELS_SECTIONS = frozenset(ModelsFile.model_fields) - {"version"}
_File = TypeVar("_File", DaemonFile, ModelsFile, profiles.ProfilesFile)


def load(places: Places, variables: Mapping[str, str]) -> Settings:
    """Read, upgrade, merge and check all settings.

    Raises:
        errors.ConfigFault: every fault of every file, one line each with file and key.
    """
    faults: list[str] = []
    notices: list[str] = []
    daemon_layers = _collect("daemon.toml", places, faults, notices)
    models_layers = _collect("models.toml", places, faults, notices)
    if places.models_file is not None:
        given = places.models_file
        _add_file(models_layers, "models.toml", given, faults, notices, must_exist=True)
    profile_layers = profiles.replaced(_collect(profiles.FILE, places, faults, notices))
    models_layers = [_with_paths(layer) for layer in models_layers]
    daemon_layers.append(layers.environment(variables, _DAEMON_SECTIONS))
    models_layers.append(layers.environment(variables, _MODELS_SECTIONS))
    if places.listen:
        listen: layers.Table = {"daemon": {"listen": list(places.listen)}}
        daemon_layers.append(layers.Layer("--listen", listen))
    daemon = _check(DaemonFile, daemon_layers, faults)
    models = _check(ModelsFile, models_layers, faults)
    named = _check(profiles.ProfilesFile, profile_layers, faults)
    if daemon is None or models is None or named is None or faults:
        raise errors.ConfigFault(faults)
    folders = (places.xdg_config, places.config_folder)
    read = texts.prompts(folders)
    skills = texts.skills(folders)
    told = tuple(notices)
    return Settings(daemon, models, read.system, read.by_purpose, skills, named.profiles, told)


def _collect(
    name: str, places: Places, faults: list[str], notices: list[str]
) -> list[layers.Layer]:
    found = [layers.packaged(name)]
    for folder in (places.xdg_config, places.config_folder):
        if folder is not None:
            _add_file(found, name, folder / name, faults, notices, must_exist=False)
    return found


def _add_file(
    found: list[layers.Layer],
    name: str,
    path: Path,
    faults: list[str],
    notices: list[str],
    must_exist: bool,
) -> None:
    """Add a file of the owner's; `name` says which of ours it is, whatever the owner calls it."""
    try:
        layer = layers.file(path)
        if layer is None and must_exist:
            raise errors.ConfigFault([f"{path}: there is no such file"])
        if layer is not None:
            steps = upgrade.STEPS[name]
            layer, said = upgrade.bring_up(layer, path, steps, upgrade.VERSION)
            notices.extend(said)
            found.append(layer)
    except errors.ConfigFault as fault:
        faults.extend(fault.faults)


def _with_paths(layer: layers.Layer) -> layers.Layer:
    """Paths of slots as absolute ones: `~` is the home, the rest starts at the file's folder."""
    slots = layer.table.get("slots")
    if layer.folder is None or not isinstance(slots, dict):
        return layer
    table = dict(layer.table)
    table["slots"] = {name: _with_path(slot, layer.folder) for name, slot in slots.items()}
    return layers.Layer(layer.source, table, layer.folder)


def _with_path(slot: object, folder: Path) -> object:
    path = slot.get("path") if isinstance(slot, dict) and not slot.get("package") else None
    if not isinstance(slot, dict) or not isinstance(path, str) or not path:
        return slot
    return {**slot, "path": str(folder / Path(path).expanduser())}


def _check(shape: type[_File], found: Sequence[layers.Layer], faults: list[str]) -> _File | None:
    merged = layers.merge(found)
    times = list(layers.times(merged))
    faults.extend(_line(found, path, "write a date or a time as text") for path in times)
    if times:
        return None
    try:
        return shape.model_validate_json(json.dumps(merged))
    except pydantic.ValidationError as error:
        for one in error.errors(include_url=False):
            faults.append(_line(found, layers.keys(merged, one["loc"]), one["msg"]))
        return None


def _line(found: Sequence[layers.Layer], path: tuple[int | str, ...], reason: str) -> str:
    key = ".".join(str(part) for part in path)
    plain = reason.removeprefix("Value error, ")
    place = layers.owner_of(found, path or tuple(plain.partition(":")[0].split(".")))
    if reason == "Extra inputs are not permitted":
        plain = "there is no such setting"
    return f"{place.source}: {key}: {plain}" if key else f"{place.source}: {plain}"
