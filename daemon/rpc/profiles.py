"""Profiles: presets that conversations name. Never shows more than an owner wrote."""

import pydantic

from daemon.decide import profiles, turn
from daemon.domain import decisions, errors, inputs, messages, presets
from daemon.rpc import backend, caller, convert, interceptors, wire_presets
from proto.ducklm.v1 import profiles_pb2, profiles_pb2_grpc

_KIND = errors.RefusalKind


class Profiles(profiles_pb2_grpc.ProfilesServicer):
    """The Profiles service."""

    def __init__(self, served: backend.Backend) -> None:
        self._served = served

    async def List(
        self, request: profiles_pb2.ListProfilesRequest, context: interceptors.Context
    ) -> profiles_pb2.ListProfilesResponse:
        rules = wire_presets.rules(self._served)
        return profiles_pb2.ListProfilesResponse(
            profiles=[_sent(rules, name) for name in sorted(profiles.named(rules))]
        )

    async def Get(
        self, request: profiles_pb2.GetProfileRequest, context: interceptors.Context
    ) -> profiles_pb2.NamedProfile:
        rules = wire_presets.rules(self._served)
        _found(rules, request.name)
        return _sent(rules, request.name)

    async def Set(
        self, request: profiles_pb2.SetProfileRequest, context: interceptors.Context
    ) -> profiles_pb2.SetProfileResponse:
        name = wire_presets.name(request.name)
        given = _given(request.profile) if request.HasField("profile") else None
        reply = await self._served.inbox.ask(
            inputs.SetProfile(
                **convert.keyed(request, request.client_key, caller.current()),
                name=name,
                profile=given,
            )
        )
        if not isinstance(reply, decisions.ProfileKept):
            raise TypeError(f"a profile was answered with {type(reply).__name__}")
        return profiles_pb2.SetProfileResponse(name=reply.name)

    async def Test(
        self, request: profiles_pb2.TestProfileRequest, context: interceptors.Context
    ) -> profiles_pb2.TestProfileResponse:
        rules = wire_presets.rules(self._served)
        if request.HasField("profile"):
            given = _given(request.profile)
            fault = profiles.tools_fault(rules, given)
            if fault:
                raise errors.Refusal(_KIND.INVALID, fault)
        else:
            given = _found(rules, request.name) if request.name else presets.Profile()
        kit = profiles.kit(rules.basis, rules.tools, given)
        if self._served.roles is None:
            raise errors.Refusal(_KIND.UNAVAILABLE, "This daemon has no models.")
        slot = self._served.roles.slot(messages.Role.THINKER)
        try:
            (tokens,) = await slot.count([kit.system_prompt])
        except errors.ModelFault as fault_of_model:
            raise errors.Refusal(_KIND.UNAVAILABLE, str(fault_of_model)) from fault_of_model
        critic = rules.criticizes if kit.criticizes is None else kit.criticizes
        return profiles_pb2.TestProfileResponse(
            fixed_part=kit.system_prompt,
            tokens=tokens,
            context_tokens=slot.context_tokens,
            slot=slot.name,
            tools=[*sorted(kit.tools), *([profiles.EDITS] if kit.codes else [])],
            generation=[
                profiles_pb2.RoleGeneration(role=role, generation=wire_presets.effective(one))
                for role, one in kit.generation.items()
            ],
            skills=kit.uses_skills,
            critic=critic,
        )


def _found(rules: turn.Rules, name: str) -> presets.Profile:
    named = profiles.named(rules)
    if name not in named:
        known = ", ".join(sorted(named)) or "none"
        raise errors.Refusal(_KIND.NOT_FOUND, f"There is no profile {name}. There are: {known}.")
    return named[name]


def _sent(rules: turn.Rules, name: str) -> profiles_pb2.NamedProfile:
    one = profiles.named(rules)[name]
    sent = profiles_pb2.Profile(
        description=one.description,
        instructions=one.instructions,
        generation=[
            profiles_pb2.RoleGeneration(role=role, generation=wire_presets.generation(given))
            for role, given in one.generation.items()
        ],
        skills=one.skills,
        critic=one.critic,
    )
    if one.tools is not None:
        sent.tools.CopyFrom(profiles_pb2.Profile.Tools(names=one.tools))
    source = wire_presets.source(name in rules.kept.profiles)
    return profiles_pb2.NamedProfile(name=name, profile=sent, source=source)


def _given(request: profiles_pb2.Profile) -> presets.Profile:
    roles = [one.role for one in request.generation]
    for role in roles:
        if role not in wire_presets.ROLES:
            known = ", ".join(wire_presets.ROLES)
            raise errors.Refusal(_KIND.INVALID, f"role cannot be {role!r}; it is one of {known}.")
        if roles.count(role) > 1:
            raise errors.Refusal(_KIND.INVALID, f"generation names the role {role} twice.")
    try:
        return presets.Profile(
            description=request.description,
            instructions=request.instructions,
            tools=tuple(request.tools.names) if request.HasField("tools") else None,
            generation={
                messages.Role(one.role): wire_presets.given_generation(one.generation)
                for one in request.generation
            },
            skills=request.skills if request.HasField("skills") else True,
            critic=request.critic if request.HasField("critic") else None,
        )
    except pydantic.ValidationError as error:
        raise wire_presets.refused(error) from error
