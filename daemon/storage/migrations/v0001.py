"""Version 1: the log, content, client keys, checkpoints, and the first projections."""

STATEMENTS = (
    """CREATE TABLE event (
        seq INTEGER PRIMARY KEY NOT NULL,
        at_ms INTEGER NOT NULL,
        task_id VARCHAR,
        conversation_id VARCHAR NOT NULL,
        correlation_id VARCHAR NOT NULL,
        type VARCHAR NOT NULL,
        version INTEGER NOT NULL,
        body VARCHAR NOT NULL,
        task_seq INTEGER,
        conversation_seq INTEGER NOT NULL
    )""",
    "CREATE INDEX event_by_task ON event (task_seq)",
    "CREATE INDEX event_by_conversation ON event (conversation_seq)",
    """CREATE TABLE content (
        content_id VARCHAR PRIMARY KEY NOT NULL,
        owner VARCHAR NOT NULL,
        text VARCHAR
    )""",
    """CREATE TABLE client_key (
        credential VARCHAR NOT NULL,
        client_key VARCHAR NOT NULL,
        body_hash VARCHAR NOT NULL,
        reply VARCHAR NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (credential, client_key)
    )""",
    """CREATE TABLE checkpoint (
        head_seq INTEGER PRIMARY KEY NOT NULL,
        version INTEGER NOT NULL,
        body VARCHAR NOT NULL
    )""",
    """CREATE TABLE task (
        submitted_seq INTEGER PRIMARY KEY NOT NULL,
        task_id VARCHAR NOT NULL,
        conversation_seq INTEGER NOT NULL,
        state VARCHAR NOT NULL,
        answered INTEGER NOT NULL,
        body VARCHAR NOT NULL,
        open_calls VARCHAR
    )""",
    "CREATE UNIQUE INDEX task_by_id ON task (task_id)",
    "CREATE INDEX task_by_conversation ON task (conversation_seq, submitted_seq)",
    "CREATE INDEX task_by_state ON task (state, submitted_seq)",
    """CREATE TABLE approval (
        requested_seq INTEGER PRIMARY KEY NOT NULL,
        approval_id VARCHAR NOT NULL,
        outcome VARCHAR,
        body VARCHAR NOT NULL
    )""",
    "CREATE UNIQUE INDEX approval_by_id ON approval (approval_id)",
    "CREATE INDEX approval_by_outcome ON approval (outcome, requested_seq)",
    """CREATE TABLE conversation (
        created_seq INTEGER PRIMARY KEY NOT NULL,
        conversation_id VARCHAR NOT NULL,
        body VARCHAR NOT NULL
    )""",
    "CREATE UNIQUE INDEX conversation_by_id ON conversation (conversation_id)",
    """CREATE TABLE projection (
        version INTEGER PRIMARY KEY NOT NULL,
        seq INTEGER NOT NULL,
        tasks INTEGER NOT NULL,
        approvals INTEGER NOT NULL,
        conversations INTEGER NOT NULL
    )""",
    "CREATE TABLE run (run_id INTEGER PRIMARY KEY NOT NULL, drained INTEGER NOT NULL)",
    "INSERT INTO run VALUES (1, 0)",
)
