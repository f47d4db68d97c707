"""How much one visit may take. Each is settable; the units are in the names. Decides nothing."""

from dataclasses import dataclass

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of one visit, all of its redirects together where nothing else is said."""

    seconds: float = 30.0
    connect_seconds: float = 8.0
    """For one connection, its TLS included."""
    first_byte_seconds: float = 15.0
    """From the request until its answer begins; of one hop."""
    redirects: int = 5
    header_bytes: int = 64 * 1024
    """Of one answer's head."""
    wire_bytes: int = 4 * _MIB
    """Of one answer's body as it is sent."""
    body_bytes: int = 4 * _MIB
    """Of one answer's body when it is no longer compressed."""
    memory_bytes: int = 1024 * _MIB
    """Of the child, its libraries included."""
    processor_seconds: int = 20
    """Of the child."""


DEFAULT = Bounds()
