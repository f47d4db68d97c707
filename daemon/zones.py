"""Time zones by their IANA names: the one place that reads their files, or the package that has
them where the machine has none.

Rules of schedules are reckoned in a zone that is handed in; here it is made.
"""

import datetime
import functools

import pydantic

from daemon.domain import schedules

_NAME: pydantic.TypeAdapter[str] = pydantic.TypeAdapter(
    schedules.ZoneName, config=pydantic.ConfigDict(defer_build=True)
)


_OF_THE_MACHINE = frozenset(("localtime", "posixrules", "Factory"))
"""Files beside the zones that no other machine would read in the same way."""


def named(name: str) -> datetime.tzinfo:
    """The zone of that name; raises ValueError, with words, where there is none."""
    zone = known(name)
    if zone is not None:
        return zone
    near = _near(name[:64])
    hint = f"; did you mean {near}?" if near else ", such as Europe/Berlin or UTC."
    raise ValueError(f"{name[:64]!r} is no IANA time zone{hint}")


def known(name: str) -> datetime.tzinfo | None:
    """The zone of that name; None where there is none."""
    import zoneinfo

    try:
        plain = _NAME.validate_python(name)
        return None if name in _OF_THE_MACHINE else zoneinfo.ZoneInfo(plain)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return None


def local() -> str:
    """The name of this machine's zone; UTC where it has none that others know."""
    import tzlocal

    try:
        name = tzlocal.get_localzone_name()
    except (LookupError, ValueError, OSError):
        return "UTC"
    return name if known(name) is not None else "UTC"


def _near(name: str) -> str:
    """The zone that may have been meant: of that city, or of nearly that name."""
    import difflib

    city = name.strip().replace(" ", "_").casefold()
    for one in _all():
        if city in (one.casefold(), one.rpartition("/")[2].casefold()):
            return one
    return next(iter(difflib.get_close_matches(name, _all(), n=1, cutoff=0.7)), "")


@functools.cache
def _all() -> tuple[str, ...]:
    import zoneinfo

    return tuple(sorted(zoneinfo.available_timezones()))
