"""Structured logs on stderr: JSON, or readable on a terminal; the redactor sees every line last."""

import logging
import sys
from collections.abc import MutableMapping
from typing import TextIO

import structlog

from daemon.domain import redaction

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


class _Forward(logging.Handler):
    """What libraries log by the standard library, as lines like our own."""

    def emit(self, record: logging.LogRecord) -> None:
        log = structlog.get_logger(record.name)
        log.log(record.levelno, "library", message=record.getMessage(), exc_info=record.exc_info)


def set_up(level: str, redactor: redaction.Redactor, stream: TextIO) -> None:
    """Send all logs to a stream from now on."""
    readable = stream.isatty()
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if readable else structlog.processors.JSONRenderer()
    )

    def redact(
        logger: structlog.typing.WrappedLogger, name: str, event: str | MutableMapping[str, object]
    ) -> str:
        return redactor.redact(str(event))

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=not readable),
            structlog.processors.format_exc_info,
            renderer,
            redact,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    root.handlers = [_Forward()]
    root.setLevel(logging.WARNING)
    logging.captureWarnings(True)


def stderr() -> TextIO:
    """Where the daemon logs."""
    return sys.stderr
