"""Profiles: the kits that are made of them, and how the rules follow what is set while they hold.

What is set is a record and no event. It belongs to no task and no conversation; its words are an
owner's and may be long; and the files under it are not in the log either, so that folding the log
could never give the rules of a moment. Deciding stays a function all the same: the rules are one of
its arguments, and they only change between two decisions, by the records of the first. The loop
takes them over with the world, when the records are durable, and a start makes them of files and
store.

A task keeps the kit that it began with, so that its prompts all start alike and no tool is lost
under a call; one that has not begun, and the next one, work with the new kit.
"""

from collections.abc import Mapping, Sequence

from daemon.decide import calls, catalogue, schemas, turn
from daemon.domain import decisions, errors, ids, inputs, messages, presets, state, world
from tools import contract

_KIND = errors.RefusalKind
EDITS = calls.EDITS
"""The coder's own tool, which is in no catalogue."""
_PRESETS = frozenset({decisions.ProfileRecord, decisions.SkillRecord})


def generation(given: presets.Generation) -> turn.Generation:
    """What settings say, with the default for all that they leave out."""
    sampling = given.model_dump(
        include=set(messages.Sampling.model_fields), exclude_none=True, exclude_defaults=True
    )
    thinking = given.thinking_tokens or presets.DEFAULT_THINKING_TOKENS
    return turn.Generation(
        sampling=messages.Sampling.model_validate(sampling),
        answer_tokens=given.answer_tokens or 0,
        thinking_tokens=thinking if given.thinking else 0,
    )


def kit(
    basis: turn.Basis, tools: Mapping[str, contract.ToolSpec], profile: presets.Profile
) -> turn.Kit:
    """What tasks of a profile work with; the coder's own tool is not in the catalogue."""
    return _dressed(_bare(basis.system_prompt, tools, profile.tools), basis, profile)


def _bare(
    system: str, tools: Mapping[str, contract.ToolSpec], listed: tuple[str, ...] | None
) -> turn.Kit:
    """What follows from the tools alone."""
    allowed = {name: one for name, one in tools.items() if listed is None or name in listed}
    codes = EDITS in allowed
    shown = {name: spec for name, spec in allowed.items() if name != EDITS}
    return turn.Kit(
        system_prompt=catalogue.fixed_part(system, shown.values(), codes),
        tools=shown,
        codes=codes,
        directive_schema=schemas.directive(shown, codes) if shown else "",
    )


def _dressed(bare: turn.Kit, basis: turn.Basis, profile: presets.Profile) -> turn.Kit:
    """The instructions stand last: profiles with the same tools begin alike, so that a slot that
    has read one prompt need not read the catalogue again for another, and small models heed what
    they read last."""
    system = bare.system_prompt
    if profile.instructions.strip():
        system += "\n\n" + profile.instructions.strip()
    return bare.but(
        {
            "system_prompt": system,
            "generation": _generations(basis.generation, profile.generation),
            "uses_skills": profile.skills,
            "criticizes": profile.critic,
        }
    )


def _generations(
    below: presets.Generations, own: presets.Generations
) -> dict[messages.Role, turn.Generation]:
    plain = presets.Generation()
    return {
        role: generation(presets.merged((below.get(role, plain), own.get(role, plain))))
        for role in messages.Role
        if role in below or role in own
    }


def named(rules: turn.Rules) -> dict[str, presets.Profile]:
    """Every profile that there is: what files say, under what was set."""
    return {**rules.basis.profiles, **rules.kept.profiles}


def made(rules: turn.Rules) -> turn.Rules:
    """The rules with the kits and the skills that follow from files and from what was set."""
    basis, profiles = rules.basis, {"": presets.Profile(), **named(rules)}
    listed = dict.fromkeys(profile.tools for profile in profiles.values())
    bare = {names: _bare(basis.system_prompt, rules.tools, names) for names in listed}
    return rules.but(
        {
            "kits": {
                name: _dressed(bare[profile.tools], basis, profile)
                for name, profile in profiles.items()
            },
            "skills": {**basis.skills, **rules.kept.skills},
        }
    )


def after(
    rules: turn.Rules,
    records: Sequence[decisions.Record],
    tasks: Mapping[ids.TaskId, world.Task],
) -> turn.Rules:
    """The rules once a decision's records are kept; `tasks` are those that live then."""
    found = [record for record in records if type(record) in _PRESETS]
    if not found:
        return rules
    kept = rules.kept
    for record in found:
        if isinstance(record, decisions.ProfileRecord):
            kept = kept.with_profile(record.name, record.profile)
        elif isinstance(record, decisions.SkillRecord):
            kept = kept.with_skill(record.name, record.skill)
    changed = rules.but({"kept": kept})
    begun = [task for task in tasks.values() if task.state is not state.TaskState.QUEUED]
    return made(changed).but({"pinned": {task.task_id: rules.kit(task) for task in begun}})


def set_one(current: turn.Turn, given: inputs.SetProfile) -> decisions.Reply | decisions.Rejected:
    """Keep a profile in the place of what files say, or take it back; for the next task."""
    rules = current.rules
    if given.profile is None:
        if given.name not in rules.kept.profiles:
            message = f"No profile {given.name} was set: there is nothing to take back."
            return decisions.Rejected(refusal=_KIND.NOT_FOUND, message=message)
    else:
        fault = tools_fault(rules, given.profile)
        if fault:
            return decisions.Rejected(refusal=_KIND.INVALID, message=fault)
        names = named(rules)
        if given.name not in names and len(names) >= rules.limits.profiles:
            message = f"There are {len(names)} profiles. Take back one that nobody uses."
            return decisions.Rejected(refusal=_KIND.EXHAUSTED, message=message)
    current.keep_record(decisions.ProfileRecord(name=given.name, profile=given.profile))
    return decisions.ProfileKept(name=given.name)


def tools_fault(rules: turn.Rules, profile: presets.Profile) -> str:
    """A sentence about the tools that a profile lists and that are not there; else empty."""
    unknown = [name for name in profile.tools or () if name not in rules.tools]
    if not unknown:
        return ""
    known = ", ".join(sorted(rules.tools)) or "none"
    return f"There is no tool {unknown[0]}. There are: {known}."


def lost(rules: turn.Rules, settings: Mapping[ids.ConversationId, world.Settings]) -> list[str]:
    """A line for each profile that conversations have and that is gone."""
    found = [one.profile for one in settings.values() if one.profile not in rules.kits]
    return [
        f"the profile {name} of {found.count(name)} "
        f"{'conversation' if found.count(name) == 1 else 'conversations'} is gone: "
        "tasks there work with the default one"
        for name in sorted(set(found))
    ]
