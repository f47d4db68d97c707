"""Who is in the next batch, and with how many tokens."""

import pytest

from daemon.models.worker import schedule

W = schedule.Waiting

PREFILL = {
    "nothing": ([], []),
    "a long prompt takes a chunk": ([W(1, 500, 0)], [(1, 64)]),
    "the rest of a prompt takes what it needs": ([W(1, 5, 0)], [(1, 5)]),
    "a short prompt takes the batch before a long one": (
        [W(1, 500, 0), W(2, 20, 0)],
        [(2, 20)],
    ),
    "short prompts go together, shortest first": (
        [W(1, 500, 0), W(2, 30, 0), W(3, 20, 0), W(4, 60, 0)],
        [(3, 20), (2, 30)],
    ),
    "one that was passed over often enough goes first": (
        [W(1, 500, schedule.PASSES), W(2, 20, 0)],
        [(1, 64)],
    ),
    "of several overdue the first that came": (
        [W(1, 500, 9), W(2, 400, schedule.PASSES)],
        [(1, 64)],
    ),
    "of equal ones the first that came": ([W(1, 90, 0), W(2, 90, 0)], [(1, 64)]),
}


@pytest.mark.parametrize("case", PREFILL.values(), ids=PREFILL.keys())
def test_prefill(case: tuple[list[schedule.Waiting], list[tuple[int, int]]]) -> None:
    waiting, expected = case
    assert schedule.prefill(waiting, chunk=64) == expected


def test_nobody_starves_behind_a_stream_of_short_prompts() -> None:
    passed, served = 0, 0
    for turn in range(100):
        chosen = schedule.prefill([W(0, 1000, passed), W(turn + 1, 10, 0)], chunk=64)
        passed = 0 if chosen[0][0] == 0 else passed + 1
        served += chosen[0][0] == 0
        assert passed <= schedule.PASSES
    assert served >= 100 // (schedule.PASSES + 1)


CHUNKS = [
    (schedule.Speed(), False, schedule.FIRST_CHUNK_TOKENS),
    (schedule.Speed(0.01, 0.005), False, 44),
    (schedule.Speed(0.02, 0.005), True, 40),
    (schedule.Speed(0.01, 0.00001), False, 2048),
    (schedule.Speed(0.01, 1.0), False, schedule.LEAST_CHUNK_TOKENS),
    (schedule.Speed(0.5, 0.005), True, schedule.LEAST_CHUNK_TOKENS),
]


@pytest.mark.parametrize(("speed", "decoding", "tokens"), CHUNKS)
def test_chunk_tokens(speed: schedule.Speed, decoding: bool, tokens: int) -> None:
    assert speed.chunk_tokens(decoding, most=2048) == tokens


def test_a_chunk_settles_at_the_time_that_a_batch_should_take() -> None:
    per_token, decode = 0.004, 0.03
    speed = schedule.Speed().after(decode, 0, 1)
    seconds = 0.0
    for _ in range(12):
        count = speed.chunk_tokens(decoding=True, most=2048)
        seconds = decode + per_token * count
        speed = speed.after(seconds, count, 1)
    assert seconds == pytest.approx(schedule.TARGET_SECONDS, abs=per_token)


def test_a_batch_without_prompts_changes_only_the_decode_time() -> None:
    speed = schedule.Speed(0.01, 0.005).after(0.02, 0, 3)
    assert speed.prompt_token_seconds == 0.005
    assert 0.01 < speed.decode_seconds < 0.02


ADMISSIONS = [
    ([], 9999, True),
    ([100], 200, True),
    ([100, 100], 100, False),
    ([900], 200, False),
]


@pytest.mark.parametrize(("reserved", "wanted", "admitted"), ADMISSIONS)
def test_admits(reserved: list[int], wanted: int, admitted: bool) -> None:
    assert schedule.admits(reserved, wanted, places=2, cells=1000) == admitted
