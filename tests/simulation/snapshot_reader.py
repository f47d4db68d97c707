"""A foreign program that reads the database: holds a snapshot until its input ends."""

import sqlite3
import sys
from contextlib import closing


def main() -> None:
    with closing(sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)) as database:
        database.execute("BEGIN")
        (count,) = database.execute("SELECT count(*) FROM event").fetchone()
        sys.stdout.write(f"{count}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
