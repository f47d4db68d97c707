"""Puts together what decisions depend on: the tools, the settings by role, and the profiles."""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from daemon import zones
from daemon.config import settings as configured
from daemon.decide import context, profiles, turn
from daemon.domain import limits, messages, presets
from daemon.models import slots
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


def result_chars(bounds: limits.Limits, models: slots.Slots) -> int:
    """How many characters of a tool's result the thinker is told."""
    context_tokens = models.slot(messages.Role.THINKER).context_tokens
    return context.result_chars(bounds.result_to_model_chars, context_tokens)


def rules(
    chosen: configured.Settings,
    specs: Mapping[str, contract.ToolSpec],
    kept: presets.Kept,
) -> turn.Rules:
    """The rules of one daemon as it starts; `kept` is what was set before."""
    basis = turn.Basis(
        system_prompt=chosen.system_prompt,
        generation=_generation(chosen.models),
        profiles=chosen.profiles,
        skills=chosen.skills,
    )
    return profiles.made(
        turn.Rules(
            limits=chosen.daemon.limits,
            tools=specs,
            kits={},
            prompts=chosen.prompts,
            basis=basis,
            kept=kept,
            compiles=chosen.compiles,
            criticizes=chosen.daemon.agent.critic,
            reviews=chosen.daemon.agent.review,
            owners=chosen.daemon.owner,
            people=chosen.daemon.people,
            zones=zones.known,
        )
    )


def _generation(models: configured.ModelsFile) -> presets.Generations:
    """How each role generates: as its slot says, with what the role says over it."""
    found: dict[messages.Role, presets.Generation] = {}
    for role in messages.Role:
        slot = models.slots.get(slots.names(models.roles, role)[0])
        below = slot.generation if isinstance(slot, configured.GgufSlot) else presets.Generation()
        merged = presets.merged((below, models.generation.get(role, presets.Generation())))
        if merged != presets.Generation():
            found[role] = merged
    return found


def notices(made: turn.Rules) -> tuple[str, ...]:
    """What of the profiles cannot be as it is written."""
    return tuple(
        f"profiles.{name}.tools: there is no {tool}"
        for name, profile in sorted(profiles.named(made).items())
        for tool in profile.tools or ()
        if tool not in {*made.tools, *registry.NAMES}
    )
