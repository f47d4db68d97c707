"""Every field of requests about profiles and skills is read back from what it did."""

import grpc

from proto.ducklm.v1 import conversations_pb2, profiles_pb2, skills_pb2, tasks_pb2
from tests import running_daemon
from tests.integration.rpc import covered, work

covers = covered.covers
refused = covered.refused
_Profile = profiles_pb2.Profile

WHOLE = _Profile(
    description="For the test.",
    instructions="Quack like a duck. {not} a pattern",
    tools=_Profile.Tools(names=["shell_exec", "file_read"]),
    generation=[
        profiles_pb2.RoleGeneration(
            role="thinker",
            generation=profiles_pb2.Generation(
                temperature=0.5,
                top_p=0.9,
                top_k=40,
                min_p=0.1,
                repeat_penalty=1.25,
                seed=2**32 - 1,
                answer_tokens=77,
                thinking=True,
                thinking_tokens=55,
            ),
        )
    ],
    skills=False,
    critic=False,
)


@covers(profiles_pb2.SetProfileRequest, "name", "profile", "client_key")
@covers(profiles_pb2.GetProfileRequest, "name")
@covers(profiles_pb2.TestProfileRequest, "name", "profile")
@covers(profiles_pb2.Profile, *(field.name for field in profiles_pb2.Profile.DESCRIPTOR.fields))
@covers(profiles_pb2.Profile.Tools, "names")
@covers(profiles_pb2.RoleGeneration, "role", "generation")
@covers(
    profiles_pb2.Generation, *(field.name for field in profiles_pb2.Generation.DESCRIPTOR.fields)
)
def test_profiles(api: running_daemon.Api) -> None:
    request = profiles_pb2.SetProfileRequest(
        name="fields", profile=WHOLE, client_key="fields profile"
    )
    for _ in range(2):
        assert api.profiles.Set(request).name == "fields"
    got = api.profiles.Get(profiles_pb2.GetProfileRequest(name="fields"))
    assert (got.name, got.profile, got.source) == ("fields", WHOLE, "set")
    for asked in (
        profiles_pb2.TestProfileRequest(name="fields"),
        profiles_pb2.TestProfileRequest(profile=WHOLE),
    ):
        tested = api.profiles.Test(asked)
        assert "Quack like a duck. {not} a pattern" in tested.fixed_part
        assert list(tested.tools) == ["file_read", "shell_exec"]
        (thinker,) = [one for one in tested.generation if one.role == "thinker"]
        assert thinker == WHOLE.generation[0]
        assert (tested.skills, tested.critic) == (False, False)
    request.name = "fields-2"
    assert refused(lambda: api.profiles.Set(request)) is grpc.StatusCode.ALREADY_EXISTS
    back = profiles_pb2.SetProfileRequest(name="fields")
    assert api.profiles.Set(back).name == "fields"
    assert refused(lambda: api.profiles.Set(back)) is grpc.StatusCode.NOT_FOUND


@covers(skills_pb2.SetSkillRequest, "name", "skill", "client_key")
@covers(skills_pb2.GetSkillRequest, "name")
@covers(skills_pb2.Skill, "keywords", "text")
@covers(skills_pb2.TestSkillsRequest, "text")
def test_skills(api: running_daemon.Api) -> None:
    skill = skills_pb2.Skill(keywords=["duck pond", "quack"], text="Swim.")
    request = skills_pb2.SetSkillRequest(name="fields", skill=skill, client_key="fields skill")
    for _ in range(2):
        assert api.skills.Set(request).name == "fields"
    got = api.skills.Get(skills_pb2.GetSkillRequest(name="fields"))
    assert (got.name, got.skill, got.source) == ("fields", skill, "set")
    tested = api.skills.Test(skills_pb2.TestSkillsRequest(text="Quack! At the DUCK  pond"))
    assert tested.chosen == "fields"
    (hit,) = tested.hits
    assert (hit.name, hit.score, list(hit.keywords)) == ("fields", 3, ["duck pond", "quack"])
    request.skill.text = "Dive."
    assert refused(lambda: api.skills.Set(request)) is grpc.StatusCode.ALREADY_EXISTS
    assert api.skills.Set(skills_pb2.SetSkillRequest(name="fields")).name == "fields"


@covers(tasks_pb2.SubmitRequest, "profile")
def test_a_message_with_a_profile(api: running_daemon.Api) -> None:
    kept = api.tasks.Submit(tasks_pb2.SubmitRequest(text="fields profile", profile="plain"))
    work.end(api, kept.task_id)
    asked = conversations_pb2.GetConversationRequest(conversation_id=kept.conversation_id)
    assert api.conversations.Get(asked).profile == "plain"
    (told,) = [one for one in work.events(api, kept.task_id) if one.HasField("task_submitted")]
    assert told.task_submitted.profile == "plain"
    more = tasks_pb2.SubmitRequest(
        text="more", profile="plain", conversation_id=kept.conversation_id
    )
    assert refused(lambda: api.tasks.Submit(more)) is grpc.StatusCode.INVALID_ARGUMENT
