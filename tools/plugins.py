"""Finds the tools of installed packages, and binds each by less than it claims for itself.

A package offers tools under the entry points `ducklm.tools`, each naming what makes one. Its code
runs in the daemon's own process, so to install it is to trust it; what is not trusted is its word.
No plugin lowers its own danger, takes another tool's name, has a command judged in its place, gets
a person's password, or changes what it has shown. One that is broken is named and left out, and
never ends or hangs the daemon.
"""

import asyncio
import importlib
import inspect
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import contract

GROUP = "ducklm.tools"
SECONDS = 10.0
"""How long one plugin may take to be loaded."""
MOST_PLUGINS = 32
_DESCRIPTION_CHARS = 200
_PARAMETERS_CHARS = 4000
_DEADLINE_SECONDS = 3600
_METADATA = (".dist-info", ".egg-info")
_ENTRY_BYTES = 256 * 1024
_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
_TARGET = re.compile(r"(?P<module>[\w.]+)\s*:\s*(?P<name>[\w.]+)")
_METHODS = ("command", "shorten", "inspect", "run", "reconcile")
_AWAITED = ("inspect", "run", "reconcile")

Effect, Category = contract.Effect, contract.Category
_DANGER = tuple(Effect)
"""From the one that may be repeated to the one that may not."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a package says of one of its tools: where it is made."""

    package: str
    name: str
    target: str

    @property
    def told(self) -> str:
        return f"plugin {self.name} of {self.package}"


@dataclass(frozen=True, slots=True)
class Found:
    """The tools that can be offered, and a line for each that cannot."""

    tools: tuple[contract.Tool, ...] = ()
    faults: tuple[str, ...] = ()


class _Unfit(Exception):
    """Why a plugin is left out."""


def entries(folders: Sequence[str]) -> list[Entry]:
    """The entry points of the packages in folders, by package and name; of packages with the same
    name the first counts. Reads their small files only; nothing is imported."""
    found: dict[str, list[Entry]] = {}
    for folder in folders:
        try:
            names = sorted(os.listdir(folder or "."))
        except OSError:
            continue
        for name in names:
            if name.endswith(_METADATA):
                package = name.rpartition(".")[0].partition("-")[0].lower().replace("-", "_")
                if package not in found and (listed := _listed(Path(folder, name), package)):
                    found[package] = listed
    return [entry for package in sorted(found) for entry in found[package]][: MOST_PLUGINS + 1]


def _listed(folder: Path, package: str) -> list[Entry]:
    try:
        with (folder / "entry_points.txt").open("rb") as file:
            text = file.read(_ENTRY_BYTES)
    except OSError:
        return []
    if GROUP.encode() not in text:
        return []
    import configparser

    parser = configparser.ConfigParser(delimiters="=", interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment]  # names as they are written
    try:
        parser.read_string(text.decode("utf-8", "replace"))
        pairs = parser.items(GROUP)
    except configparser.Error:
        return []
    return [Entry(package, name, target) for name, target in sorted(pairs)]


async def load(
    taken: Collection[str], folders: Sequence[str] | None = None, seconds: float = SECONDS
) -> Found:
    """Load every plugin, one after the other. `taken` are names that none may have."""
    places = list(sys.path) if folders is None else folders
    listed = await asyncio.to_thread(entries, places)
    tools: list[contract.Tool] = []
    faults: list[str] = []
    for entry in listed[:MOST_PLUGINS]:
        names = {*taken, *(tool.spec.name for tool in tools)}
        try:
            tools.append(await _loaded(entry, names, seconds))
        except _Unfit as fault:
            faults.append(f"{entry.told} is left out: {fault}")
    if len(listed) > MOST_PLUGINS:
        faults.append(f"there are more than {MOST_PLUGINS} plugins; the others are left out")
    return Found(tuple(tools), tuple(faults))


async def _loaded(entry: Entry, taken: Collection[str], seconds: float) -> contract.Tool:
    """A plugin, made in a thread of its own: one that hangs is left behind in it.

    Raises:
        _Unfit: it is broken or may not be what it is.
    """
    events = asyncio.get_running_loop()
    ended: asyncio.Future[contract.Tool | str] = events.create_future()

    def answer(made: contract.Tool | str) -> None:
        if not ended.done():
            ended.set_result(made)

    def work() -> None:
        made = _made(entry, taken)
        if not events.is_closed():
            events.call_soon_threadsafe(answer, made)

    threading.Thread(target=work, name=entry.told, daemon=True).start()
    try:
        made = await asyncio.wait_for(ended, seconds)
    except TimeoutError as error:
        raise _Unfit(f"it was not loaded after {seconds:.0f} seconds") from error
    if isinstance(made, str):
        raise _Unfit(made)
    return made


def _made(entry: Entry, taken: Collection[str]) -> contract.Tool | str:
    """The bound plugin, or why there is none."""
    try:
        tool = _factory(entry)()
        return Plugin(tool, _checked(tool, taken), entry.told)
    except _Unfit as fault:
        return str(fault)
    except (Exception, SystemExit) as error:  # whatever foreign code raises
        return f"it raised {type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _factory(entry: Entry) -> Callable[[], contract.Tool]:
    target = _TARGET.fullmatch(entry.target.strip())
    if target is None:
        raise _Unfit("its entry point is not written as module:name")
    made: object = importlib.import_module(target["module"])
    for name in target["name"].split("."):
        made = getattr(made, name)
    if not callable(made):
        raise _Unfit(f"{entry.target} is nothing that can be called")
    return made


def _checked(tool: contract.Tool, taken: Collection[str]) -> contract.ToolSpec:
    """The specification of a plugin's tool, no milder than it may be.

    Raises:
        _Unfit: it is none, or not a fit one.
    """
    spec: object = tool.spec
    if not isinstance(spec, contract.ToolSpec):
        raise _Unfit("its spec is no ToolSpec")
    for name in _METHODS:
        method = getattr(tool, name, None)
        if not callable(method) or (name in _AWAITED and not inspect.iscoroutinefunction(method)):
            raise _Unfit(f"its {name} is not what a tool's is")
    if not _NAME.fullmatch(spec.name):
        raise _Unfit("its name is not made of small letters, digits and _")
    if spec.name in taken:
        raise _Unfit(f"the name {spec.name} is taken")
    if not 0 < len(spec.description) <= _DESCRIPTION_CHARS or not spec.description.isprintable():
        raise _Unfit(f"its description is not one line of at most {_DESCRIPTION_CHARS} characters")
    if spec.version < 1 or not 1 <= spec.deadline_seconds <= _DEADLINE_SECONDS:
        raise _Unfit(f"its version or its deadline (1 to {_DEADLINE_SECONDS} s) is not fit")
    _check_parameters(spec.parameters)
    return _no_milder(spec)


def _check_parameters(text: str) -> None:
    try:
        schema: object = json.loads(text) if len(text) <= _PARAMETERS_CHARS else None
    except (ValueError, RecursionError):
        schema = None
    if not isinstance(schema, dict) or not _is_form(schema):
        raise _Unfit(
            "its parameters are not the JSON Schema of an object, with additionalProperties false, "
            f"in at most {_PARAMETERS_CHARS} characters"
        )


def _is_form(schema: dict[str, object]) -> bool:
    properties, required = schema.get("properties"), schema.get("required", [])
    return (
        schema.get("type") == "object"
        and schema.get("additionalProperties") is False
        and isinstance(properties, dict)
        and all(isinstance(one, dict) for one in properties.values())
        and isinstance(required, list)
        and set(map(str, required)) <= set(properties)
    )


def _no_milder(spec: contract.ToolSpec) -> contract.ToolSpec:
    """A person is asked for every call. What claims to change nothing, and yet not to be read-only,
    is not believed: a call of it that a crash cuts off is not repeated unasked."""
    reads = spec.category is Category.READ_ONLY
    return spec.model_copy(
        update={
            "category": Category.NORMAL if reads else spec.category,
            "effect": Effect.UNSAFE if spec.effect is Effect.PURE and not reads else spec.effect,
        }
    )


class _Held:
    """A plugin's inspection with facts that were read once and stay."""

    def __init__(self, facts: contract.Facts, inner: contract.Inspection) -> None:
        self._facts = facts
        self.inner = inner

    @property
    def facts(self) -> contract.Facts:
        return self._facts

    def close(self) -> None:
        self.inner.close()


class Plugin:
    """A plugin's tool within its bounds."""

    def __init__(self, tool: contract.Tool, spec: contract.ToolSpec, told: str) -> None:
        self._tool = tool
        self._spec = spec
        self._told = told

    @property
    def spec(self) -> contract.ToolSpec:
        return self._spec

    def command(self, arguments_json: str) -> str | None:
        return None

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return contract.ends(text, limit_chars)

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        self._refuse_in_plan_mode(call)
        inner = await self._tool.inspect(call)
        try:
            return _Held(self._bounded(call, inner.facts), inner)
        except BaseException:
            inner.close()
            raise

    def _refuse_in_plan_mode(self, call: contract.Call) -> None:
        if call.confinement.read_only and self._spec.effect is not Effect.PURE:
            raise contract.ToolFault(
                f"This conversation is in plan mode: {self._spec.name} does not run in it."
            )

    def _bounded(self, call: contract.Call, facts: object) -> contract.Facts:
        """The plugin's facts, with what a person must see whatever it shows."""
        if not isinstance(facts, contract.Facts):
            raise contract.ToolFault(f"{self._spec.name} did not say what it would do.")
        if facts.secret:
            raise contract.ToolFault(f"{self._spec.name} asks for a password; a plugin gets none.")
        own = (("runs", f"{self._told}, without a sandbox"), ("arguments", call.arguments_json))
        return facts.model_copy(
            update={
                "effect": max(self._spec.effect, facts.effect, key=_DANGER.index),
                "shown": (*own, *facts.shown),
            }
        )

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        if not isinstance(inspection, _Held):
            raise contract.ToolFault(f"{self._spec.name} runs only what it has inspected.")
        self._refuse_in_plan_mode(call)
        result: object = await self._tool.run(call, inspection.inner, output, None)
        if not isinstance(result, contract.Result):
            raise contract.ToolFault(f"{self._spec.name} ended without a result.")
        return result

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        found: object = await self._tool.reconcile(call, intent)
        return found if isinstance(found, contract.Reconciled) else contract.Reconciled.UNKNOWN
