"""Writes many rows in few statements.

Each statement gives up the interpreter's lock once, so their number, not the rows', decides how
long a commit takes beside a busy event loop. Sixteen rows a statement keep the set of prepared
statements small.
"""

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import sqlalchemy

ROWS_PER_STATEMENT = 16

Cell = str | int | None
Row = tuple[Cell, ...]


class Upsert(NamedTuple):
    """What becomes of a row whose key is there: these columns are replaced."""

    key: str
    changes: tuple[str, ...]


@functools.lru_cache(maxsize=256)
def _text(table: str, columns: int, rows: int, upsert: Upsert | None) -> str:
    places = f"({placeholders(columns)})"
    text = f"INSERT INTO {table} VALUES {', '.join([places] * rows)}"
    if upsert is not None:
        sets = ", ".join(f"{name} = excluded.{name}" for name in upsert.changes)
        text += f" ON CONFLICT ({upsert.key}) DO UPDATE SET {sets}"
    return text


def insert(
    connection: sqlalchemy.Connection,
    table: str,
    rows: Sequence[Row],
    upsert: Upsert | None = None,
) -> None:
    """Insert rows, each with a cell for every column, in the order that `tables` has them.

    A row that breaks a key is an error, but for the key of `upsert`.
    """
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        part = rows[start : start + ROWS_PER_STATEMENT]
        text = _text(table, len(part[0]), len(part), upsert)
        run(connection, text, itertools.chain.from_iterable(part))


def run(connection: sqlalchemy.Connection, text: str, cells: Iterable[Cell]) -> None:
    """Run one statement of the open transaction at the driver's level, a fifth of Core's cost."""
    driver: Any = connection.connection.driver_connection
    driver.execute(text, tuple(cells))


def find(
    connection: sqlalchemy.Connection, text: str, cells: Iterable[Cell]
) -> list[tuple[Any, ...]]:
    """The rows of one question, as the driver has them."""
    driver: Any = connection.connection.driver_connection
    found: list[tuple[Any, ...]] = driver.execute(text, tuple(cells)).fetchall()
    return found


def placeholders(count: int) -> str:
    """The question marks of an `IN (…)`."""
    return ", ".join("?" * count)
