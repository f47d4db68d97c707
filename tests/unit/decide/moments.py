"""Zones whose clocks are changed, and moments as they are told there."""

import datetime
import zoneinfo

from daemon.domain import schedule_text, schedules

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
NEW_YORK = zoneinfo.ZoneInfo("America/New_York")
LORD_HOWE = zoneinfo.ZoneInfo("Australia/Lord_Howe")
UTC = zoneinfo.ZoneInfo("UTC")
CHANGING = (BERLIN, NEW_YORK, LORD_HOWE)
ODD = (
    zoneinfo.ZoneInfo("Africa/Cairo"),  # changes at midnight
    zoneinfo.ZoneInfo("Africa/Casablanca"),  # changes around a moving month
    zoneinfo.ZoneInfo("America/St_Johns"),
    zoneinfo.ZoneInfo("Asia/Kathmandu"),
    zoneinfo.ZoneInfo("Pacific/Apia"),
)
ZONES = (*CHANGING, *ODD, UTC)
MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def rule(text: str) -> schedules.Spec:
    spec = schedule_text.parse(text)
    assert spec is not None
    return spec


def at(text: str) -> int:
    """Milliseconds of a moment that is told with its offset from UTC."""
    moment = datetime.datetime.fromisoformat(text) - EPOCH
    return moment // datetime.timedelta(milliseconds=1)


def shown(at_ms: int, zone: datetime.tzinfo) -> datetime.datetime:
    """What the clock shows there, reckoned apart from what is tested."""
    return datetime.datetime.fromtimestamp(at_ms // 1000, zone)


def told(dues: tuple[int, ...], zone: datetime.tzinfo) -> list[str]:
    return [shown(due_ms, zone).isoformat(" ", "minutes") for due_ms in dues]
