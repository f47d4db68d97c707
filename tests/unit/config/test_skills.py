"""The packaged skills: which messages call for them, and that they stay short."""

from pathlib import Path

import pytest

from daemon.config import settings, texts
from daemon.decide import skills
from daemon.domain import errors, presets

pytestmark = pytest.mark.spec("K-07")
MOST_WORDS = 110

CALLS = {
    "The tests fail since yesterday, why?": "debugging",
    "Please fix the failing test in tests/test_a.py": "debugging",
    "It says: Traceback (most recent call last)": "debugging",
    "My printer does not work": "debugging",
    "My disk is full, what takes so much?": "files_and_disk",
    "Find duplicates among my photos": "files_and_disk",
    "organize my downloads folder": "files_and_disk",
    "Why is my computer slow?": "machine_care",
    "The computer is slow today": "machine_care",
    "Which systemd service uses the most memory?": "machine_care",
    "I have no internet": "machine_care",
    "Look up which laptop has the best keyboard and compare three": "research",
    "What is the latest version of Python?": "research",
    "Write a script that renames photos by date": "writing_code",
    "Implement a login page": "writing_code",
    "refactor parser.py": "writing_code",
    "Hello!": "",
    "What is the capital of France?": "",
    "Tell me a joke about ducks": "",
    "Thank you, that is all": "",
    "What did I say about the bugle?": "",
    "Remind me of Anna's birthday": "",
    "Research this bug": "",
    "Write a letter to their customer service": "",
    "Help me organize a birthday party": "",
    "Translate: no exception is made": "",
    "Compare the two poems that I sent": "",
    "The stock market crash of 1929, in short": "",
}


@pytest.fixture(scope="module")
def packaged() -> dict[str, presets.Skill]:
    return texts.skills(())


@pytest.mark.parametrize(("text", "name"), CALLS.items(), ids=CALLS)
def test_what_a_message_calls_for(packaged: dict[str, presets.Skill], text: str, name: str) -> None:
    assert skills.chosen(text, packaged) == name


def test_each_is_short_and_in_steps(packaged: dict[str, presets.Skill]) -> None:
    assert len(packaged) == 5
    for skill in packaged.values():
        lines = skill.text.splitlines()
        assert [line[:3] for line in lines] == [f"{one}. " for one in range(1, 6)]
        assert len(skill.text.split()) <= MOST_WORDS


def test_no_keyword_is_of_two(packaged: dict[str, presets.Skill]) -> None:
    every = [word for skill in packaged.values() for word in skill.keywords]
    assert len(every) == len(set(every))


def test_an_owners_skill_is_beside_ours_or_in_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    folder.mkdir()
    (folder / "research.md").write_text("---\nkeywords: ask Anna\n---\nAsk Anna.\n")
    (folder / "baking.md").write_text("---\nkeywords: bread, Cake\n---\nBake.\n")
    found = settings.load(settings.Places(tmp_path), {}).skills
    assert found["research"] == presets.Skill(text="Ask Anna.", keywords=("ask anna",))
    assert found["baking"].keywords == ("bread", "cake")
    assert len(found) == 6


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Bake.", "the skill names no keywords"),
        ("---\nkeywords:\n---\nBake.", "the skill names no keywords"),
        ("---\nkeywords: bread\n---\n", "the skill names no keywords"),
        ("---\nkeywords: bread, ++\n---\nBake.", '"++" is no word'),
        (f"---\nkeywords: bread\n---\n{'x' * 4001}", "the skill has 4001 characters"),
        (
            f"---\nkeywords: {', '.join(f'w{n}' for n in range(65))}\n---\nBake.",
            "at most 64 items",
        ),
    ],
)
def test_a_file_that_is_no_skill(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "skills").mkdir()
    path = tmp_path / "skills" / "bad.md"
    path.write_text(text)
    with pytest.raises(errors.ConfigFault) as caught:
        settings.load(settings.Places(tmp_path), {})
    (fault,) = caught.value.faults
    assert fault.startswith(f"{path}: ")
    assert says in fault
