"""The log: JSON beside a terminal, one correlation id a request, and no secret whatever happens."""

import io
import json
import logging
import warnings
from collections.abc import Iterator

import pytest
import structlog

from daemon import logs
from daemon.domain import redaction

pytestmark = pytest.mark.spec("D-20")

SECRET = 'sw0rd"fish\\ä'


class Terminal(io.StringIO):
    """A stream that a person reads."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Leave logging as it was."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers, root.level = handlers, level
    logging.captureWarnings(False)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture
def stream() -> io.StringIO:
    made = io.StringIO()
    logs.set_up("info", redaction.Redactor((SECRET,)), made)
    return made


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def log() -> structlog.typing.FilteringBoundLogger:
    made: structlog.typing.FilteringBoundLogger = structlog.get_logger("test")
    return made


def test_a_line_is_a_json_object(stream: io.StringIO) -> None:
    log().info("served", method="Ask", count=3)
    (line,) = lines(stream)
    assert (line["event"], line["level"], line["method"], line["count"]) == (
        "served",
        "info",
        "Ask",
        3,
    )
    assert str(line["timestamp"]).endswith("Z")


def test_a_person_reads_words() -> None:
    terminal = Terminal()
    logs.set_up("info", redaction.Redactor((SECRET,)), terminal)
    log().info("served", secret=SECRET)
    (line,) = terminal.getvalue().splitlines()
    assert "served" in line
    assert not line.startswith("{")
    assert "fish" not in line


@pytest.mark.parametrize(
    ("level", "seen"),
    [
        ("debug", ["debug", "info", "warning", "error"]),
        ("info", ["info", "warning", "error"]),
        ("warning", ["warning", "error"]),
        ("error", ["error"]),
    ],
)
def test_a_level_hides_what_is_below(level: str, seen: list[str]) -> None:
    stream = io.StringIO()
    logs.set_up(level, redaction.Redactor(), stream)
    for name in ("debug", "info", "warning", "error"):
        getattr(log(), name)("event")
    assert [line["level"] for line in lines(stream)] == seen


def test_the_correlation_id_stands_in_every_line(stream: io.StringIO) -> None:
    with structlog.contextvars.bound_contextvars(correlation_id="c-1"):
        log().info("inside")
        logging.getLogger("library").warning("inside too")
    log().info("outside")
    assert [line.get("correlation_id") for line in lines(stream)] == ["c-1", "c-1", None]


def fail(with_what: str) -> None:
    raise ValueError(f"cannot open {with_what}")


class TestSecrets:
    def clean(self, stream: io.StringIO) -> None:
        text = stream.getvalue()
        assert text
        assert "fish" not in text
        assert "0123456789abcdef" not in text
        assert redaction.MASK in text
        assert lines(stream)

    def test_in_a_value(self, stream: io.StringIO) -> None:
        log().info("event", password=SECRET, nested={"list": [SECRET]})
        self.clean(stream)

    def test_in_the_event(self, stream: io.StringIO) -> None:
        log().info(f"password {SECRET}")
        self.clean(stream)

    def test_in_an_exception(self, stream: io.StringIO) -> None:
        try:
            fail(SECRET)
        except ValueError:
            log().exception("broke")
        self.clean(stream)
        assert "cannot open" in stream.getvalue()

    def test_in_the_cause_of_an_exception(self, stream: io.StringIO) -> None:
        try:
            try:
                fail(SECRET)
            except ValueError as error:
                raise KeyError(SECRET) from error
        except KeyError:
            log().exception("broke")
        self.clean(stream)

    def test_in_the_context(self, stream: io.StringIO) -> None:
        with structlog.contextvars.bound_contextvars(password=SECRET):
            log().info("event")
        self.clean(stream)

    def test_in_what_a_library_says(self, stream: io.StringIO) -> None:
        logging.getLogger("grpc").error("bad token %s", SECRET)
        self.clean(stream)

    @pytest.mark.parametrize("header", ["Bearer 0123456789abcdef", "bearer  0123456789abcdef=="])
    def test_that_nobody_registered(self, stream: io.StringIO, header: str) -> None:
        log().warning("refused", metadata=(("authorization", header),))
        self.clean(stream)


class TestLibraries:
    def test_warnings_and_worse_are_lines_like_ours(self, stream: io.StringIO) -> None:
        library = logging.getLogger("some.library")
        library.info("hidden")
        library.warning("seen %d", 1)
        (line,) = lines(stream)
        assert (line["event"], line["level"], line["message"]) == ("library", "warning", "seen 1")

    def test_their_exceptions_too(self, stream: io.StringIO) -> None:
        try:
            fail("it")
        except ValueError:
            logging.getLogger("some.library").exception("broke")
        (line,) = lines(stream)
        assert line["level"] == "error"
        assert "ValueError: cannot open it" in str(line["exception"])

    def test_python_warnings_too(self, stream: io.StringIO) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            logging.captureWarnings(True)
            warnings.warn("this is old", DeprecationWarning, stacklevel=1)
            logging.captureWarnings(False)
        (line,) = lines(stream)
        assert "this is old" in str(line["message"])
