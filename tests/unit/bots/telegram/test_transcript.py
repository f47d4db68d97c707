"""The transcript that the README shows is what the bot would show."""

from tests.unit.bots.telegram import transcript


def test_the_transcript_is_as_it_was() -> None:
    mend = "look at it, then run python -m tests.unit.bots.telegram.transcript"
    assert transcript.PATH.read_text("utf-8") == transcript.made(), mend
