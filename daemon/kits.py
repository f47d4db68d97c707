"""Puts together what decisions depend on: the tools, the fixed part of prompts, and schemas."""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from daemon.config import settings as configured
from daemon.decide import calls, catalogue, schemas, turn
from tools import contract, plugins, registry

_log = structlog.get_logger(__name__)


def switches(chosen: configured.DaemonFile) -> registry.Switches:
    """Which tools there are to be."""
    return registry.Switches(
        shell=chosen.tools.shell_exec,
        shell_seconds=chosen.limits.shell_seconds,
        files=chosen.tools.files,
        testing=chosen.tools.testing,
        web_fetch=chosen.tools.web_fetch,
        web_search=chosen.tools.web_search,
        web_listed=chosen.web.allowed,
        searxng_url=chosen.web.searxng_url,
        keyless_url=chosen.web.keyless_url if chosen.web.keyless_search else "",
    )


@dataclass(frozen=True)
class Offered:
    """The tools that there are, by name, and what the owner should know of those that are not."""

    tools: Mapping[str, contract.Tool]
    notices: tuple[str, ...]


async def offered(chosen: configured.DaemonFile, build: registry.Build) -> Offered:
    """The product's own tools and those of plugins, less what is turned off."""
    own = build(switches(chosen))
    others = plugins.Found()
    if chosen.tools.plugins:
        others = await plugins.load({*registry.NAMES, *own})
    for fault in others.faults:
        _log.warning("plugin_left_out", text=fault)
    found = {**own, **{tool.spec.name: tool for tool in others.tools}}
    unknown = sorted({*chosen.tools.off} - registry.NAMES - found.keys())
    return Offered(
        {name: tool for name, tool in found.items() if name not in chosen.tools.off},
        others.faults + tuple(f"tools.off: there is no {name}" for name in unknown),
    )


def rules(chosen: configured.Settings, specs: Mapping[str, contract.ToolSpec]) -> turn.Rules:
    """The rules of one daemon, fixed while it runs."""
    return turn.Rules(
        limits=chosen.daemon.limits,
        tools=specs,
        kits={"": kit(chosen.system_prompt, specs)},
        prompts=chosen.prompts,
        skills=chosen.skills,
        compiles=chosen.compiles,
        criticizes=chosen.daemon.agent.critic,
        owners=chosen.daemon.owner,
    )


def kit(system: str, specs: Mapping[str, contract.ToolSpec]) -> turn.Kit:
    """What tasks work with that may use these tools; the coder's own is not in the catalogue."""
    codes = calls.EDITS in specs
    shown = {name: spec for name, spec in specs.items() if name != calls.EDITS}
    return turn.Kit(
        system_prompt=catalogue.fixed_part(system, shown.values(), codes),
        tools=shown,
        codes=codes,
        directive_schema=schemas.directive(shown, codes),
    )
