"""The Telegram bot's own words, in English: one place, to be translated."""

# --- previews
STARTING = "…"
QUEUED = "waits for its turn"
WORKING = "working"
ELAPSED = "{what} · {seconds} s"
TOOL_RUNNING = "▸ {command}"
TOOL_DONE = "✓ {command}"
TOOL_FAILED = "✗ {command} ({outcome})"
TOOLS_MORE = "… {count} earlier ones"
WHOLE_OUTPUT = "Whole output"
THOUGHTS = "thinking"

# --- ends
DONE_WHAT = "{count} commands and tools"
DONE_ONE = "1 command or tool"
STOPPED = "Stopped."
NO_ANSWER = "No answer: {state}."
EMPTY_ANSWER = "(The answer is empty.)"
FORGOTTEN = "(This answer was forgotten.)"
WHOLE_IN_FILE = "The whole answer is in the file."
ANSWER_FILE = "answer.md"
GOOD = "👍"
BAD = "👎"

# --- approvals
CARD_TITLE = "{tool} asks to run"
CARD_FILE = "command.txt"
CARD_LONG = (
    "(The whole is in the file: {bytes} bytes, {lines} lines. Here is its beginning and its end.)"
)
CARD_GAP = "\n⋮\n"
CARD_FOLDER = "in {folder}"
CARD_REASON = "• {reason}"
CARD_EXPIRES = "expires {at}"
ONCE = "Once"
ALWAYS = "Always"
DENY = "Deny"
DENY_WHY = "Deny with a reason…"
CARD_CLOSED = {
    "ALLOWED": "✓ allowed by {by}",
    "DENIED": "✗ denied by {by}",
    "EXPIRED": "✗ nobody answered in time",
    "WITHDRAWN": "– the task ended first",
}
CARD_WHY = "“{reason}”"
NOBODY = "somebody"

# --- people and waiting tasks
PAIRING = (
    "{name} ({who}) asks to talk to me. Their code is {code}. Whoever is let in can have commands "
    "run in their own chat, each after their own yes."
)
PAIRING_ALLOWED = "{name} ({who}) may talk to me, says {by}."
PAIRING_REFUSED = "{name} ({who}) may not talk to me, says {by}."
LET_IN = "Let in"
KEEP_OUT = "Keep out"
WAITS = "The task “{task}” {state}."
WAITED = "The task “{task}” waits no more."
SECRET = (
    "It needs a secret: {what}. Your next message here is that secret; I delete it at once and "
    "use it once. /stop gives it up."
)
SECRET_ELSEWHERE = "It needs a secret: {what}. Send it to me in our private chat, never here."
UNKNOWN_CALL = "Nobody saw how this ended: {call}"
MARK_DONE = "It was done"
RUN_AGAIN = "Run it again"
ABANDON = "Give up"
RETRY = "Try again"

# --- what is answered to people
HELLO_STRANGER = (
    "I do not know you. My owner has been asked whether you may talk to me; your code is {code}."
)
STILL_STRANGER = "My owner has not let you in."
ANONYMOUS = "I answer people, not anonymous admins: turn off “Remain anonymous”."
AWAY = "I cannot reach my daemon just now. What you write is kept and handled when it is back."
SLOW_TOAST = "I am at it."
AWAY_TOAST = "Not reachable just now. It counts as soon as the daemon is back."
BROKE = "Something in me broke with that. It is in my log; try it in other words."
GIVEN_UP = "I could not get that done, and others wait. Try it again, please."
NOT_OURS = "This button is none of mine."
PRESSED = {
    "ALLOWED": "Allowed.",
    "DENIED": "Denied.",
    "EXPIRED": "It had expired.",
    "WITHDRAWN": "The task had ended.",
}
WHY_NOT = "Why not? Answer this message with your reason."
WHY_TOAST = "Tell me why."
THANKS = "Noted."
SENDING = "The file comes."
DECIDED = "Done."
LET_IN_TOAST = "Let in."
KEPT_OUT_TOAST = "Kept out."
OLD_BUTTON = "I no longer know what this was about."
NEW_CONVERSATION = "A new conversation begins here."
STOPPED_COUNT = "Stopped: {count}."
NOTHING_RUNS = "Nothing runs or waits here."
NOTHING_YET = "Nothing was said here yet."
NO_TASKS = "No tasks yet."
NO_APPROVALS = "Nothing waits for a yes."
TASK_LINE = "• {text} – {state}"
APPROVALS_MORE = "… and more."
APPROVAL_LINE = "• `{tool}` for “{text}”"
STATUS = (
    "DuckLM {version}\n{running} running, {queued} queued, {waiting} waiting, "
    "{approvals} approvals pending\n{slots}"
)
SLOT_LINE = "• {name}: {state}"
NOTICE_LINE = "⚠ {text}"
NO_DIFF = "The last task changed nothing that the history has."
NO_ANSWER_YET = "There is no answer here yet."
UNDONE = "Taken back: the last message and {count} commits."
UNDO_LEFT = "Not taken back: {line}"
FILES_NONE = "There are no files."
FILES_MORE = "… and more."
FOLDER_LINE = "📁 `{path}/`"
FILE_LINE = "• `{path}` ({size})"
FILES_HOW = "\n/files with a path sends the file."
PROJECTS = "This conversation works in {folder}. Choose another:"
DEFAULT_FOLDER = "the daemon's own folder"
NOT_A_PROJECT = "There is no project {name}. Name one at the terminal: ducklm project."
VOICE = (
    "I cannot hear: no speech model is configured. Write it, or let your phone write it for you; "
    "the README says what will be needed under “Voice”."
)
CANNOT_SEE = "The picture is kept, but no model here can see pictures."
TOO_BIG = "{name} is too big: at most {most} MB can be sent to me."
FILE_NOT_GIVEN = "Telegram did not give me {name}. Send it again, please."
FILE_ALONE = "Here are files: {names}"
SECRET_TAKEN = "Taken, used once, and your message is deleted."
SECRET_NOT_DELETED = "Taken. I could not delete your message: delete it yourself."

# --- settings
SETTINGS = "How this conversation works:"
MODES = "How much may I do unasked?"
STEERING = "What becomes of a message that comes while a task runs?"
CHOSEN = "● {name}"
NAMES = {
    "plan": "plan: only look",
    "build": "build: ask first",
    "yolo": "yolo: just do",
    "queue": "it waits its turn",
    "steer": "it steers the task",
    "mode": "How much I may do: {value}",
    "steering": "Messages meanwhile: {value}",
    "project": "Project: {value}",
}
BACK = "‹ back"

# --- schedules
SCHEDULES = "Scheduled here and for you:"
SCHEDULES_HERE = "Scheduled for this chat; ask me in private for the others:"
SCHEDULES_NONE = "Nothing is scheduled. Write, for example:"
SCHEDULES_HOW = "/schedule add every weekday at 8: tell me what is new"
SCHEDULES_MORE = "more ›"
SCHEDULES_BACK = "‹ list"
SCHEDULE_TITLE = "**{name}** · {handle}"
SCHEDULE_RULE = "{when} ({zone})"
SCHEDULE_BUTTON = "{name} · {next}"
NEXT_TIMES = "Next: {times}"
NEXT_NONE = "It does not come due again."
PAUSED = "Paused."
PAUSED_SHORT = "paused"
OVER_SHORT = "no more"
SCHEDULE_OVER = "“{name}” is over: no time of it is left. /schedule runs shows what became of it."
DRAFT_NEW = "Shall I keep this?"
DRAFT_TIME = "Shall I change when {name} is done?"
DRAFT_TASK = "Then I do this, as if you said it:"
DRAFT_COMMAND = "Then this command runs as it is, without a model:"
SCHEDULE_NOTE = "⚠ {note}."
KEEP = "Keep"
CANCEL = "Cancel"
KEPT = "Kept."
NOT_KEPT = "Not kept."
KEPT_BEFORE = "That was decided already."
NOT_YOUR_DRAFT = "Only whoever asked for it can keep it."
NOT_YOUR_LIST = "Ask for your own with /schedule."
SCHEDULE_TASK = "Task:"
SCHEDULE_COMMAND = "Command:"
SCHEDULE_CUT = "… {count} characters more"
SCHEDULE_ALLOWED = "It runs unasked."
SCHEDULE_ASKS = "What needs a yes asks each time. Allow asks once, for all its runs."
SCHEDULE_COUNTS = "It came due and ran: {runs} times"
SCHEDULE_FAILURES = "It came due and ran: {runs} times; the last {failures} failed"
SCHEDULE_LIVE = "Now: {state}"
SCHEDULE_SETTINGS = "{missed} · {overlap} · {tell}"
SCHEDULE_RETRIES = "failed runs are tried again, at most {count} times"
SCHEDULE_PAUSE_AFTER = "paused after {count} failures in a row"
SCHEDULE_WORK = {
    "mode": "mode {value}",
    "project": "project {value}",
    "profile": "profile {value}",
}
SCHEDULE_MISSED = {
    "SKIP": "missed times are left out",
    "RUN_ONCE": "of missed times the newest is done late",
    "RUN_ALL": "of missed times the newest {count} are done late",
}
SCHEDULE_OVERLAPS = {
    "LEAVE_OUT": "what comes due while it runs is left out",
    "WAIT": "what comes due while it runs waits",
}
SCHEDULE_TELLS = {
    "ALWAYS": "results are told",
    "ON_FAILURE": "only failures are told",
    "ON_CHANGE": "a result is told when it differs from the one before",
    "NEVER": "nothing is told",
}
RESULTS_HERE = "Results come here."
RESULTS_ELSEWHERE = "Results go to another chat."
RESULTS_NOWHERE = "Results go to no chat."
RUN_NOW = "Run now"
STOP_RUN = "Stop"
PAUSE = "Pause"
RESUME = "Resume"
HISTORY = "History"
ALLOW = "Allow…"
DELETE = "Delete…"
DELETE_SURE = "Yes, delete it"
DELETE_ASK = "Delete **{name}** · {handle}? What goes on of it is stopped; its history stays."
SCHEDULE_BACK = "‹ back"
RUN_STARTED = "It begins."
RUN_STOPPED = "Stopped."
PAUSED_TOAST = "Paused."
RESUMED_TOAST = "It goes on from now."
DELETED = "{name} is deleted."
DELETED_TOAST = "Deleted."
ALLOW_ASKED = "Answer the card."
ALLOW_SLOW = "A card will come if there is something to ask."
ALL_PAUSED = "All paused: {count}."
ALL_RESUMED = "All go on from now: {count}."
RUNS_OF = "What became of {name}:"
RUNS_ALL = "What became of what was scheduled, newest first:"
RUNS_NONE = "Nothing of it has come due yet."
RUN_LINE = "• {due} – {state}"
RUN_NAME = "{name}, {line}"
RUN_LATE = "{late} late"
RUN_TOOK = "{took}"
RUN_BY_HAND = "by hand"
RUN_ATTEMPTS = "{count} attempts"
RUN_REASON = "{line}: {reason}"
RUN_STATES = {
    "SCHEDULED": "will be tried again",
    "LATE": "waits for the one before",
    "MISSED": "missed",
    "SKIPPED": "left out",
    "RUNNING": "running",
    "WAITING": "waits for somebody, or for a model",
    "DONE": "done",
    "FAILED": "failed",
    "CANCELLED": "stopped",
    "DELIVERED": "done and shown",
}
RUN_STATE_OTHER = "unknown"
RUN_TITLE = "⏰ {name}"
RUN_FAILED = "⏰ {name} failed"
RUN_TITLE_LATE = "{title} · {late} late"
RUN_WAITS = "⏰ “{task}” {state}."
RUN_WAITED = "⏰ “{task}” waits no more."
CARD_SCHEDULE = "⏰ for {name}"
SPANS = {
    "instant": "under 1 s",
    "seconds": "{count} s",
    "minutes": "{count} min",
    "hours": "{count} h",
    "days": "{count} days",
}

# --- faults of settings, for whoever starts the bot
NO_BOT_TOKEN = (
    "There is no Telegram token: get one from @BotFather and put it into {path} (chmod 600), "
    "or into DUCKLM_TELEGRAM_TOKEN."
)
BAD_BOT_TOKEN = "The Telegram token is none: it looks like 123456:ABC…, as @BotFather gave it."
TOKEN_NOT_TAKEN = "Telegram does not take the token: get a new one from @BotFather with /token."
NO_DAEMON_TOKEN = (
    "The bot has no token of its own for the daemon at {path}: start it with ./scripts/run, or "
    "make one with `ducklm token create`."
)
DAEMON_TOKEN_NOT_TAKEN = (
    "The daemon does not take the bot's token: delete {path} and start again with ./scripts/run."
)
NO_OWNER = (
    "Nobody owns this bot: write your Telegram number into daemon.toml, as\n"
    '[owner]\ntelegram = ["123456789"]\n'
    "and restart the daemon. @userinfobot tells you your number."
)
NO_CA = "There is no file {path} with the daemon's CA: see ca in bots.toml."
SECRET_IS_OPEN = "Others can read {path}. Run: chmod 600 {path}"
SECRET_UNREADABLE = "{path} cannot be read."
BAD_FILE = "{path} cannot be used: {why}"
UNKNOWN_KEY = "{path}: telegram.{key} is no setting; bots.toml of DuckLM lists them."
WRONG_KIND = "{path}: telegram.{key} must be a {kind}."
