"""Text in pieces: the first at once, later ones coalesced."""

from daemon.models.worker import pieces


def test_the_first_piece_is_due_at_once() -> None:
    out = pieces.Pieces()
    out.add("a")
    assert out.due(now=10.0, next_in=0.0) == "a"


def test_later_pieces_wait_at_most_the_coalescing_time() -> None:
    out = pieces.Pieces()
    out.add("a")
    out.due(now=10.0, next_in=0.009)
    sent = []
    for count in range(1, 9):
        out.add("b")
        sent.append(out.due(now=10.0 + 0.009 * count, next_in=0.009))
    assert sent == ["", "", "", "bbbb", "", "", "", "bbbb"]


def test_what_cannot_wait_for_a_slow_next_token_goes_now() -> None:
    out = pieces.Pieces()
    out.add("a")
    out.due(now=10.0, next_in=0.2)
    out.add("b")
    assert out.due(now=10.001, next_in=0.2) == "b"


def test_finish_gives_the_rest() -> None:
    out = pieces.Pieces()
    out.add("a")
    out.due(now=1.0, next_in=0.0)
    out.add("b")
    assert out.finish() == "b"
    assert out.text() == "ab"
