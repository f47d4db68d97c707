"""Profiles at a real daemon: from when on one holds, over a restart, and what testing one tells."""

import functools
import json
import re

import grpc
import pytest

from proto.ducklm.v1 import (
    admin_pb2,
    conversations_pb2,
    events_pb2,
    profiles_pb2,
    skills_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.integration.rpc import covered, work

pytestmark = [pytest.mark.spec("K-10"), pytest.mark.timeout(120)]
Profile = profiles_pb2.Profile
LOOK = json.dumps({"kind": "tool", "tool": "file_list", "arguments": {"path": "."}})
SCRIPT: list[running_daemon.ScriptLine] = [
    {"role": "*", "match": "^look", "reply": LOOK},
    {"role": "*", "reply": "Done.", "repeat": True},
]


def sets(api: running_daemon.Api, name: str, profile: profiles_pb2.Profile | None) -> None:
    assert api.profiles.Set(profiles_pb2.SetProfileRequest(name=name, profile=profile)).name == name


def uses(api: running_daemon.Api, text: str, profile: str) -> list[str]:
    """The tools that a task of a new conversation has called."""
    kept = api.tasks.Submit(tasks_pb2.SubmitRequest(text=text, profile=profile))
    work.end(api, kept.task_id)
    told = work.events(api, kept.task_id)
    return [one.tool_call_proposed.tool for one in told if one.HasField("tool_call_proposed")]


def notices(api: running_daemon.Api) -> list[str]:
    told = api.admin.Status(admin_pb2.StatusRequest()).notices
    return [one for one in told if "profile" in one]


def test_what_is_set_holds_at_once_and_after_a_restart() -> None:
    with running_daemon.running(SCRIPT) as daemon:
        with daemon.api() as api:
            sets(api, "looker", Profile(tools=Profile.Tools(names=["file_list"])))
            assert uses(api, "look", "looker") == ["file_list"]
            sets(api, "looker", Profile(tools=Profile.Tools()))
            assert uses(api, "look", "looker") == []
            api.skills.Set(
                skills_pb2.SetSkillRequest(
                    name="swim", skill=skills_pb2.Skill(keywords=["pond"], text="Swim.")
                )
            )
        daemon.kill()
        daemon.start()
        with daemon.api() as api:
            got = api.profiles.Get(profiles_pb2.GetProfileRequest(name="looker"))
            assert (got.source, list(got.profile.tools.names)) == ("set", [])
            assert uses(api, "look", "looker") == []
            tested = api.skills.Test(skills_pb2.TestSkillsRequest(text="a pond"))
            assert tested.chosen == "swim"
            sets(api, "looker", Profile())
            assert uses(api, "look", "looker") == ["file_list"]


def test_a_conversation_whose_profile_is_gone_uses_the_default() -> None:
    with running_daemon.running(SCRIPT) as daemon, daemon.api() as api:
        sets(api, "mute", Profile(tools=Profile.Tools()))
        create = conversations_pb2.CreateConversationRequest(profile="mute")
        chat = api.conversations.Create(create).conversation_id
        assert notices(api) == []
        sets(api, "mute", None)
        assert notices(api) == [
            "the profile mute of 1 conversation is gone: tasks there work with the default one"
        ]
        task_id = work.submit(api, "look", chat)
        work.end(api, task_id)
        told = work.events(api, task_id)
        assert [one for one in told if one.HasField("tool_call_proposed")]
        (begun,) = [one for one in told if one.HasField("task_submitted")]
        assert begun.task_submitted.profile == ""
        update = conversations_pb2.UpdateConversationRequest(conversation_id=chat, profile="")
        assert api.conversations.Update(update).profile == ""
        assert notices(api) == []


def test_a_test_of_a_profile_changes_nothing(api: running_daemon.Api) -> None:
    everything = events_pb2.ListEventsRequest(limit=1)
    before = api.events.List(everything).head_seq
    listed = api.profiles.List(profiles_pb2.ListProfilesRequest())
    assert {"careful", "creative", "plain"} <= {one.name for one in listed.profiles}
    assert {one.source for one in listed.profiles if one.name == "careful"} == {"files"}
    found = {}
    for name in ("", "careful", "plain"):
        found[name] = api.profiles.Test(profiles_pb2.TestProfileRequest(name=name))
    assert "shell_exec" in found[""].tools
    assert found["careful"].critic
    assert list(found["plain"].tools) == []
    assert found["plain"].fixed_part.startswith("You are DuckLM")
    assert "tool" not in re.findall(r"\w+", found["plain"].fixed_part)
    assert 0 < found["plain"].tokens < found[""].tokens < found["careful"].tokens
    assert found[""].context_tokens > 0
    named = profiles_pb2.TestProfileRequest(profile=Profile(instructions="Quack."))
    assert "Quack." in api.profiles.Test(named).fixed_part
    assert api.profiles.List(profiles_pb2.ListProfilesRequest()) == listed
    assert api.events.List(everything).head_seq == before


def test_only_an_admin_sets(api: running_daemon.Api, daemon: running_daemon.RunningDaemon) -> None:
    scopes = [one for one in admin_pb2.Token.Scope.values()[1:] if one != admin_pb2.Token.CHANNEL]
    for scope in scopes:
        made = api.admin.CreateToken(
            admin_pb2.CreateTokenRequest(name=f"profiles-{scope}", scopes=[scope])
        )
        with daemon.channel() as channel:
            own = running_daemon.Api(channel, made.secret)
            act = functools.partial(
                own.profiles.Set, profiles_pb2.SetProfileRequest(name="x", profile=Profile())
            )
            if scope == admin_pb2.Token.ADMIN:
                assert act().name == "x"
            else:
                assert covered.refused(act) is grpc.StatusCode.PERMISSION_DENIED
    sets(api, "x", None)
