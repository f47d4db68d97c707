"""Zones have IANA names, and a wrong one is told what may have been meant."""

import datetime

import pytest

from daemon import zones

pytestmark = pytest.mark.spec("K-14")


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Etc/GMT+5"])
def test_a_zone_is_found(name: str) -> None:
    assert str(zones.named(name)) == name


def test_its_clock_is_changed() -> None:
    berlin = zones.named("Europe/Berlin")
    for month, hours in ((1, 1), (7, 2)):
        noon = datetime.datetime(2026, month, 1, 12, tzinfo=berlin)
        assert noon.utcoffset() == datetime.timedelta(hours=hours)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Europe/Berln", "did you mean Europe/Berlin?"),
        ("berlin", "did you mean Europe/Berlin?"),
        ("new york", "did you mean America/New_York?"),
        ("europe/berlin", "did you mean Europe/Berlin?"),
        ("Europe", "is no IANA time zone"),
        ("../etc/passwd", "such as Europe/Berlin or UTC"),
        ("/etc/localtime", "is no IANA time zone"),
        ("localtime", "is no IANA time zone"),
        ("posixrules", "is no IANA time zone"),
        ("", "such as Europe/Berlin or UTC"),
        ("UTC\x00", "is no IANA time zone"),
        ("x" * 500, "such as Europe/Berlin or UTC"),
    ],
)
def test_a_name_of_none_is_refused_with_words(name: str, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        zones.named(name)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 200
