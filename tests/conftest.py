"""What every test shares: acceptance runs, seeds, measured figures, and no network but loopback.

`--acceptance 13,14` (or `all`) runs the tests marked with those numbers, at their full counts and
with twenty times the time, and ends with one line a number. Without it the same tests run at a
twentieth of their counts, at least 5.
"""

import ipaddress
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

PART_OF_FULL = 20
LEAST_ROUNDS = 5
DEFAULT_TIMEOUT_SECONDS = 120.0

_chosen = pytest.StashKey[frozenset[int] | None]()
_seed = pytest.StashKey[int]()

Figures = Callable[[str, object], None]
Rounds = Callable[[int], int]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ducklm")
    group.addoption("--acceptance", metavar="N[,N]|all", help="run these items at full counts")
    group.addoption("--seed", type=int, metavar="N", help="repeat a run with the seed it printed")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_chosen] = _parse_numbers(config.getoption("--acceptance"))
    seed = config.getoption("--seed")
    config.stash[_seed] = random.SystemRandom().randrange(2**32) if seed is None else seed
    config.option.seed = config.stash[_seed]  # every process of a run has the same
    sys.addaudithook(_refuse_foreign_network)


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed: {config.stash[_seed]} (repeat with --seed)"


def _parse_numbers(option: str | None) -> frozenset[int] | None:
    """The chosen items: None for an ordinary run, the empty set for all."""
    if option is None:
        return None
    if option == "all":
        return frozenset()
    try:
        return frozenset(int(part) for part in option.split(","))
    except ValueError as error:
        message = f"--acceptance takes numbers such as 13,14, or all; not {option!r}"
        raise pytest.UsageError(message) from error


def _numbers(item: pytest.Item) -> list[int]:
    return sorted(number for mark in item.iter_markers("acceptance") for number in mark.args)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        item.user_properties.extend(("acceptance", number) for number in _numbers(item))
    chosen = config.stash[_chosen]
    if chosen is None:
        return
    kept = [item for item in items if _is_chosen(set(_numbers(item)), chosen)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
    for item in kept:
        item.add_marker(pytest.mark.timeout(_timeout_seconds(item) * PART_OF_FULL), append=False)


def _is_chosen(numbers: set[int], chosen: frozenset[int]) -> bool:
    return bool(numbers & chosen) if chosen else bool(numbers)


def _timeout_seconds(item: pytest.Item) -> float:
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0]) if mark and mark.args else DEFAULT_TIMEOUT_SECONDS


@pytest.fixture(scope="session")
def rounds(pytestconfig: pytest.Config) -> Rounds:
    """How often to repeat: the full count in an acceptance run, else a twentieth, at least 5."""
    if pytestconfig.stash[_chosen] is not None:
        return lambda full: full
    return lambda full: min(full, max(LEAST_ROUNDS, full // PART_OF_FULL))


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Record a measured figure for the acceptance table: `figures("lost tasks", 0)`."""
    properties = request.node.user_properties
    return lambda name, value: properties.append(("figure", (name, value)))


@pytest.fixture
def seed(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> int:
    """The run's seed; a failing test shows it, and `--seed` repeats it."""
    value = pytestconfig.stash[_seed]
    request.node.add_report_section("setup", "seed", f"repeat with --seed {value}")
    return value


class ForeignNetwork(AssertionError):
    """A test reached for an address that is not loopback."""


def _refuse_foreign_network(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook over this process's own sockets (native gRPC and child processes excepted)."""
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not _is_local(host):
        raise ForeignNetwork(f"{event} to {host!r}: tests stay on loopback")


def _is_local(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(str(name))
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def pytest_sessionfinish(session: pytest.Session) -> None:
    """An item that was asked for and has no test is a failure."""
    found = {number for item in session.items for number in _numbers(item)}
    if (session.config.stash[_chosen] or frozenset()) - found:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if config.stash[_chosen] is None:
        return
    rows = dict(_rows(terminalreporter))
    wanted = config.stash[_chosen] or frozenset()
    terminalreporter.section("acceptance")
    for number in sorted(rows.keys() | wanted):
        terminalreporter.write_line(f"{number:>4}  {rows.get(number, 'no test')}")


def _rows(reporter: pytest.TerminalReporter) -> Iterator[tuple[int, str]]:
    """One line a number: whether all of its tests passed, and what they measured."""
    reports = [
        (outcome, report)
        for outcome in ("passed", "failed", "error", "skipped")
        for report in reporter.stats.get(outcome, [])
    ]
    numbers = {v for _, report in reports for k, v in report.user_properties if k == "acceptance"}
    for number in numbers:
        mine = [(o, r) for o, r in reports if ("acceptance", number) in r.user_properties]
        bad = sum(outcome != "passed" for outcome, _ in mine)
        measured = [v for _, report in mine for k, v in report.user_properties if k == "figure"]
        verdict = f"{bad} of {len(mine)} FAILED" if bad else f"passed ({len(mine)})"
        yield number, " · ".join([verdict, *(f"{name}: {value}" for name, value in measured)])
