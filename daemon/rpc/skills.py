"""Skills: methods in words, and which of them a message calls for."""

import pydantic

from daemon.decide import skills, turn
from daemon.domain import decisions, errors, inputs, presets
from daemon.rpc import backend, caller, convert, interceptors, wire_presets
from proto.ducklm.v1 import skills_pb2, skills_pb2_grpc

_KIND = errors.RefusalKind


class Skills(skills_pb2_grpc.SkillsServicer):
    """The Skills service."""

    def __init__(self, served: backend.Backend) -> None:
        self._served = served

    async def List(
        self, request: skills_pb2.ListSkillsRequest, context: interceptors.Context
    ) -> skills_pb2.ListSkillsResponse:
        rules = wire_presets.rules(self._served)
        return skills_pb2.ListSkillsResponse(
            skills=[_sent(rules, name) for name in sorted(rules.skills)]
        )

    async def Get(
        self, request: skills_pb2.GetSkillRequest, context: interceptors.Context
    ) -> skills_pb2.NamedSkill:
        rules = wire_presets.rules(self._served)
        if request.name not in rules.skills:
            known = ", ".join(sorted(rules.skills)) or "none"
            message = f"There is no skill {request.name}. There are: {known}."
            raise errors.Refusal(_KIND.NOT_FOUND, message)
        return _sent(rules, request.name)

    async def Set(
        self, request: skills_pb2.SetSkillRequest, context: interceptors.Context
    ) -> skills_pb2.SetSkillResponse:
        name = wire_presets.name(request.name)
        given = _given(request.skill) if request.HasField("skill") else None
        reply = await self._served.inbox.ask(
            inputs.SetSkill(
                **convert.keyed(request, request.client_key, caller.current()),
                name=name,
                skill=given,
            )
        )
        if not isinstance(reply, decisions.SkillKept):
            raise TypeError(f"a skill was answered with {type(reply).__name__}")
        return skills_pb2.SetSkillResponse(name=reply.name)

    async def Test(
        self, request: skills_pb2.TestSkillsRequest, context: interceptors.Context
    ) -> skills_pb2.TestSkillsResponse:
        if not request.text.strip():
            raise errors.Refusal(_KIND.INVALID, "The text is empty. Give a message to look at.")
        rules = wire_presets.rules(self._served)
        return skills_pb2.TestSkillsResponse(
            chosen=skills.chosen(request.text, rules.skills),
            hits=[
                skills_pb2.SkillHit(name=hit.name, score=hit.score, keywords=hit.keywords)
                for hit in skills.hits(request.text, rules.skills)
            ],
        )


def _sent(rules: turn.Rules, name: str) -> skills_pb2.NamedSkill:
    one = rules.skills[name]
    return skills_pb2.NamedSkill(
        name=name,
        skill=skills_pb2.Skill(keywords=one.keywords, text=one.text),
        source=wire_presets.source(name in rules.kept.skills),
    )


def _given(request: skills_pb2.Skill) -> presets.Skill:
    try:
        return presets.Skill(text=request.text.strip(), keywords=tuple(request.keywords))
    except pydantic.ValidationError as error:
        raise wire_presets.refused(error) from error
