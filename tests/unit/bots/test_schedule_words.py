"""What is typed behind /schedule: what it asks for, which schedule it means, what is taught."""

import pytest

from bots import schedule_words as words
from proto.ducklm.v1 import common_pb2, schedules_pb2

Policy, Update = schedules_pb2.SchedulePolicy, schedules_pb2.UpdateScheduleRequest
Schedule = schedules_pb2.Schedule
A, D, H, T, S = words.Adding, words.Doing, words.History, words.Timing, words.Setting


@pytest.mark.spec("K-14")
@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("", words.Listing()),
        (" LIST ", words.Listing()),
        ("add every day at 9: water the ducks", A("every day at 9", "water the ducks", False)),
        ("add at 16:54: go: now", A("at 16:54", "go: now", False)),
        ("add every 2h\ntwo\nlines: here", A("every 2h", "two\nlines: here", False)),
        ("add every 2h:\n  `ls`", A("every 2h", "ls", True)),
        ("add in 20 minutes: `df -h /`", A("in 20 minutes", "df -h /", True)),
        ("add every 2h: ```sh\nls\ndf\n```", A("every 2h", "ls\ndf", True)),
        ("add every 2h\n```\nls\n```", A("every 2h", "ls", True)),
        ("add every 2h: see `ls`", A("every 2h", "see `ls`", False)),
        ("add every 2h: `ls` `df`", A("every 2h", "`ls` `df`", False)),
        ("add every 2h: ` `", A("every 2h", "` `", False)),
        ("add 0 9 * * 1-5: go", A("0 9 * * 1-5", "go", False)),
        *((f"{verb} 7f3a", D(verb, "7f3a")) for verb in words.ONE),
        ("Pause  7f3a", D("pause", "7f3a")),
        ("run the news of today", D("run", "the news of today")),
        ("runs", H()),
        ("runs 7f3a", H("7f3a")),
        ("pauseall", words.All(paused=True)),
        ("resumeall", words.All(paused=False)),
        ("set 7f3a when every monday at 9: 30", T("7f3a", "every monday at 9: 30")),
        ("set 7f3a here", S("7f3a", Update(), here=True)),
        ("set 7f3a zone Europe/Berlin", T("7f3a", zone="Europe/Berlin")),
        ("set 7f3a name The news", S("7f3a", Update(name="The news"))),
        ("set 7f3a text a\n b", S("7f3a", Update(text="a\n b", kind=Schedule.AGENT))),
        ("set 7f3a text `ls`", S("7f3a", Update(text="ls", kind=Schedule.COMMAND))),
        ("set 7f3a missed skip", S("7f3a", Update(policy=Policy(missed=Policy.SKIP)))),
        ("set 7f3a missed once", S("7f3a", Update(policy=Policy(missed=Policy.RUN_ONCE)))),
        ("set 7f3a missed all", S("7f3a", Update(policy=Policy(missed=Policy.RUN_ALL)))),
        (
            "set 7f3a missed all 3",
            S("7f3a", Update(policy=Policy(missed=Policy.RUN_ALL, catch_up=3))),
        ),
        ("set 7f3a overlap skip", S("7f3a", Update(policy=Policy(overlap=Policy.LEAVE_OUT)))),
        ("set 7f3a overlap wait", S("7f3a", Update(policy=Policy(overlap=Policy.WAIT)))),
        ("set 7f3a tell failure", S("7f3a", Update(policy=Policy(tell=Policy.ON_FAILURE)))),
        ("set 7f3a tell change", S("7f3a", Update(policy=Policy(tell=Policy.ON_CHANGE)))),
        ("set 7f3a tell always", S("7f3a", Update(policy=Policy(tell=Policy.ALWAYS)))),
        ("set 7f3a tell never", S("7f3a", Update(policy=Policy(tell=Policy.NEVER)))),
        ("set 7f3a retries 0", S("7f3a", Update(policy=Policy(retries=0)))),
        (
            "set 7f3a pause-after 0",
            S("7f3a", Update(policy=Policy(pause_after_failures=0))),
        ),
        ("set 7f3a mode plan", S("7f3a", Update(mode=common_pb2.PLAN))),
        ("set 7f3a mode build", S("7f3a", Update(mode=common_pb2.BUILD))),
        ("set 7f3a project ducks", S("7f3a", Update(folder="ducks"))),
        ("set 7f3a project -", S("7f3a", Update(folder=""))),
        ("set 7f3a profile -", S("7f3a", Update(profile=""))),
    ],
)
def test_what_a_line_asks_for(typed: str, asked: words.Asked) -> None:
    assert words.parse(typed) == asked


@pytest.mark.parametrize("field", ["project", "profile", "name"])
def test_what_is_taken_away_is_set(field: str) -> None:
    asked = words.parse(f"set 7f3a {field} -")
    assert isinstance(asked, S)
    names = [one.name for one, _ in asked.change.ListFields()]
    assert names == ["folder" if field == "project" else field]


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("dance", "/schedule knows no “dance”. It knows:\n/schedule – the list"),
        ("dance", "/schedule set ID when|zone|text|"),
        ("add", "/schedule add every weekday at 8: tell me"),
        ("add every day at 9", "a colon and a space"),
        ("add : go", "a colon and a space"),
        ("add every day at 9: ", "a colon and a space"),
        ("pause", "/schedule pause 7f3a"),
        ("set", "/schedule set 7f3a when every weekday at 8"),
        ("set 7f3a", "/schedule set 7f3a when every weekday at 8"),
        ("set 7f3a colour red", "“colour” cannot be set"),
        ("set 7f3a colour red", "\n/schedule set 7f3a tell failure (or: always, change, never)"),
        ("set 7f3a when", "set 7f3a when every weekday at 8"),
        ("set 7f3a here and there", "set 7f3a here"),
        ("set 7f3a missed all ducks", "missed skip (or: once, all 3)"),
        ("set 7f3a missed skip 3", "missed skip (or: once, all 3)"),
        ("set 7f3a missed", "missed skip (or: once, all 3)"),
        ("set 7f3a overlap queue", "overlap wait (or: skip)"),
        ("set 7f3a tell me", "tell failure"),
        ("set 7f3a retries two", "retries 2"),
        ("set 7f3a retries -1", "retries 2"),
        ("set 7f3a retries 9999999999", "retries 2"),
        ("set 7f3a pause-after x", "pause-after 3"),
        ("set 7f3a mode yolo", "mode plan (or: build)"),
    ],
)
def test_what_cannot_be_is_taught_with_an_example(typed: str, says: str) -> None:
    asked = words.parse(typed)
    assert isinstance(asked, words.Teaching)
    assert says in asked.text


def test_all_that_is_taught_is_understood() -> None:
    taught = [f"set 7f3a {one.partition(' (')[0]}" for one in words.EXAMPLES.values()]
    taught += [line.removeprefix("/schedule ") for line in words.ADD_USAGE.split("\n")[1:]]
    assert not [one for one in taught if isinstance(words.parse(one), words.Teaching)]


def there(*named: tuple[str, str]) -> list[Schedule]:
    return [Schedule(schedule_id=f"schedule-{end:0>32}", name=name) for end, name in named]


DUCKS = there(("a10f00d", "Ducks"), ("b20f00d", "Geese"), ("c3beef", "0f00d"))


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("a10f00d", 0),
        ("A10F00D", 0),
        ("10f00d", 0),
        ("20f00d", 1),
        ("beef", 2),
        (DUCKS[0].schedule_id, 0),
        (" ducks ", 0),
        ("0f00d", "Several schedules end with 0f00d:\n10f00d – Ducks\n20f00d – Geese"),
        ("eef", "There is no schedule eef. There are:\n10f00d – Ducks\n20f00d – Geese\nbeef"),
        ("", "There is no schedule"),
    ],
)
def test_which_one_is_meant(named: str, meant: int | str) -> None:
    found = words.find(named, DUCKS)
    if isinstance(meant, int):
        assert found == DUCKS[meant].schedule_id
    else:
        assert isinstance(found, words.Teaching)
        assert found.text.startswith(meant)


def test_none_at_all_is_said() -> None:
    found = words.find("7f3a", [])
    assert isinstance(found, words.Teaching)
    assert "none at all" in found.text


def test_a_sign_names_one_schedule_and_is_its_own_for_good() -> None:
    ids = [one.schedule_id for one in DUCKS]
    signs = [words.handle(one, ids) for one in ids]
    assert signs == ["10f00d", "20f00d", "beef"]
    assert words.handle(ids[2], ids[2:]) == words.handle(ids[2], []) == "beef"
    assert [words.find(sign, DUCKS) for sign in signs] == ids
