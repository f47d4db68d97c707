"""Version 2: tokens. A name may come again once its token is revoked."""

STATEMENTS = (
    """CREATE TABLE token (
        created_seq INTEGER PRIMARY KEY NOT NULL,
        token_id VARCHAR NOT NULL,
        name VARCHAR NOT NULL,
        digest VARCHAR NOT NULL,
        principal VARCHAR NOT NULL,
        scopes VARCHAR NOT NULL,
        created_ms INTEGER NOT NULL,
        revoked_ms INTEGER
    )""",
    "CREATE UNIQUE INDEX token_by_id ON token (token_id)",
    "CREATE UNIQUE INDEX token_by_digest ON token (digest)",
    "CREATE UNIQUE INDEX token_by_live_name ON token (name) WHERE revoked_ms IS NULL",
)
