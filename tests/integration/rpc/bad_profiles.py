"""Requests about profiles and skills that must be refused."""

import grpc
from google.protobuf import message

from proto.ducklm.v1 import conversations_pb2, profiles_pb2, skills_pb2, tasks_pb2
from tests.integration.rpc import bad

Bad = bad.Bad
_CODE = grpc.StatusCode
_Profile = profiles_pb2.Profile
_Generation = profiles_pb2.Generation
_Role = profiles_pb2.RoleGeneration
_Skill = skills_pb2.Skill
_NAME = "name is 1 to 41 small letters, digits, - and _, and begins with a letter or digit."


def _invalid(method: str, request: message.Message, says: str) -> Bad:
    return Bad(method, request, _CODE.INVALID_ARGUMENT, says)


def _profile(profile: profiles_pb2.Profile, says: str) -> Bad:
    request = profiles_pb2.SetProfileRequest(name="bad", profile=profile)
    return _invalid("Profiles/Set", request, says)


def _generation(given: profiles_pb2.Generation, says: str) -> Bad:
    roles = [_Role(role="thinker", generation=given)]
    return _profile(_Profile(generation=roles), says)


def _skill(skill: skills_pb2.Skill, says: str) -> Bad:
    return _invalid("Skills/Set", skills_pb2.SetSkillRequest(name="bad", skill=skill), says)


def _names() -> dict[str, Bad]:
    found: dict[str, Bad] = {}
    for name in ("", "Caps", "-a", "a b", "ä", "a/b", "x" * 42):
        profile = profiles_pb2.SetProfileRequest(name=name, profile=_Profile())
        found[f"a profile named {name!r}"] = _invalid("Profiles/Set", profile, _NAME)
        skill = skills_pb2.SetSkillRequest(name=name, skill=_Skill(keywords=["x"], text="x"))
        found[f"a skill named {name!r}"] = _invalid("Skills/Set", skill, _NAME)
    return found


BAD: dict[str, Bad] = {
    **_names(),
    "an unknown profile": Bad(
        "Profiles/Get",
        profiles_pb2.GetProfileRequest(name="none"),
        _CODE.NOT_FOUND,
        "There is no profile none. There are: ",
    ),
    "test an unknown profile": Bad(
        "Profiles/Test",
        profiles_pb2.TestProfileRequest(name="none"),
        _CODE.NOT_FOUND,
        "There is no profile none. There are: ",
    ),
    "take back a profile that was not set": Bad(
        "Profiles/Set",
        profiles_pb2.SetProfileRequest(name="careful"),
        _CODE.NOT_FOUND,
        "No profile careful was set: there is nothing to take back.",
    ),
    "a message with an unknown profile": Bad(
        "Tasks/Submit",
        tasks_pb2.SubmitRequest(text="x", profile="none"),
        _CODE.NOT_FOUND,
        "There is no profile none. There are: ",
    ),
    "update to an unknown profile": Bad(
        "Conversations/Create",
        conversations_pb2.CreateConversationRequest(profile="Careful"),
        _CODE.NOT_FOUND,
        "There is no profile Careful. There are: ",
    ),
    "a tool that is none": _profile(
        _Profile(tools=_Profile.Tools(names=["shell_exec", "frob"])), "There is no tool frob."
    ),
    "test a tool that is none": _invalid(
        "Profiles/Test",
        profiles_pb2.TestProfileRequest(profile=_Profile(tools=_Profile.Tools(names=["frob"]))),
        "There is no tool frob.",
    ),
    "a role that is none": _profile(
        _Profile(generation=[_Role(role="singer")]), "role cannot be 'singer'; it is one of thinker"
    ),
    "a role that generates nothing": _profile(
        _Profile(generation=[_Role(role="embeddings")]), "role cannot be 'embeddings'"
    ),
    "a role twice": _profile(
        _Profile(generation=[_Role(role="critic"), _Role(role="critic")]),
        "generation names the role critic twice.",
    ),
    "too hot": _generation(_Generation(temperature=5.1), "temperature: "),
    "colder than cold": _generation(_Generation(temperature=-0.1), "temperature: "),
    "no number": _generation(_Generation(temperature=float("nan")), "temperature: "),
    "no top_p": _generation(_Generation(top_p=0), "top_p: "),
    "a negative top_k": _generation(_Generation(top_k=-1), "top_k: "),
    "a large min_p": _generation(_Generation(min_p=1.5), "min_p: "),
    "a negative penalty": _generation(_Generation(repeat_penalty=-1), "repeat_penalty: "),
    "no answer": _generation(_Generation(answer_tokens=0), "answer_tokens: "),
    "no thought": _generation(_Generation(thinking_tokens=0), "thinking_tokens: "),
    "long instructions": _profile(_Profile(instructions="x" * 4001), "instructions: "),
    "longer instructions": _profile(
        _Profile(instructions="x" * 20_000), "instructions has 20000 bytes; at most 16384 are taken"
    ),
    "a long description": _profile(_Profile(description="x" * 201), "description: "),
    "65 tools": _profile(
        _Profile(tools=_Profile.Tools(names=["x"] * 65)), "names has 65 items; at most 64"
    ),
    "an unknown skill": Bad(
        "Skills/Get",
        skills_pb2.GetSkillRequest(name="none"),
        _CODE.NOT_FOUND,
        "There is no skill none. There are: debugging, ",
    ),
    "take back a skill that was not set": Bad(
        "Skills/Set",
        skills_pb2.SetSkillRequest(name="research"),
        _CODE.NOT_FOUND,
        "No skill research was set: there is nothing to take back.",
    ),
    "a skill without keywords": _skill(_Skill(text="Swim."), "keywords: "),
    "a skill with a keyword that is no word": _skill(
        _Skill(text="Swim.", keywords=["duck", " - "]), 'keywords: " - " is no word'
    ),
    "a skill without words": _skill(_Skill(text=" \n", keywords=["duck"]), "text: "),
    "a long skill": _skill(_Skill(text="x" * 4001, keywords=["duck"]), "text: "),
    "no text to look at": _invalid(
        "Skills/Test", skills_pb2.TestSkillsRequest(text=" "), "The text is empty."
    ),
}
