"""`ducklm chat`: a conversation in the terminal.

Answers for: reading messages and commands, following each task, and what Ctrl-C and Ctrl-D mean at
the prompt. A failed call ends that turn and never the chat.
"""

import dataclasses

from bots import presenter, render, texts
from bots.terminal import (
    ask,
    console,
    exchanges,
    faults,
    permissions,
    presets,
    scheduling,
    screen,
    settings,
    turn,
    world,
)
from proto.ducklm.v1 import common_pb2, conversations_pb2

WAITING_LIMIT_TASKS = 50


def run(session: world.Session, conversation_id: str, as_json: bool) -> faults.Exit:
    """Talk until the person leaves; raises CallFault only for the first call."""
    terminal = session.console
    status = session.client.status()
    interactive = terminal.interactive and not as_json
    if interactive:
        terminal.say(texts.CHAT_HELLO.format(version=render.one_line(status.version)))
        if status.approvals_pending:
            terminal.say(texts.CHAT_PENDING.format(count=status.approvals_pending))
        if status.draining:
            terminal.say(texts.CHAT_DRAINING)
    for_people = screen.TextScreen(terminal, stream=True)
    seats = session.seats(
        screen.JsonScreen(terminal) if as_json else for_people,
        patience_s=None if interactive else ask.PATIENCE_S,
        interactive=interactive,
        wait_for_others=False,
    )
    with session.world.interrupts.watching():
        return Chat(session, seats, for_people, conversation_id).run()


@dataclasses.dataclass
class Chat:
    """The loop and where it is: which conversation, and the worst that came of it."""

    session: world.Session
    seats: turn.Seats
    for_people: screen.TextScreen
    conversation_id: str
    next_settings: settings.Settings = settings.DEFAULT  # of one that is to begin
    exit_code: faults.Exit = faults.Exit.OK

    @property
    def _console(self) -> console.Console:
        return self.session.console

    def run(self) -> faults.Exit:
        """Read and answer until end of input, /quit, or Ctrl-C twice."""
        interrupted = False
        while True:
            try:
                line = self._console.read(texts.CHAT_PROMPT if self.seats.interactive else "")
            except EOFError:
                break
            except KeyboardInterrupt:
                if interrupted or not self.seats.interactive:
                    break
                interrupted = True
                self._console.say(texts.CHAT_QUIT_HINT)
                continue
            interrupted = False
            if line.strip() == "/quit":
                break
            self._take(line)
        return self._leave()

    def _leave(self) -> faults.Exit:
        if not self.seats.interactive:
            return self.exit_code
        if self.conversation_id:
            conversation_id = render.one_line(self.conversation_id)
            self._console.say(texts.CHAT_CONVERSATION.format(id=conversation_id))
        return faults.Exit.OK

    def _take(self, line: str) -> None:
        """One line: a command or a message. Faults end it, not the chat."""
        try:
            self._command_or_message(line)
        except faults.CallFault as fault:
            self._console.say(self.session.sentence(fault))
            self._note(faults.exit_code(fault))
        except faults.UsageFault as fault:
            self._console.say(str(fault))
            self._note(faults.Exit.USAGE)
        except KeyboardInterrupt:
            self._console.say(texts.SUBMIT_GIVEN_UP)

    def _command_or_message(self, line: str) -> None:
        typed = line.strip()
        if not typed:
            return
        if not typed.startswith("/") or not self.seats.interactive:
            self._send(line)
        elif typed.startswith("//"):
            self._send(typed[1:])
        else:
            self._command(*typed.split(maxsplit=1))

    def _command(self, command: str, rest: str = "") -> None:
        match command, rest.split():
            case "/new", []:
                self._new()
            case "/waiting", []:
                self._go_through_waiting()
            case "/help", []:
                self._console.say(texts.CHAT_HELP)
            case "/grants", []:
                permissions.grants(self.session, as_json=False)
            case "/revoke", [grant_id]:
                permissions.revoke(self.session, grant_id, as_json=False)
            case "/thoughts", [*words]:
                self._thoughts(words)
            case "/schedule", _:
                scheduling.typed(self.session, rest)
            case "/mode" | "/project" | "/steer" | "/profile", _:
                self._setting(command, rest.strip())
            case _:
                self._about_what_was_said(command, rest)

    def _about_what_was_said(self, command: str, rest: str) -> None:
        match command, rest.split():
            case "/undo", []:
                self._note(exchanges.undo(self.session, self._conversation(), as_json=False))
            case "/feedback", [word, *_]:
                self._feedback(word.lower(), rest)
            case "/feedback", []:
                raise faults.UsageFault(texts.FEEDBACK_UNKNOWN)
            case "/diff", []:
                exchanges.last_diff(self.session, self.conversation_id)
            case "/compact", []:
                self._compact()
            case "/export", _:
                self._export(rest.strip())
            case _:
                shown = render.one_line(command)
                self._console.say(texts.CHAT_UNKNOWN_COMMAND.format(command=shown))

    def _conversation(self) -> str:
        """The conversation that a command is about; raises UsageFault."""
        if not self.conversation_id:
            raise faults.UsageFault(texts.CHAT_NONE_YET)
        return self.conversation_id

    def _settings(self) -> settings.Settings:
        """Of this conversation, or else of the one that the next message begins."""
        if not self.conversation_id:
            return self.next_settings
        return settings.of(self.session.client.conversation(self.conversation_id))

    def _new(self) -> None:
        self.next_settings = settings.inherited(self._settings())
        self.conversation_id = ""
        told = settings.told(self.next_settings)
        pattern = texts.CHAT_NEW_WITH if told else texts.CHAT_NEW
        self._console.say(pattern.format(settings=told))

    def _thoughts(self, words: list[str]) -> None:
        if words not in ([], ["on"], ["off"]):
            raise faults.UsageFault(texts.THOUGHTS_UNKNOWN)
        if words:
            self.for_people.shows_thoughts = words == ["on"]
        shown = self.for_people.shows_thoughts
        self._console.say(texts.THOUGHTS_ON if shown else texts.THOUGHTS_OFF)

    def _setting(self, command: str, value: str) -> None:
        """Show a setting, or change it: of this conversation, or of the one that is to begin."""
        wanted = self._changed(command, value) if value else self._settings()
        match command:
            case "/mode":
                self._console.say(permissions.mode_told(wanted.mode or common_pb2.BUILD))
            case "/project":
                self._console.say(settings.project_told(wanted.folder))
            case "/profile":
                self._console.say(settings.profile_told(wanted.profile))
                if not value:
                    for line in presets.profile_lines(self.session.client.profiles()):
                        self._console.say(line)
            case _:
                self._console.say(settings.steering_told(wanted.steering))

    def _changed(self, command: str, value: str) -> settings.Settings:
        update = conversations_pb2.UpdateConversationRequest(conversation_id=self.conversation_id)
        match command:
            case "/mode":
                update.mode = permissions.mode_named(value.lower())
            case "/project":
                update.folder = settings.project_named(value, self.session.world.home)
            case "/profile":
                update.profile = "" if value == "-" else value
            case _:
                update.steering = settings.steering_named(value.lower())
        if not self.conversation_id:
            self.next_settings = settings.changed(self.next_settings, update)
            return self.next_settings
        key = self.session.world.new_key()
        return settings.of(self.session.client.update_conversation(update, key))

    def _feedback(self, word: str, rest: str) -> None:
        exchanges.worth_named(word)
        task = exchanges.last_answered(self.session, self.conversation_id)
        text = rest.strip()[len(word) :].strip()
        exchanges.feedback(self.session, task.task_id, word, text, as_json=False)

    def _compact(self) -> None:
        begun = self.session.client.compact(self._conversation(), self.session.world.new_key())
        self._console.say(texts.COMPACTING)
        self._note(turn.Turn(self.seats, begun.task_id, begun.seq - 1).follow().exit_code)

    def _export(self, path: str) -> None:
        conversation_id = self._conversation()
        path = path or texts.EXPORT_FILE.format(id=conversation_id)
        request = exchanges.export_request(conversation_id, "", path)
        exchanges.export(self.session, request, path)

    def _send(self, text: str) -> None:
        text = ask.check_text(text)
        self.conversation_id, begun = turn.begin(
            self.seats, text, self.conversation_id, self.next_settings
        )
        self.next_settings = settings.DEFAULT
        self._note(begun.follow().exit_code)

    def _go_through_waiting(self) -> None:
        waiting = []
        if self.conversation_id:
            states = sorted(presenter.WAITING_STATES)
            rows = self.session.client.tasks(WAITING_LIMIT_TASKS, self.conversation_id, states)
            waiting = list(rows)
        if not waiting:
            self._console.say(texts.CHAT_NOTHING_WAITS)
        for task in reversed(waiting):  # the oldest first
            self._console.say(f"> {render.one_line(task.text)}")
            head_seq = self.session.client.events(0, "", limit=1).head_seq
            turn.Turn(self.seats, task.task_id, head_seq).resume()

    def _note(self, code: faults.Exit) -> None:
        self.exit_code = max(self.exit_code, code)
