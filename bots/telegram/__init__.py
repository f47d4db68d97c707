"""The Telegram bot, `ducklm-telegram`: moves what people say and see to and from the daemon.

In: `polling` takes updates from the Bot API, `updates` says what each is, `talking` and `pressing`
make the idempotent RPCs of it (`client_key` = bot and update id); only then is it confirmed. So
Telegram is the inbox, and a crash repeats harmlessly. Out: `deliveries` takes what is to be shown
from `Channels.Deliveries`, `previews`, `finals` and `cards` say how it looks, `rendering` makes it
text with entities, and `lanes` send it, one lane a chat and topic, within Telegram's limits.
`calls` is the only module that talks to the Bot API. `outgoing` are the values between them.

It keeps nothing: what is to be shown and what was shown is in the daemon.
"""
