"""Version 5: deliveries, and what bots keep for themselves."""

STATEMENTS = (
    """CREATE TABLE delivery (
        delivery_id VARCHAR PRIMARY KEY NOT NULL,
        created_seq INTEGER NOT NULL,
        changed_seq INTEGER NOT NULL,
        account VARCHAR NOT NULL,
        chat VARCHAR NOT NULL,
        state VARCHAR NOT NULL,
        is_open INTEGER NOT NULL,
        messages VARCHAR NOT NULL,
        body VARCHAR NOT NULL
    )""",
    "CREATE INDEX delivery_by_open ON delivery (changed_seq) WHERE is_open = 1",
    "CREATE INDEX delivery_by_chat ON delivery (account, chat, created_seq)",
    """CREATE TABLE cursor (
        credential VARCHAR NOT NULL,
        name VARCHAR NOT NULL,
        value VARCHAR NOT NULL,
        PRIMARY KEY (credential, name)
    )""",
    "ALTER TABLE projection ADD COLUMN deliveries INTEGER NOT NULL DEFAULT 0",
)
