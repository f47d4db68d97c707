"""`ducklm profiles`, `ducklm skills` and `/profile`: what is shown, and what is sent."""

import json

import grpc
import pytest

from bots import texts
from bots.terminal import faults
from proto.ducklm.v1 import common_pb2, conversations_pb2, profiles_pb2, skills_pb2
from tests.unit.bots import stage, updates

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("K-10")]
CHAT = updates.CONVERSATION
CAREFUL = profiles_pb2.NamedProfile(
    name="careful",
    source="files",
    profile=profiles_pb2.Profile(
        description="Looks first\x1b[2J.",
        instructions="Look.\nThen act.",
        tools=profiles_pb2.Profile.Tools(names=["file_read", "grep"]),
        generation=[
            profiles_pb2.RoleGeneration(
                role="thinker",
                generation=profiles_pb2.Generation(temperature=0.2, top_k=40, thinking=True),
            )
        ],
        skills=True,
        critic=False,
    ),
)
PLAIN = profiles_pb2.NamedProfile(
    name="plain",
    source="set",
    profile=profiles_pb2.Profile(tools=profiles_pb2.Profile.Tools(), skills=False),
)
LISTED = ["careful          Looks first\\x1b[2J.", "plain"]


def test_profiles_are_listed() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Profiles.List", profiles_pb2.ListProfilesResponse(profiles=[CAREFUL, PLAIN]))

    assert stage.play(["profiles"], script).stdout.splitlines() == LISTED
    lines = stage.play(["profiles", "--json"], script).stdout.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["careful", "plain"]

    def empty(daemon: stage.Daemon) -> None:
        daemon.answer("Profiles.List", profiles_pb2.ListProfilesResponse())

    played = stage.play(["profiles"], empty)
    assert (played.stdout, played.lines) == ("", [texts.PROFILES_NONE])


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        (
            CAREFUL,
            {
                "profile": "careful",
                "for": "Looks first\\x1b[2J.",
                "instructions": "Look. Then act.",
                "tools": "file_read, grep",
                "thinker": "temperature 0.2, top_k 40, thinking yes",
                "skills": "yes",
                "critic": "no",
                "from": "the settings' files",
            },
        ),
        (PLAIN, {"profile": "plain", "tools": "none", "skills": "no", "from": "the database"}),
    ],
)
def test_a_profile_is_shown_whole(row: profiles_pb2.NamedProfile, shown: dict[str, str]) -> None:
    def script(daemon: stage.Daemon) -> None:
        assert daemon.answer("Profiles.Get", row).name == row.name

    lines = stage.play(["profiles", "show", row.name], script).stdout.splitlines()
    found = {line[:13].strip(): line[14:].replace("\\n", " ") for line in lines}
    assert found == shown


def test_what_a_profile_costs() -> None:
    tested = profiles_pb2.TestProfileResponse(
        fixed_part="You are a duck.\x1b[0m\nQuack.",
        tokens=12,
        context_tokens=4096,
        slot="mine",
        generation=CAREFUL.profile.generation,
    )

    def script(daemon: stage.Daemon) -> None:
        assert daemon.answer("Profiles.Test", tested).name == "careful"

    played = stage.play(["profiles", "test", "careful"], script)
    assert played.stdout == "You are a duck.\\x1b[0m\nQuack.\n"
    assert played.lines == [
        "12 of 4096 tokens, counted by mine",
        "thinker       temperature 0.2, top_k 40, thinking yes",
    ]

    def default(daemon: stage.Daemon) -> None:
        assert daemon.answer("Profiles.Test", tested).name == ""

    assert stage.play(["profiles", "test"], default).code == faults.Exit.OK


def test_a_profile_that_is_none() -> None:
    def script(daemon: stage.Daemon) -> None:
        told = "There is no profile x. There are: plain."
        daemon.refuse("Profiles.Get", grpc.StatusCode.NOT_FOUND, told)

    played = stage.play(["profiles", "show", "x"], script)
    assert played.code == faults.Exit.USAGE
    assert "There is no profile x. There are: plain." in played.stderr


@pytest.mark.spec("K-07")
def test_skills_are_listed_shown_and_tested() -> None:
    skill = skills_pb2.Skill(keywords=["duck pond", "quack"], text="Swim.\x07\nDive.")
    row = skills_pb2.NamedSkill(name="swim", skill=skill, source="files")

    def listed(daemon: stage.Daemon) -> None:
        daemon.answer("Skills.List", skills_pb2.ListSkillsResponse(skills=[row]))

    assert stage.play(["skills"], listed).stdout == "swim             duck pond, quack\n"

    def shown(daemon: stage.Daemon) -> None:
        assert daemon.answer("Skills.Get", row).name == "swim"

    assert stage.play(["skills", "show", "swim"], shown).stdout == "Swim.\\x07\nDive.\n"
    hit = skills_pb2.SkillHit(name="swim", score=3, keywords=["duck pond", "quack"])
    for chosen in ("swim", ""):
        answer = skills_pb2.TestSkillsResponse(chosen=chosen, hits=[hit])

        def tested(daemon: stage.Daemon, answer: skills_pb2.TestSkillsResponse = answer) -> None:
            assert daemon.answer("Skills.Test", answer).text == "a duck pond"

        played = stage.play(["skills", "test", "a duck pond"], tested)
        assert played.stdout == f"{chosen or texts.SKILL_NONE}\n"
        assert played.lines == ["swim              3  duck pond, quack"]


def test_a_chat_with_a_profile() -> None:
    def kept(profile: str) -> conversations_pb2.Conversation:
        return conversations_pb2.Conversation(conversation_id=CHAT, profile=profile)

    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        request = daemon.accept()
        assert (request.profile, request.conversation_id) == ("careful", "")
        daemon.stream().send(updates.state(2, common_pb2.COMPLETED))
        daemon.answer("Conversations.Get", kept("careful"))
        rows = profiles_pb2.ListProfilesResponse(profiles=[CAREFUL, PLAIN])
        daemon.answer("Profiles.List", rows)
        update = daemon.answer("Conversations.Update", kept("plain"))
        assert (update.profile, update.HasField("mode")) == ("plain", False)
        update = daemon.answer("Conversations.Update", kept(""))
        assert (update.HasField("profile"), update.profile) == (True, "")

    typed = ["/profile careful", "hi", "/profile", "/profile plain", "/profile -"]
    played = stage.play(["chat"], script, typed=typed)
    told = [line for line in played.lines if "profile" in line or line in LISTED]
    assert told == [
        "profile careful",
        "profile careful",
        *LISTED,
        "profile plain",
        texts.PROFILE_DEFAULT,
    ]
