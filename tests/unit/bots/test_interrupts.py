"""Ctrl-C at the worst moment: after the last line of Python and before the read blocks."""

import collections
import ctypes
import functools
import operator
import select
import signal
import socket
from collections.abc import Callable

import pytest

from bots.terminal import interrupts

PATIENCE_S = 30.0


def in_one_go(*calls: Callable[[], object]) -> None:
    """Call one after the other without a line of Python between, where signals would be seen."""
    collections.deque(map(operator.call, calls), maxlen=0)


def test_ctrl_c_just_before_the_wait_is_heard_without_a_key() -> None:
    watched = interrupts.Interrupts()
    here, there = socket.socketpair()
    waited: list[str] = []
    with here, there, watched.watching(), pytest.raises(KeyboardInterrupt), watched.accepted():
        in_one_go(
            functools.partial(getattr(ctypes.CDLL(None), "raise"), int(signal.SIGINT)),
            functools.partial(select.select, [here], [], [], PATIENCE_S),
            functools.partial(waited.append, "to the end"),
        )
    assert not waited


def test_ctrl_c_between_waits_is_kept_for_the_next_one() -> None:
    watched = interrupts.Interrupts()
    with watched.watching():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), watched.accepted():
            pass
        with watched.accepted():
            pass


def test_nothing_of_it_stays_when_watching_ends() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)
    watched = interrupts.Interrupts()
    with watched.watching(), watched.accepted():
        assert signal.getitimer(signal.ITIMER_REAL)[1] > 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)) == before


def test_watching_within_watching_leaves_it_to_the_outer_one() -> None:
    watched = interrupts.Interrupts()
    with watched.watching():
        with watched.watching():
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), watched.accepted():
            pass
        with watched.accepted():
            assert signal.getitimer(signal.ITIMER_REAL)[1] > 0
