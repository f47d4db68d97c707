"""Writes many rows in few statements.

Each statement gives up the interpreter's lock once, so their number, not the rows', decides how
long a commit takes beside a busy event loop. Sixteen rows a statement keep the set of prepared
statements small.
"""

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy

ROWS_PER_STATEMENT = 16

Cell = str | int | None
Row = tuple[Cell, ...]


@functools.lru_cache(maxsize=256)
def _text(table: sqlalchemy.Table, rows: int, changes: tuple[str, ...]) -> str:
    names = [column.name for column in table.columns]
    places = "(" + ", ".join("?" * len(names)) + ")"
    text = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES {', '.join([places] * rows)}"
    if changes:
        (key,) = table.primary_key.columns
        sets = ", ".join(f"{name} = excluded.{name}" for name in changes)
        text += f" ON CONFLICT ({key.name}) DO UPDATE SET {sets}"
    return text


def insert(
    connection: sqlalchemy.Connection,
    table: sqlalchemy.Table,
    rows: Sequence[Row],
    changes: tuple[str, ...] = (),
) -> None:
    """Insert rows, each with a cell a column in the table's order.

    A row whose primary key is there is an error, or, with `changes`, has these columns replaced.
    """
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        part = rows[start : start + ROWS_PER_STATEMENT]
        run(connection, _text(table, len(part), changes), itertools.chain.from_iterable(part))


def run(connection: sqlalchemy.Connection, text: str, cells: Iterable[Cell]) -> None:
    """Run one statement of the open transaction at the driver's level, a fifth of Core's cost."""
    driver: Any = connection.connection.driver_connection
    driver.execute(text, tuple(cells))


def placeholders(count: int) -> str:
    """The question marks of an `IN (…)`."""
    return ", ".join("?" * count)
