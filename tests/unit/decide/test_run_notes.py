"""What a run of the agent begins with: as if its text were said in the schedule's conversation."""

import pytest

from daemon.domain import events, presets, schedules, verdicts
from tests.unit.decide import planned, scenes

pytestmark = pytest.mark.spec("K-14")


def submitted(made: scenes.Scene) -> events.TaskSubmitted:
    found = (one.event for one in made.recorded)
    return [one for one in found if isinstance(one, events.TaskSubmitted)][-1]


def test_the_time_of_its_zone_and_the_place() -> None:
    work = schedules.Work(mode=verdicts.Mode.PLAN, project="/pond")
    made = planned.empty().given([planned.create(work=work, zone_name="Asia/Tokyo")])
    note = submitted(made.given([planned.due("16:00")])).note
    assert note.startswith("It is Monday, 2025-06-16 01:00 +0900; the project is /pond;")
    assert "only plan: nothing may be changed" in note
    assert note.endswith("this is a scheduled task, and nobody may be there to answer")


def test_addresses_in_its_text_were_asked_for() -> None:
    text = "what is new on https://example.org/news?"
    made = planned.empty().given([planned.create(text=text)])
    assert submitted(made.given([planned.due("16:00")])).urls == ("https://example.org/news",)
    made.given([*planned.answers(), planned.update(text="what is new?")])
    assert submitted(made.given([planned.due("17:00")])).urls == ()


def test_and_so_was_the_method_that_its_words_call_for() -> None:
    made = planned.empty()
    skill = presets.Skill(text="Swim.", keywords=("duck pond",))
    made.rules = made.rules.but({"skills": {"swimming": skill}})
    made.given([planned.create(text="look at the duck pond")])
    assert submitted(made.given([planned.due("16:00")])).skill == "swimming"


def test_which_attempt_it_is() -> None:
    retries = schedules.Retries(most=1, backoff_seconds=60)
    made = planned.scene(schedules.Policy(retries=retries)).given([planned.due("16:00")])
    made.given([*planned.breaks(), planned.due("16:01")])
    note = submitted(made).note
    assert note.endswith("it failed before, and this is attempt 2")
