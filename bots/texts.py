"""The catalogue of what the clients say to people, in English; one file a language.

Answers for: every sentence of the clients' own. An error says how to mend it. It must never hold
logic: only strings, with named places for what is filled in.
"""

# --- reaching the daemon
TOKEN_PLACE = "$DUCKLM_TOKEN, else {path}"
ADDRESS_MALFORMED = "The address {address!r} is neither unix:/PATH nor HOST:PORT."
ADDRESS_NOT_LOOPBACK = (
    "{host} is not this machine: without TLS only a Unix socket or a loopback address "
    "(127.0.0.1, ::1, localhost) is used, since the token would travel in the clear."
)
ADDRESS_SOCKET_TOO_LONG = (
    "The socket path {path} is too long for the system. Use --address 127.0.0.1:7411, "
    "or a state folder with a shorter name."
)
TOKEN_MALFORMED = "The token is damaged: it must be one line of plain characters."
TOKEN_UNREADABLE = "The token in {path} cannot be read: {reason}. Is it another user's daemon?"
REASON_UNKNOWN = "unknown reason"

UNAVAILABLE = (
    "The daemon cannot be reached at {address}. Start it with ./scripts/run or ducklmd, "
    "or name its address with --address."
)
UNAVAILABLE_NOW = "The daemon cannot do this now: {details}"
UNAUTHENTICATED = (
    "The daemon does not know this token. It is looked for in {place}. "
    "Is the state folder (--state, $DUCKLM_STATE) the daemon's own?"
)
PERMISSION_DENIED = "This token may not do that: {details}"
INVALID_ARGUMENT = "The daemon does not take this: {details}"
NOT_FOUND = "Not found: {details}"
ALREADY_EXISTS = "It exists already: {details}"
FAILED_PRECONDITION = "Not possible now: {details}"
RESOURCE_EXHAUSTED = "A limit is reached: {details}"
DEADLINE_EXCEEDED = "The daemon did not answer in time. See what it does with: ducklm status"
UNIMPLEMENTED = "This daemon is older than this client and cannot do that. Update the daemon."
OTHER_STATUS = "The daemon failed: {details}"
NO_DETAILS = "no reason was given"
CORRELATION = " (correlation id {id})"
CRASHED = "ducklm failed: {kind}. Please report it with the lines above."

CONNECTION_LOST = "connection lost, reconnecting…"
CONNECTION_BACK = "connected again"
CONNECTION_GIVEN_UP = (
    "The daemon has been away for {seconds} s. Task {task_id} goes on when it is back: "
    "ducklm tasks shows it."
)
SUBMIT_GIVEN_UP = "Given up. Whether the daemon took the message is not known: ducklm tasks"

# --- input
TEXT_EMPTY = "There is nothing to ask: the text is empty."
TEXT_NOT_UTF8 = "The text is not valid UTF-8."
DECISION_UNKNOWN = "The decision must be one of: {choices}."

# --- what happens in a task
TASK_RECOVERED = "the daemon restarted; the task goes on"
TASK_DECIDED = "{decision}, decided by {by}"
DECISIONS = {
    "mark_done": "marked as done",
    "run_again": "to be run again",
    "abandon": "abandoned",
    "retry": "to be tried again",
}
TASK_TAINTED = "this task has read untrusted text: {sources}"
PROJECT_TAINTED = "untrusted text may have come into {folder}: {sources}"
PROJECT_TRUSTED = "{folder} is trusted again, says {by}"
TAINT_KINDS = {
    "web": "the web",
    "mcp": "a tool server",
    "forwarded": "a forwarded message",
    "foreign": "somebody else's message",
    "project": "files of a project with untrusted text",
    "many": "many untrusted places",
}
TAINT_MORE = "and {count} more"
GRANT_CREATED = (
    "allowed always by {by}: this call runs unasked until {until}, "
    "at most {uses} times (grant {id})"
)
GRANT_REVOKED = "grant {id} was taken back by {by}: its call asks again"
SECRET_REQUESTED = "a secret is needed: {what}"
SECRET_PROVIDED = "the secret was given by {by}"
MODEL_CALL_FAILED = "the model call failed: {reason}"
TEXT_DROPPED = "the text above was cut off; starting again"
TEXT_WITHDRAWN = "the text above led to what follows; it is not the answer"
THINKING = "thinking…"
TEXT_CUT = "the text ends here: the model's token limit is reached"
TOOL_UNNAMED = "tool"
TOOL_AGAIN = " (attempt {attempt})"
TOOL_BASES = {
    "grant": " (allowed always before)",
    "yolo": " (unasked: this conversation is in mode yolo)",
    "named": " (you named it)",
}
TOOL_EXIT = "exit {code}"
TOOL_SECONDS = "{seconds} s"
TOOL_LINES_LEFT_OUT = "… {count} lines more above"
TOOL_ARTIFACT = "whole output: artifact {id}"
OUTCOMES = {
    "FINISHED": "finished",
    "FAILED": "failed",
    "OUTCOME_UNKNOWN": "nobody saw how it ended",
    "REFUSED": "refused",
    "DENIED": "denied",
    "EXPIRED": "not run: the approval expired",
    "CANCELLED": "cancelled",
    "MARKED_DONE": "marked as done",
}
OUTCOME_OTHER = "ended"
FILES_CHANGED = "changed: {files}"
DIFF_LINES_LEFT_OUT = "… {count} lines more: /diff, or ducklm diff {id}"
DIFF_NONE = "Nothing was changed that the project's history has."

PLAN_TITLE = "plan:"
PLAN_AFTER = " (after {steps})"
PLAN_STEP = "{mark} {goal}"
PLAN_MARKS = {"waiting": "·", "running": "▸", "done": "✓", "failed": "✗", "skipped": "–"}
PLAN_STATUSES = {
    "waiting": "",
    "running": "",
    "done": "",
    "failed": ": failed",
    "skipped": ": not run",
}
STEP_JUDGED = "the critic on “{goal}”: {follows}"
STEP_FOLLOWS = {
    "retry": "try again",
    "respond": "leave the rest of the plan and answer",
    "fail": "give up",
}
STEP_SCORE = "{name} {score}"
CORRECTNESS = "correctness"
USEFULNESS = "usefulness"
SAFETY = "safety"
STEP_SCORES = " ({scores} of 10)"
STEP_NOTE = ": {note}"

TASK_STEERED = "heard meanwhile: {text}"
CONVERSATION_DELETED = "the conversation was deleted by {by}"
CONVERSATION_COMPACTED = "from now on a summary stands for what was said so far"
EXCHANGE_UNDONE = "undone by {by}: models hear no more of this message and its answer"
REVERTED = "its changes of the project were taken back"
REVERT_FAILED = "its changes of the project were not taken back: {why}"
FEEDBACK = "{worth}, says {by}"
FEEDBACK_WITH_TEXT = "{worth}, says {by}: {text}"
PAIRING_REQUESTED = "{name} ({who}) asks to talk; the code is {code}"
PAIRING_ALLOWED = "{who} may talk, says {by}"
PAIRING_REFUSED = "{who} may not talk, says {by}"
FEEDBACK_GOOD = "a good answer"
FEEDBACK_BAD = "a bad answer"

STAGES = {
    "loading": "loading the model",
    "queued": "waiting for the model",
    "reading": "reading",
    "writing": "writing",
}
PURPOSES = {
    "think": "",
    "compile": "compiling",
    "code": "coding",
    "write": "writing the answer",
    "criticize": "judging",
    "summarize": "summarizing",
}
PROGRESS_PURPOSE = "{purpose}: {stage}"
PROGRESS_SHARE = " {done}/{total}"
PROGRESS_SECONDS = " {seconds} s"

STATES = {
    "QUEUED": "queued",
    "RUNNING": "running",
    "AWAITING_APPROVAL": "waits for an approval",
    "AWAITING_SECRET": "waits for a secret",
    "AWAITING_DECISION": "waits for a decision",
    "COMPLETED": "completed",
    "FAILED": "failed",
    "CANCELLED": "cancelled",
    "MODEL_UNAVAILABLE": "waits for a model",
    "MODEL_PROTOCOL_ERROR": "failed: the model's output could not be used",
    "BUDGET_EXHAUSTED": "stopped: its budget is used up",
    "PARKED": "parked",
}
STATE_OTHER = "state {number}, unknown to this client"
STATE_REASON = "{state}: {reason}"

# --- approvals
CARD_TITLE = "{tool} wants to run:"
CARD_REASON = "because: {reason}"
CARD_FOLDER = "in {folder}"
CARD_EXPIRES = "expires {at}"
CARD_ID = "approval {id}"
APPROVE_PROMPT = "Run it? [y]es, once / [N]o / or say why not: "
APPROVE_PROMPT_ALWAYS = "Run it? [y]es, once / [a]lways / [N]o / or say why not: "
APPROVE_NOT_UNDERSTOOD = (
    "Type y to run it once, n or Enter to refuse, or a sentence that says why not: "
    "the agent then goes on with that."
)
APPROVE_NOT_ALWAYS = "“Always” is not possible for this one."
REASON_PROMPT = "Why not? "
APPROVAL_CLOSED = "approval {outcome} by {by}"
APPROVAL_CLOSED_NOBODY = "approval {outcome}"
APPROVAL_CLOSED_ELSEWHERE = "This approval was already {outcome} by {by}."
APPROVAL_CLOSED_ELSEWHERE_NOBODY = "This approval is {outcome}."
APPROVAL_REASON = "{line} ({reason})"
APPROVAL_STATUSES = {
    "PENDING": "pending",
    "ALLOWED": "allowed",
    "DENIED": "denied",
    "EXPIRED": "expired",
    "WITHDRAWN": "withdrawn",
}
APPROVAL_STATUS_OTHER = "decided"
APPROVAL_LEFT = "Waits for you: ducklm approve {id}, or ducklm deny {id}"
APPROVALS_NONE = "No approval waits."

# --- decisions
DECIDE_UNKNOWN_TITLE = "This was started, and nobody saw how it ended:"
DECIDE_UNKNOWN_PROMPT = "[d]one already / run it a[g]ain / [a]bandon the task / [L]ater: "
DECIDE_RETRY_PROMPT = "[t]ry again / [a]bandon the task / [L]ater: "
DECIDE_NOT_UNDERSTOOD = "Type one of the letters in brackets, or Enter for later."
DECIDE_LEFT_UNKNOWN = (
    "Left waiting: ducklm decide {id} mark-done|run-again|abandon, or /waiting in the chat."
)
DECIDE_LEFT_RETRY = "Left waiting: ducklm decide {id} retry|abandon, or /waiting in the chat."

# --- grants, secrets, modes
GRANTS_NONE = "Nothing runs unasked but what only reads."
GRANT_TITLE = "{id}  until {until}, {uses} times more, allowed by {by}:"
GRANT_FOR = "for {principal}, in {folder}"
GRANT_FOR_SCHEDULE = ", in runs of {id} alone"
GRANT_GIVEN = "From now on it runs unasked. Take that back: ducklm grants revoke {id}"
GRANT_ENDED = "{id} is taken back: its call asks again."
SECRET_PROMPT = "Type {what}. It is not shown; Enter alone leaves it for later: "
SECRET_LEFT = "Left waiting: ducklm secret {id}, or /waiting in the chat."
SECRET_NOT_WAITED_FOR = "Task {id} waits for no secret."
SECRET_NEEDS_TERMINAL = "There is no terminal to type it in. Pipe it in: ducklm secret TASK --stdin"
MODES = {
    "PLAN": "plan: it looks and plans; nothing that changes anything runs.",
    "BUILD": "build: what only reads runs unasked, everything else asks.",
    "YOLO": (
        "yolo: normal commands run unasked in this conversation. What asks always still asks, "
        "and so does everything once untrusted text was read."
    ),
}
MODE_OTHER = "a mode that is unknown to this client"
MODE_UNKNOWN = "The mode must be one of: {choices}."

# --- cancelling
CANCELLING = "cancelling the task… (Ctrl-C again leaves it)"
CANCEL_UNREACHABLE = "Not cancelled: the daemon cannot be reached. Later: ducklm cancel {id}"
LEFT_BEHIND = "Left. See what becomes of it: ducklm tasks"

# --- chat
CHAT_HELLO = "DuckLM {version}. Type a message; /help lists the commands, Ctrl-D leaves."
CHAT_PENDING = "{count} approval(s) wait: ducklm approvals"
CHAT_DRAINING = "The daemon is stopping; what you send now waits for its next start."
CHAT_PROMPT = "you> "
CHAT_QUIT_HINT = "Press Ctrl-C again or Ctrl-D to leave."
CHAT_HELP = """\
/new              start a new conversation, with this one's project and settings
/waiting          go through the tasks of this conversation that wait for you
/undo             take back the last answered message and its changes of the project
/feedback good    say what the last answer is worth: good or bad, and why if you like
/diff             show whole what was last changed in the project
/compact          have what was said so far summarized; models are then told the summary
/export [FILE]    write the conversation to a new file (.md or .json)
/project [FOLDER] show or set the project by its folder or name; /project - leaves it
/mode [MODE]      show or set what runs unasked: plan, build, yolo
/profile [NAME]   show or set the profile; /profile - is the default again
/steer [on|off]   whether what you say while a task runs joins it, or waits for its end
/thoughts [on|off] whether what a model thinks before it speaks is shown
/grants           list what you allowed always; /revoke ID takes one back
/schedule …       what is done when it comes due: list, add, runs; /schedule --help
/help             this list
/quit             leave (also Ctrl-D, or Ctrl-C twice)
Ctrl-C while a task runs cancels the task. A line that begins with // is sent with one / less."""
CHAT_UNKNOWN_COMMAND = "Unknown command {command}; /help lists them."
CHAT_NEW = "A new conversation begins with the next message."
CHAT_NEW_WITH = "A new conversation begins with the next message: {settings}."
CHAT_NONE_YET = "There is no conversation yet: send a message first."
COMPACTING = "summarizing what was said so far"
THOUGHTS_ON = "What models think is shown."
THOUGHTS_OFF = "What models think is not shown."
THOUGHTS_UNKNOWN = "Type /thoughts on or /thoughts off."
STEER_ON = "What you say while a task runs joins it."
STEER_OFF = "What you say while a task runs waits for its end."
STEER_UNKNOWN = "Type /steer on or /steer off."
PROJECT_SET = "project {folder}"
PROJECT_NONE = "no project: the daemon's own folder"
SETTINGS_MODE = "mode {mode}"
SETTINGS_PROFILE = "profile {profile}"
PROFILE_DEFAULT = "no profile: the default"
SETTINGS_STEERS = "messages join a running task"

# --- what was said
ANSWER_NONE = "Nothing was answered in this conversation yet."
FEEDBACK_UNKNOWN = "The answer is good or bad: say which, and then why if you like."
FEEDBACK_KEPT = "Noted."
UNDONE = "The last message and its answer are taken back: models hear no more of them."
UNDO_LEFT = "cannot be taken back: {line}"
UNDO_GOES_ON = "It goes on without you: ducklm events shows how it ends."
DELETE_PROMPT = "Delete {id} and all its texts for good? [y/N] "
DELETE_NOT_SURE = "It would be gone for good: say --yes."
DELETE_NOT = "Nothing was deleted."
DELETED = "{id} is deleted."
FORMAT_UNKNOWN = "The format must be one of: {choices}."
EXPORT_FILE = "ducklm-{id}.md"
EXPORTED = "Written to {path}."
EXPORT_FAILED = "{path} cannot be written: {why}."
FILE_UNREADABLE = "{path} cannot be read: {why}."
FILES_NONE = "There are no files."
FILES_MORE = "There are more than these."
CHAT_NOTHING_WAITS = "Nothing waits in this conversation."
CHAT_CONVERSATION = "conversation {id}: continue it with ducklm chat --conversation {id}"

# --- lists
SUBMITTED = "task {task_id} in conversation {conversation_id}"
TASKS_NONE = "No task yet."
EVENTS_NONE = "No event yet."
CONVERSATIONS_NONE = "No conversation yet."
CONVERSATION_UNTITLED = "(untitled)"
CONVERSATION_NO_PROJECT = "the daemon's own"
CONVERSATION = {
    "id": "conversation",
    "title": "title",
    "principal": "of",
    "created": "begun",
    "updated": "last used",
    "mode": "mode",
    "folder": "project",
    "profile": "profile",
    "steering": "meanwhile",
}
EVENT_UNKNOWN = "an event of a kind unknown to this client"
PROFILES_NONE = "No profile."
PROFILE = {
    "name": "profile",
    "description": "for",
    "instructions": "instructions",
    "tools": "tools",
    "skills": "skills",
    "critic": "critic",
    "source": "from",
}
PROFILE_ALL_TOOLS = "all"
PROFILE_NO_TOOLS = "none"
PROFILE_COSTS = "{tokens} of {limit} tokens, counted by {slot}"
PRESET_SOURCES = {"files": "the settings' files", "set": "the database"}
YES = "yes"
NO = "no"
SKILLS_NONE = "No skill."
SKILL_NONE = "none"
TOKENS_NONE = "No token but the owner's."
TOKEN_MADE = (
    "Above is the secret of {name}, which may: {scopes}. It is not shown again; "
    "whoever is to use it has it in $DUCKLM_TOKEN."
)
TOKEN_REVOKED = "revoked {at}"
SCOPE_UNKNOWN = "Name with --scope what the token may do: {choices}."
STATUS = {
    "version": "version",
    "started": "started",
    "state": "state folder",
    "head": "events",
    "tasks": "tasks",
    "approvals": "approvals",
    "memory": "memory",
    "slot": "model",
    "notice": "notice",
    "draining": "The daemon is stopping.",
}
STATUS_TASKS = "{running} running, {queued} queued, {waiting} waiting"
STATUS_APPROVALS = "{count} pending"
STATUS_MEMORY = "{megabytes} MB"
STATUS_NO_ROLE = "no role"
STATUS_SLOT = "{name}: {state} ({roles}; {tokens} tokens) {detail}"

# --- schedules
SCHEDULES_NONE = "Nothing is scheduled. Try: ducklm schedule add --help"
SCHEDULE_UNKNOWN = (
    "No schedule is called {given}, and no id ends so (4 characters or more). "
    "See which there are: ducklm schedule list"
)
SCHEDULE_AMBIGUOUS = "{given} may be several: {choices}. Type more of the id's end."
SCHEDULE_MISSED_UNKNOWN = (
    "What becomes of missed runs must be skip, once (the newest runs late), "
    "or all:10 (the newest 10 do)."
)
SCHEDULE_OVERLAP_UNKNOWN = "What is due while the run before goes on must be one of: {choices}."
SCHEDULE_TELL_UNKNOWN = "Which results are told must be one of: {choices}."
SCHEDULE_TO_MALFORMED = (
    "Name the chat like telegram:BOT/CHAT or telegram:BOT/CHAT/TOPIC, all numbers; none is no chat."
)
SCHEDULE_PROMPT = "Is that right, shall it be kept? [y]es / [N]o: "
SCHEDULE_NOT_SURE = "Nothing was kept, as nobody could say whether this is right: add --yes."
SCHEDULE_NOT_KEPT = "Nothing was kept."
SCHEDULE_NO_CHANGE = 'Say what is to be changed, such as --when "every day at 9"; see --help.'
SCHEDULE_HINT_ALLOW = (
    "If this command asks, each run waits for you. "
    "Allow it for all of them: ducklm schedule allow {id}"
)
SCHEDULE_HINT_TO = "Results stand in ducklm schedule runs; --to sends them to a chat too."
SCHEDULE_DELETE = "Delete {id} and end what goes on of it? [y/N] "
SCHEDULE_DELETE_NOT_SURE = "It would be gone: say --yes."
SCHEDULE_DELETED = "{id} is deleted; ducklm schedule runs still has its runs."
SCHEDULE_REHEARSES = (
    "Nothing runs now. “Always” lets each run of the schedule run what is shown, unasked."
)
SCHEDULE_REHEARSAL_LEFT = "To allow it for each run, add --always to ducklm approve."
SCHEDULE_QUOTES = 'A quotation mark is not closed: /schedule add "every day at 8" "the text"'
SCHEDULE = {
    "id": "schedule",
    "name": "name",
    "when": "when",
    "next": "next",
    "note": "note",
    "state": "state",
    "allowed": "approval",
    "missed": "if missed",
    "overlap": "if busy",
    "tell": "results",
    "retries": "if it failed",
    "pauses": "pauses after",
    "runs": "runs",
    "deadline": "at most",
    "approval": "waits for yes",
    "mode": "mode",
    "folder": "project",
    "profile": "profile",
    "principal": "of",
    "conversation": "conversation",
}
SCHEDULE_KINDS = {"AGENT": "text", "COMMAND": "command"}
SCHEDULE_STATES = {"ACTIVE": "active", "PAUSED": "paused", "OVER": "over"}
SCHEDULE_RULE = "{when} ({zone})"
SCHEDULE_NO_NEXT = "not due"
SCHEDULE_COMMAND = "command"
SCHEDULE_COMMAND_ALLOWED = "command, allowed"
SCHEDULE_FAILED = "failed {count} in a row"
SCHEDULE_ALLOWED = "its runs may run it unasked"
SCHEDULE_NOT_ALLOWED = "each run asks, unless it only reads"
SCHEDULE_LIVE = "{state} ({task})"
SCHEDULE_WAITING = "{count} behind it"
SCHEDULE_MISSED = {
    "SKIP": "left out; what is at most {grace} late still runs",
    "RUN_ONCE": "the newest runs late; missed is what is more than {grace} late",
    "RUN_ALL": "the newest {most} run late; missed is what is more than {grace} late",
}
SCHEDULE_OVERLAPS = {
    "LEAVE_OUT": "left out while a run goes on",
    "WAIT": "one waits for the run that goes on",
}
SCHEDULE_NO_CHAT = "in ducklm schedule runs alone"
SCHEDULE_TELLS = {
    "ALWAYS": "to {where}",
    "ON_FAILURE": "of failures, to {where}",
    "ON_CHANGE": "that differ from the one before, to {where}",
    "NEVER": "not told; questions go to {where}",
}
SCHEDULE_RETRIES = "tried again {count} times, the first after {backoff}, then twice as long"
SCHEDULE_PAUSES = "{count} failures in a row"
SCHEDULE_RUNS_OF = "{runs} of {most}"
NEVER = "never"
RUN_STATES = {
    "SCHEDULED": "retries",
    "LATE": "due",
    "MISSED": "missed",
    "SKIPPED": "skipped",
    "RUNNING": "running",
    "WAITING": "waits",
    "DONE": "done",
    "FAILED": "failed",
    "CANCELLED": "cancelled",
    "DELIVERED": "delivered",
}
RUN_LATE = "{span} late"
RUN_BY_HAND = "by hand"
RUN_ATTEMPTS = "{count} attempts"
RUN_BEGUN = "task {task}"
RUNS_NONE = "No run yet."
SPAN_SECONDS = "{seconds} s"
SPAN_WHOLE_SECONDS = "{count} s"
SPAN_MINUTES = "{count} min"
SPAN_HOURS = "{count} h"
SPAN_DAYS = "{count} d"

# --- help
HELP = """\
Talk to DuckLM, the agent that runs on your machine.

Exit codes: 0 done; 1 the task failed or was refused; 2 bad input; 3 the daemon cannot be reached;
4 something waits for a human.
"""
HELP_STATE = "The daemon's state folder (else $DUCKLM_STATE, else the XDG state folder)."
HELP_ADDRESS = (
    "unix:/PATH or HOST:PORT (else $DUCKLM_ADDRESS, else the socket in the state folder)."
)
HELP_JSON = "One JSON object a line on stdout, as in the API."
HELP_ASK = "Ask one question; the answer goes to stdout, all else to stderr."
HELP_ASK_TEXT = "What to ask; - reads it from stdin."
HELP_CONVERSATION = "Continue this conversation."
HELP_NO_WAIT = "Return at once with the task's id."
HELP_FOLLOW_ASK = "Without a terminal: wait while others decide, instead of exit code 4."
HELP_CHAT = "Talk in the terminal."
HELP_TASKS = "List tasks, newest first."
HELP_EVENTS = "List what happened."
HELP_FOLLOW_EVENTS = "Go on with what happens from now on."
HELP_AFTER = "Only events after this sequence number."
HELP_TASK_FILTER = "Only this task's."
HELP_LIMIT = "At most so many."
HELP_APPROVALS = "List what waits for a human, with exactly what would run."
HELP_APPROVE = "Let an approval's call run."
HELP_ALWAYS = "And the same call in the future, where that is allowed; see ducklm grants."
HELP_GRANTS = "What you allowed always: exactly one call each, by one person, in one folder."
HELP_GRANTS_LIST = "List it, oldest first, with exactly what runs."
HELP_GRANTS_REVOKE = "Take one back; its call asks again from the next time on."
HELP_SECRET = """\
Give the secret that a task waits for, such as the password for sudo.

It is typed without being shown, or piped in with --stdin; it is never an argument. The daemon keeps
it in memory until the one command that needs it begins, and writes it nowhere.
"""
HELP_SECRET_STDIN = "Read it from stdin: one line."
HELP_MODE = """\
Show or set how much a conversation's tasks may do unasked.

plan: nothing that changes anything. build: what only reads; everything else asks. yolo: normal
commands too; what asks always still asks, and so does everything once untrusted text was read.
"""
HELP_MODE_NAME = "plan, build or yolo."
HELP_DENY = "Refuse an approval's call."
HELP_REASON = "Tell the agent why; it then goes on with that. Without a reason the task ends."
HELP_CANCEL = "Cancel a task; nothing of it starts afterwards."
HELP_DECIDE = "Answer a task that waits for a decision, for a model, or is parked."
HELP_DECISION = "mark-done, run-again, abandon or retry."
HELP_CALL = "The call meant, when several wait."
HELP_STATUS = "Show how the daemon is."
HELP_CONVERSATIONS = "Conversations: list, show, export, delete. Without a command: list."
HELP_CONVERSATIONS_LIST = "List conversations, last used first."
HELP_CONVERSATIONS_SHOW = "Show one with its settings."
HELP_CONVERSATIONS_DELETE = "Delete one and forget its texts, for good."
HELP_CONVERSATIONS_EXPORT = "Write one out: to stdout, or to a new file."
HELP_YES = "Be sure; do not ask."
HELP_FORMAT = "markdown or json; else what the file's name says."
HELP_OUTPUT = "A new file; it is never overwritten."
HELP_LAST = "Only the last so many messages; 0 for all."
HELP_REASONING = "Also what models thought."
HELP_TOOLS = "Plans and calls of tools."
HELP_RESULTS = "What these calls gave and changed."
HELP_PROFILES = "Profiles, which conversations name: show, test. Without a command: list."
HELP_PROFILES_SHOW = "Show one with all that it says."
HELP_PROFILES_TEST = "Show what every prompt begins with, and what that costs. Nothing is kept."
HELP_PROFILE_NONE = "A profile; without a name the default."
HELP_SKILLS = "Skills, of which a message calls for at most one. Without a command: list."
HELP_SKILLS_SHOW = "Show one with its keywords."
HELP_SKILLS_TEST = "Say which skill a message would call for, and why."
HELP_UNDO = "Take back a conversation's last answered message and its changes of the project."
HELP_FEEDBACK = "Say what a task's answer is worth."
HELP_WORTH = "good or bad."
HELP_WHY = "Why, in words."
PEOPLE_NONE = "Nobody has asked to talk, and the settings name nobody."
HELP_PEOPLE = "Who may talk through bots."
HELP_PEOPLE_LIST = "All that asked, were let in or kept out, and those that the settings name."
HELP_PEOPLE_ALLOW = "Let somebody in: commands of theirs ask them, in a chat of their own."
HELP_PEOPLE_REFUSE = "Keep somebody out, also one who was let in."
HELP_PEOPLE_WHO = "telegram:ACCOUNT:NUMBER, or the code that the person was given."
HELP_FILES = "List what a folder of a project holds; hidden files are left out."
HELP_FILES_PATH = "A folder of the project; without one, all that it holds itself."
HELP_PUT = "Put a file into the folder incoming of a project; prints its path there."
HELP_PUT_FILE = "A file of yours."
HELP_GET = "Write a file of a project to a new one here. What looks like a secret stays there."
HELP_GET_PATH = "Its path in the project, as ducklm files prints it."
HELP_PROJECT = "By name or full path; without one, the daemon's own folder."
HELP_DIFF = "Show whole what a task changed in its project."
HELP_TOKEN = "Tokens for scripts and bots."
HELP_TOKEN_CREATE = "Make a token; its secret alone goes to stdout, once."
HELP_TOKEN_NAME = "What it is called: a-z, 0-9, dot, dash, underscore."
HELP_TOKEN_SCOPE = "What it may do: run, read, approve, channel, admin. Repeat it for several."
HELP_TOKEN_PLATFORM = "With channel: the bot's platform, for example telegram."
HELP_TOKEN_ACCOUNT = "With channel: which bot there, for example home."
HELP_TOKEN_LIST = "List tokens, newest first."
HELP_TOKEN_REVOKED = "Also those that were revoked."
HELP_TOKEN_REVOKE = "End a token for good; what is open under it ends too."
HELP_TOKEN_NAMED = "Its name or its id."
HELP_SCHEDULE = "What is to be done when it comes due: once, or again and again."
HELP_SCHEDULE_LIST = "List schedules, the next one first."
HELP_SCHEDULE_ADD = """\
Keep a schedule: shows how WHEN was understood, with its next times, and asks.

For example: ducklm schedule add "every weekday at 8" "What is new in these feeds?"
"""
HELP_SCHEDULE_SHOW = "Show one with all that is set."
HELP_SCHEDULE_EDIT = (
    "Change what is named here; the rest stays. Other times are shown and asked about."
)
HELP_SCHEDULE_PAUSE = "Pause one; a run that goes on does so."
HELP_SCHEDULE_RESUME = "Let one go on. What would have been due meanwhile is not."
HELP_SCHEDULE_PAUSE_ALL = "Pause all."
HELP_SCHEDULE_RESUME_ALL = "Let all go on."
HELP_SCHEDULE_RUN = "Begin a run now, beside its times."
HELP_SCHEDULE_FOLLOW = "See it to its end, and be asked what it asks."
HELP_SCHEDULE_STOP = "Cancel the run that goes on, and those behind it. Its next times stay."
HELP_SCHEDULE_DELETE = "Take one away and end what goes on of it. Its runs stay listed."
HELP_SCHEDULE_RUNS = "List what became of each run, newest first: of one schedule, or of all."
HELP_SCHEDULE_ALLOW = (
    "Have a command allowed for each of its runs: its card is shown, nothing runs."
)
HELP_SCHEDULE_ID = "Its id, the last 4 characters of that or more, or its name."
HELP_SCHEDULE_WHEN = """\
In words, a rule or cron: "in 20 minutes", "tomorrow at noon", "every weekday at 8", "every 2h",
"every 3d at 09:30", "0 9 * * 1-5".
"""
HELP_SCHEDULE_TEXT = "What to say to the agent, or the command; - reads it from stdin."
HELP_SCHEDULE_COMMAND = (
    "The text is a shell command and no model is asked; else the agent is told it."
)
HELP_SCHEDULE_ZONE = "Whose clock counts, such as Europe/Berlin; else the daemon's."
HELP_SCHEDULE_NAME = "What it is called; else the first words of the text."
HELP_SCHEDULE_PROJECT = "By name or full path; without one, or with -, the daemon's own folder."
HELP_SCHEDULE_PROFILE = "How its models work; - is the default again."
HELP_MISSED = "What becomes of what was due while nothing could run it: once, unless you say so."
HELP_GRACE = "So many seconds late is not missed yet: 60, unless you say so."
HELP_OVERLAP = "What becomes of what is due while the run before goes on: skip, unless you say so."
HELP_TELL = "Which results are sent to the chat."
HELP_TO = "The chat for results and questions, such as telegram:BOT/CHAT; none is no chat."
HELP_RETRIES = "Try a failed run so many times again."
HELP_BACKOFF = "The first time after so many seconds, then twice as many each time."
HELP_PAUSE_AFTER = "Pause it after so many failures in a row; 0 is never."
HELP_MOST = "Over after so many runs; 0 is no limit."
HELP_DEADLINE = "A run that takes more seconds has failed; 0 is no limit."
HELP_APPROVAL = "Its questions wait so many seconds for an answer; 0 is as long as others."
