"""Rules of a daemon as most tests want them: one kit, and prompts that say only their purpose."""

from collections.abc import Mapping

from daemon.decide import schemas, turn
from daemon.domain import limits, messages, presets, principals
from tools import contract


def plain(
    tools: Mapping[str, contract.ToolSpec],
    bounds: limits.Limits | None = None,
    system: str = "Be brief.",
    owners: principals.Owners | None = None,
    compiles: bool = False,
    criticizes: bool = False,
    reviews: bool = False,
    skills: Mapping[str, presets.Skill] | None = None,
) -> turn.Rules:
    """Rules with these tools; nothing is compiled or criticized unless said."""
    codes = "apply_edits" in tools
    shown = {name: spec for name, spec in tools.items() if name != "apply_edits"}
    kit = turn.Kit(
        system_prompt=system,
        tools=shown,
        codes=codes,
        directive_schema=schemas.directive(shown, codes),
    )
    basis = turn.Basis(system_prompt=system, skills=skills or {})
    return turn.Rules(
        basis=basis,
        limits=bounds or limits.Limits(),
        tools=tools,
        kits={"": kit},
        prompts={one: f"[{one}]" for one in messages.Purpose},
        skills=skills or {},
        compiles=compiles,
        criticizes=criticizes,
        reviews=reviews,
        owners=owners or principals.Owners(),
    )
