"""Puts together what decisions depend on: the fixed part of prompts, tools, schemas, by profile."""

from collections.abc import Mapping

from daemon.config import settings as configured
from daemon.decide import calls, catalogue, schemas, turn
from tools import contract, registry


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
