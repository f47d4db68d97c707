"""The Telegram bot's own words, in English: one place, to be translated."""

import typing

# --- previews
STARTING: typing.Final = "…"
QUEUED: typing.Final = "waits for its turn"
WORKING: typing.Final = "working"
ELAPSED: typing.Final = "{what} · {seconds} s"
TOOL_RUNNING: typing.Final = "▸ {command}"
TOOL_DONE: typing.Final = "✓ {command}"
TOOL_FAILED: typing.Final = "✗ {command} ({outcome})"
TOOLS_MORE: typing.Final = "… {count} earlier ones"
WHOLE_OUTPUT: typing.Final = "Whole output"
THOUGHTS: typing.Final = "thinking"

# --- ends
DONE_WHAT: typing.Final = "{count} commands and tools"
DONE_ONE: typing.Final = "1 command or tool"
STOPPED: typing.Final = "Stopped."
NO_ANSWER: typing.Final = "No answer: {state}."
EMPTY_ANSWER: typing.Final = "(The answer is empty.)"
FORGOTTEN: typing.Final = "(This answer was forgotten.)"
WHOLE_IN_FILE: typing.Final = "The whole answer is in the file."
ANSWER_FILE: typing.Final = "answer.md"
GOOD: typing.Final = "👍"
BAD: typing.Final = "👎"

# --- approvals
CARD_TITLE: typing.Final = "{tool} asks to run"
CARD_FILE: typing.Final = "command.txt"
CARD_LONG: typing.Final = (
    "(The whole is in the file: {bytes} bytes, {lines} lines. Here is its beginning and its end.)"
)
CARD_GAP: typing.Final = "\n⋮\n"
CARD_FOLDER: typing.Final = "in {folder}"
CARD_REASON: typing.Final = "• {reason}"
CARD_EXPIRES: typing.Final = "expires {at}"
ONCE: typing.Final = "Once"
ALWAYS: typing.Final = "Always"
DENY: typing.Final = "Deny"
DENY_WHY: typing.Final = "Deny with a reason…"
CARD_CLOSED: typing.Final = {
    "ALLOWED": "✓ allowed by {by}",
    "DENIED": "✗ denied by {by}",
    "EXPIRED": "✗ nobody answered in time",
    "WITHDRAWN": "– the task ended first",
}
CARD_WHY: typing.Final = "“{reason}”"
NOBODY: typing.Final = "somebody"

# --- people and waiting tasks
PAIRING: typing.Final = "{name} ({who}) asks to talk to me. Their code is {code}."
PAIRING_ALLOWED: typing.Final = "{name} ({who}) may talk to me, says {by}."
PAIRING_REFUSED: typing.Final = "{name} ({who}) may not talk to me, says {by}."
LET_IN: typing.Final = "Let in"
KEEP_OUT: typing.Final = "Keep out"
WAITS: typing.Final = "The task “{task}” {state}."
WAITED: typing.Final = "The task “{task}” waits no more."
SECRET: typing.Final = (
    "It needs a secret: {what}. Your next message here is that secret; I delete it at once and "
    "use it once. /stop gives it up."
)
SECRET_ELSEWHERE: typing.Final = (
    "It needs a secret: {what}. Send it to me in our private chat, never here."
)
UNKNOWN_CALL: typing.Final = "Nobody saw how this ended: {call}"
MARK_DONE: typing.Final = "It was done"
RUN_AGAIN: typing.Final = "Run it again"
ABANDON: typing.Final = "Give up"
RETRY: typing.Final = "Try again"
