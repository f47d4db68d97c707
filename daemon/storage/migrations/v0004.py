"""Version 4: projects, presets, deleted conversations, summaries, and what past tasks were told."""

STATEMENTS = (
    """CREATE TABLE project (
        name VARCHAR PRIMARY KEY NOT NULL,
        folder VARCHAR NOT NULL,
        created_ms INTEGER NOT NULL
    )""",
    "CREATE UNIQUE INDEX project_by_folder ON project (folder)",
    """CREATE TABLE preset (
        kind VARCHAR NOT NULL,
        name VARCHAR NOT NULL,
        body VARCHAR NOT NULL,
        PRIMARY KEY (kind, name)
    )""",
    "ALTER TABLE task ADD COLUMN plan VARCHAR",
    "ALTER TABLE approval ADD COLUMN conversation_seq INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE conversation ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX conversation_by_deleted ON conversation (conversation_id) WHERE deleted = 1",
    """CREATE TABLE said (
        seq INTEGER PRIMARY KEY NOT NULL,
        task_seq INTEGER NOT NULL,
        body VARCHAR NOT NULL
    )""",
    "CREATE INDEX said_by_task ON said (task_seq)",
    """CREATE TABLE summary (
        seq INTEGER PRIMARY KEY NOT NULL,
        conversation_seq INTEGER NOT NULL,
        up_to_seq INTEGER NOT NULL,
        content_id VARCHAR NOT NULL
    )""",
    "CREATE INDEX summary_by_conversation ON summary (conversation_seq)",
    "ALTER TABLE projection ADD COLUMN said INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE projection ADD COLUMN summaries INTEGER NOT NULL DEFAULT 0",
)
