"""The settings of a conversation that is there, or of one that the next message begins.

Answers for: what a new one takes over from the one before, and the words for each setting. It must
never make a call.
"""

import dataclasses
import os
import pathlib
import typing

from bots import render, texts
from bots.terminal import faults
from proto.ducklm.v1 import common_pb2, conversations_pb2

STEERINGS: typing.Final = {"on": common_pb2.STEER, "off": common_pb2.QUEUE}


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a conversation's tasks work; what is unset is left to the daemon."""

    mode: common_pb2.Mode.ValueType = common_pb2.MODE_UNSPECIFIED
    folder: str = ""  # a project's, or its name
    profile: str = ""
    steering: common_pb2.Steering.ValueType = common_pb2.STEERING_UNSPECIFIED

    @property
    def needs_creation(self) -> bool:
        """Whether they say what a message that begins a conversation cannot."""
        return self.steering != common_pb2.STEERING_UNSPECIFIED


DEFAULT: typing.Final = Settings()


def of(row: conversations_pb2.Conversation) -> Settings:
    """What a conversation has set."""
    return Settings(row.mode, row.folder, row.profile, row.steering)


def changed(before: Settings, update: conversations_pb2.UpdateConversationRequest) -> Settings:
    """Those settings with the fields changed that an update has set."""
    return Settings(
        update.mode if update.HasField("mode") else before.mode,
        update.folder if update.HasField("folder") else before.folder,
        update.profile if update.HasField("profile") else before.profile,
        update.steering if update.HasField("steering") else before.steering,
    )


def inherited(before: Settings) -> Settings:
    """What a new conversation takes over: all but yolo, and what is the default anyway."""
    mode, steering = before.mode, before.steering
    if mode != common_pb2.PLAN:
        mode = common_pb2.MODE_UNSPECIFIED
    if steering != common_pb2.STEER:
        steering = common_pb2.STEERING_UNSPECIFIED
    return dataclasses.replace(before, mode=mode, steering=steering)


def project_named(given: str, home: pathlib.Path) -> str:
    """A project's full path where a path was typed, else its name; - means none."""
    if given == "-":
        return ""
    if given == "~" or given.startswith("~/"):
        given = str(home) + given[1:]
    return os.path.abspath(given) if given.startswith(("/", ".")) else given


def steering_named(word: str) -> common_pb2.Steering.ValueType:
    """What on and off stand for; raises UsageFault."""
    if word not in STEERINGS:
        raise faults.UsageFault(texts.STEER_UNKNOWN)
    return STEERINGS[word]


def steering_told(steering: int) -> str:
    return texts.STEER_ON if steering == common_pb2.STEER else texts.STEER_OFF


def project_told(folder: str) -> str:
    if not folder:
        return texts.PROJECT_NONE
    return texts.PROJECT_SET.format(folder=render.one_line(folder))


def profile_told(profile: str) -> str:
    if not profile:
        return texts.PROFILE_DEFAULT
    return texts.SETTINGS_PROFILE.format(profile=render.one_line(profile))


def told(settings: Settings) -> str:
    """What differs from the default, in a few words; empty where nothing does."""
    parts = []
    if settings.folder:
        parts.append(project_told(settings.folder))
    if settings.mode != common_pb2.MODE_UNSPECIFIED:
        name = render.enum_name(common_pb2.Mode.DESCRIPTOR, settings.mode).lower()
        parts.append(texts.SETTINGS_MODE.format(mode=name))
    if settings.profile:
        parts.append(profile_told(settings.profile))
    if settings.steering == common_pb2.STEER:
        parts.append(texts.SETTINGS_STEERS)
    return ", ".join(parts)
