"""Version 6: which deliveries the messages of a chat showed, however long ago."""

STATEMENTS = (
    """CREATE TABLE delivery_message (
        account VARCHAR NOT NULL,
        chat VARCHAR NOT NULL,
        message_id VARCHAR NOT NULL,
        delivery_id VARCHAR NOT NULL,
        PRIMARY KEY (account, chat, message_id, delivery_id)
    )""",
    """INSERT INTO delivery_message
        SELECT account, chat, shown.value, delivery_id
        FROM delivery, json_each(delivery.body, '$.platform_ids') AS shown
        WHERE true ON CONFLICT DO NOTHING""",
)
