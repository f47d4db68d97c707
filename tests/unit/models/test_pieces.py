"""From bytes to pieces: whole characters, the first at once, later ones coalesced."""

from daemon.models.worker import pieces

DUCK = "🦆".encode()


def test_the_first_piece_is_due_at_once() -> None:
    out = pieces.Pieces()
    out.add(b"a")
    assert out.due(now=10.0, next_in=0.0) == "a"


def test_later_pieces_wait_at_most_the_coalescing_time() -> None:
    out = pieces.Pieces()
    out.add(b"a")
    out.due(now=10.0, next_in=0.009)
    sent = []
    for count in range(1, 9):
        out.add(b"b")
        sent.append(out.due(now=10.0 + 0.009 * count, next_in=0.009))
    assert sent == ["", "", "", "bbbb", "", "", "", "bbbb"]


def test_what_cannot_wait_for_a_slow_next_token_goes_now() -> None:
    out = pieces.Pieces()
    out.add(b"a")
    out.due(now=10.0, next_in=0.2)
    out.add(b"b")
    assert out.due(now=10.001, next_in=0.2) == "b"


def test_a_character_is_never_split() -> None:
    out = pieces.Pieces()
    for byte in DUCK[:-1]:
        out.add(bytes([byte]))
        assert out.due(now=1.0, next_in=1.0) == ""
    out.add(DUCK[-1:])
    assert out.due(now=1.0, next_in=1.0) == "🦆"


def test_finish_gives_the_rest_and_marks_what_was_never_completed() -> None:
    out = pieces.Pieces()
    out.add(b"a" + DUCK[:2])
    assert out.finish() == "a\ufffd"
    assert out.text() == "a\ufffd"
