"""Version 7: the runs of schedules."""

STATEMENTS = (
    """CREATE TABLE schedule_run (
        number INTEGER PRIMARY KEY NOT NULL,
        run_id VARCHAR NOT NULL,
        schedule_id VARCHAR NOT NULL,
        conversation_seq INTEGER NOT NULL,
        principal VARCHAR NOT NULL,
        due_ms INTEGER NOT NULL,
        by_hand INTEGER NOT NULL,
        task_id VARCHAR,
        body VARCHAR NOT NULL
    )""",
    "CREATE UNIQUE INDEX run_by_id ON schedule_run (run_id)",
    "CREATE UNIQUE INDEX run_by_due ON schedule_run (schedule_id, due_ms) WHERE by_hand = 0",
    "CREATE INDEX run_by_schedule ON schedule_run (schedule_id, number)",
    "ALTER TABLE projection ADD COLUMN runs INTEGER NOT NULL DEFAULT 0",
)
