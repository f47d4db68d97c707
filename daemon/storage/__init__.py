"""The log, its projections and records in SQLite, large bytes in files, and fakes of both.

    SqliteStore ── writer thread ── Writer ──► event_store · projection_rows · records
         │                            │                └── bulk, codec
         │                            └── projections, task_row (pure: rows before + events
         │                                 → rows after, and added_rows beside them)
         └──────── reader threads ─── queries, history ──► tables

`sqlite_store.open_store` is the way in; `in_memory.InMemoryStore` keeps the same contract without a
disk. `lock` guards the state folder and imports the standard library alone, because the daemon
takes it before anything heavy. `database` is the only module that opens the database path.

One connection writes, on a thread of its own, each transaction BEGIN IMMEDIATE; readers are a
separate engine that cannot write and reads short pages. Events carry, beside the ids in text, the
sequence numbers of their task and conversation: ids are random, so an index over them would
dirty a page an event, one over small growing numbers a few pages a batch (38 µs against 21 µs of
processor time an event, in batches of 64).

Rows go in sixteen to a statement, because each statement gives up the interpreter's lock once: one
statement a row is as fast on an idle machine, but takes ten times as long beside a busy thread.

`tables` says in SQLModel what the schema is, and only looks for a person ask by it: its classes
take a seventh of a start to make, so they are loaded with the first look. Rows are written in the
order of the columns.

Projections are JSON with the columns that are searched by beside it: their shape can grow without a
migration, since a projection of another version is rebuilt from the log at open. What is told of a
task to later models grows with each of its calls, so it stands in rows of its own that are added
and never written again; `domain.fold_said` says what they are, for live tasks as for ended ones.

A deleted conversation keeps its rows, as the log has its events, and no read shows them; its texts
are nulled with the event that deletes it, and one that comes late is not kept.
"""
