"""`ducklm chat`: a conversation in the terminal.

Answers for: reading messages and commands, following each task, and what Ctrl-C and Ctrl-D mean at
the prompt. A failed call ends that turn and never the chat.
"""

import dataclasses

from bots import presenter, render, texts
from bots.terminal import ask, console, faults, permissions, screen, turn, world
from proto.ducklm.v1 import common_pb2

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
    shown_on: screen.Screen = screen.TextScreen(terminal, stream=True)
    if as_json:
        shown_on = screen.JsonScreen(terminal)
    seats = session.seats(
        shown_on,
        patience_s=None if interactive else ask.PATIENCE_S,
        interactive=interactive,
        wait_for_others=False,
    )
    with session.world.interrupts.watching():
        return Chat(session, seats, conversation_id).run()


@dataclasses.dataclass
class Chat:
    """The loop and where it is: which conversation, and the worst that came of it."""

    session: world.Session
    seats: turn.Seats
    conversation_id: str
    next_mode: common_pb2.Mode.ValueType = common_pb2.MODE_UNSPECIFIED  # of one that is to begin
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
        elif typed == "/new":
            self.conversation_id = ""
            self.next_mode = common_pb2.MODE_UNSPECIFIED
            self._console.say(texts.CHAT_NEW)
        elif typed == "/waiting":
            self._go_through_waiting()
        elif typed == "/help":
            self._console.say(texts.CHAT_HELP)
        else:
            self._command(*typed.split())

    def _command(self, command: str, *arguments: str) -> None:
        match command, arguments:
            case "/mode", []:
                self._show_mode()
            case "/mode", [name]:
                self._set_mode(permissions.mode_named(name.lower()))
            case "/grants", []:
                permissions.grants(self.session, as_json=False)
            case "/revoke", [grant_id]:
                permissions.revoke(self.session, grant_id, as_json=False)
            case _:
                shown = render.one_line(command)
                self._console.say(texts.CHAT_UNKNOWN_COMMAND.format(command=shown))

    def _show_mode(self) -> None:
        mode = self.next_mode or common_pb2.BUILD
        if self.conversation_id:
            mode = self.session.client.conversation(self.conversation_id).mode
        self._console.say(permissions.mode_told(mode))

    def _set_mode(self, mode: common_pb2.Mode.ValueType) -> None:
        """Of this conversation, or else of the one that the next message begins."""
        if self.conversation_id:
            key = self.session.world.new_key()
            mode = self.session.client.set_mode(self.conversation_id, mode, key).mode
        else:
            self.next_mode = mode
        self._console.say(permissions.mode_told(mode))

    def _send(self, text: str) -> None:
        text = ask.check_text(text)
        self.conversation_id, begun = turn.begin(
            self.seats, text, self.conversation_id, self.next_mode
        )
        self.next_mode = common_pb2.MODE_UNSPECIFIED
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
