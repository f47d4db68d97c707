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
PAIRING: typing.Final = (
    "{name} ({who}) asks to talk to me. Their code is {code}. Whoever is let in can have commands "
    "run in their own chat, each after their own yes."
)
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

# --- what is answered to people
HELLO_STRANGER: typing.Final = (
    "I do not know you. My owner has been asked whether you may talk to me; your code is {code}."
)
STILL_STRANGER: typing.Final = "My owner has not let you in."
ANONYMOUS: typing.Final = "I answer people, not anonymous admins: turn off “Remain anonymous”."
AWAY: typing.Final = (
    "I cannot reach my daemon just now. What you write is kept and handled when it is back."
)
AWAY_TOAST: typing.Final = "Not reachable just now. It counts as soon as the daemon is back."
NOT_OURS: typing.Final = "This button is none of mine."
PRESSED: typing.Final = {
    "ALLOWED": "Allowed.",
    "DENIED": "Denied.",
    "EXPIRED": "It had expired.",
    "WITHDRAWN": "The task had ended.",
}
WHY_NOT: typing.Final = "Why not? Answer this message with your reason."
WHY_TOAST: typing.Final = "Tell me why."
THANKS: typing.Final = "Noted."
SENDING: typing.Final = "The file comes."
DECIDED: typing.Final = "Done."
LET_IN_TOAST: typing.Final = "Let in."
KEPT_OUT_TOAST: typing.Final = "Kept out."
OLD_BUTTON: typing.Final = "I no longer know what this was about."
NEW_CONVERSATION: typing.Final = "A new conversation begins here."
STOPPED_COUNT: typing.Final = "Stopped: {count}."
NOTHING_RUNS: typing.Final = "Nothing runs or waits here."
NOTHING_YET: typing.Final = "Nothing was said here yet."
NO_TASKS: typing.Final = "No tasks yet."
NO_APPROVALS: typing.Final = "Nothing waits for a yes."
TASK_LINE: typing.Final = "• {text} – {state}"
APPROVAL_LINE: typing.Final = "• `{tool}` for “{text}”"
STATUS: typing.Final = (
    "DuckLM {version}\n{running} running, {queued} queued, {waiting} waiting, "
    "{approvals} approvals pending\n{slots}"
)
SLOT_LINE: typing.Final = "• {name}: {state}"
NOTICE_LINE: typing.Final = "⚠ {text}"
NO_DIFF: typing.Final = "The last task changed nothing that the history has."
NO_ANSWER_YET: typing.Final = "There is no answer here yet."
UNDONE: typing.Final = "Taken back: the last message and {count} commits."
UNDO_LEFT: typing.Final = "Not taken back: {line}"
FILES_NONE: typing.Final = "There are no files."
FILES_MORE: typing.Final = "… and more."
FOLDER_LINE: typing.Final = "📁 `{path}/`"
FILE_LINE: typing.Final = "• `{path}` ({size})"
FILES_HOW: typing.Final = "\n/files with a path sends the file."
PROJECTS: typing.Final = "This conversation works in {folder}. Choose another:"
DEFAULT_FOLDER: typing.Final = "the daemon's own folder"
NOT_A_PROJECT: typing.Final = (
    "There is no project {name}. Name one at the terminal: ducklm project."
)
VOICE: typing.Final = (
    "I cannot hear: no speech model is configured. Write it, or let your phone write it for you; "
    "the README says what will be needed under “Voice”."
)
CANNOT_SEE: typing.Final = "The picture is kept, but no model here can see pictures."
TOO_BIG: typing.Final = "{name} is too big: at most {most} MB can be sent to me."
FILE_ALONE: typing.Final = "Here are files: {names}"
SECRET_TAKEN: typing.Final = "Taken, used once, and your message is deleted."
SECRET_NOT_DELETED: typing.Final = "Taken. I could not delete your message: delete it yourself."

# --- settings
SETTINGS: typing.Final = "How this conversation works:"
MODES: typing.Final = "How much may I do unasked?"
STEERING: typing.Final = "What becomes of a message that comes while a task runs?"
CHOSEN: typing.Final = "● {name}"
NAMES: typing.Final = {
    "plan": "plan: only look",
    "build": "build: ask first",
    "yolo": "yolo: just do",
    "queue": "it waits its turn",
    "steer": "it steers the task",
    "mode": "How much I may do: {value}",
    "steering": "Messages meanwhile: {value}",
    "project": "Project: {value}",
}
BACK: typing.Final = "‹ back"

# --- faults of settings, for whoever starts the bot
NO_BOT_TOKEN: typing.Final = (
    "There is no Telegram token: get one from @BotFather and put it into {path} (chmod 600), "
    "or into DUCKLM_TELEGRAM_TOKEN."
)
BAD_BOT_TOKEN: typing.Final = (
    "The Telegram token is none: it looks like 123456:ABC…, as @BotFather gave it."
)
TOKEN_NOT_TAKEN: typing.Final = (
    "Telegram does not take the token: get a new one from @BotFather with /token."
)
NO_DAEMON_TOKEN: typing.Final = (
    "The bot has no token of its own for the daemon at {path}: start it with ./scripts/run, or "
    "make one with `ducklm token create`."
)
DAEMON_TOKEN_NOT_TAKEN: typing.Final = (
    "The daemon does not take the bot's token: delete {path} and start again with ./scripts/run."
)
NO_OWNER: typing.Final = (
    "Nobody owns this bot: write your Telegram number into daemon.toml, as\n"
    '[owner]\ntelegram = ["123456789"]\n'
    "and restart the daemon. @userinfobot tells you your number."
)
NO_CA: typing.Final = "There is no file {path} with the daemon's CA: see ca in bots.toml."
SECRET_IS_OPEN: typing.Final = "Others can read {path}. Run: chmod 600 {path}"
SECRET_UNREADABLE: typing.Final = "{path} cannot be read."
BAD_FILE: typing.Final = "{path} cannot be used: {why}"
UNKNOWN_KEY: typing.Final = "{path}: telegram.{key} is no setting; bots.toml of DuckLM lists them."
WRONG_KIND: typing.Final = "{path}: telegram.{key} must be a {kind}."
