"""Version 3: where untrusted text came from, beside contents and artifacts."""

STATEMENTS = (
    "ALTER TABLE content ADD COLUMN taint VARCHAR",
    """CREATE TABLE artifact_taint (
        artifact_id VARCHAR PRIMARY KEY NOT NULL,
        taint VARCHAR NOT NULL
    )""",
)
