"""The questions that only a person may answer, and bringing the answers to the daemon.

Answers for: that nothing but a clear yes lets a call run, and that an answer which came too late is
told as such. It must never decide anything by itself.
"""

import dataclasses
import re
import typing
from collections.abc import Callable

import grpc

from bots import presenter, render, texts, views
from bots.terminal import client, console, faults, hidden, link
from proto.ducklm.v1 import approvals_pb2, common_pb2, tasks_pb2


@dataclasses.dataclass(frozen=True)
class Answer:
    """A person's answer to an approval card."""

    answer: approvals_pb2.Answer.ValueType
    reason: str = ""


_WITH_REASON: typing.Final = re.compile(r"(?:r|n|no|reason)[\s,:]+(?P<reason>\S.*)", re.I | re.S)
_UNKNOWN_CHOICES: typing.Final = {
    "d": tasks_pb2.MARK_DONE,
    "done": tasks_pb2.MARK_DONE,
    "g": tasks_pb2.RUN_AGAIN,
    "again": tasks_pb2.RUN_AGAIN,
    "a": tasks_pb2.ABANDON,
    "abandon": tasks_pb2.ABANDON,
}
_RETRY_CHOICES: typing.Final = {
    "t": tasks_pb2.RETRY,
    "try again": tasks_pb2.RETRY,
    "retry": tasks_pb2.RETRY,
    "a": tasks_pb2.ABANDON,
    "abandon": tasks_pb2.ABANDON,
}
_LATER: typing.Final = ("", "l", "later")


def read_answer(typed: str) -> Answer | None:
    """What was meant; None where that is not clear. Never a yes unless it says so."""
    words = typed.strip()
    match words.lower():
        case "y" | "yes":
            return Answer(approvals_pb2.ALLOW_ONCE)
        case "a" | "always":
            return Answer(approvals_pb2.ALLOW_ALWAYS)
        case "" | "n" | "no":
            return Answer(approvals_pb2.DENY)
        case _:
            pass
    if told := _WITH_REASON.fullmatch(words):
        return Answer(approvals_pb2.DENY, told["reason"].strip())
    if " " in words:  # a sentence instead of a letter says why not
        return Answer(approvals_pb2.DENY, words)
    return None


@dataclasses.dataclass(frozen=True)
class Prompts:
    """Asks on the console. Each method says whether there was an answer; False: left for later."""

    client: client.Client
    link: link.Link
    console: console.Console
    new_key: Callable[[], str]

    def approval(self, card: views.ApprovalCard) -> bool:
        """Show a card, ask, and resolve; raises KeyboardInterrupt."""
        current = self.link.patiently(lambda: self.client.approval(card.approval_id))
        if current.status != approvals_pb2.PENDING:
            self.console.say(render.closed_elsewhere(current))
            return True
        self.console.say(render.card(card, self.console.palette))
        try:
            answer = self._ask_approval(card.always_allowed)
        except EOFError:
            self.console.say(texts.APPROVAL_LEFT.format(id=render.one_line(card.approval_id)))
            return False
        self._resolve(card.approval_id, answer)
        return True

    def _ask_approval(self, always_allowed: bool) -> Answer:
        question = texts.APPROVE_PROMPT_ALWAYS if always_allowed else texts.APPROVE_PROMPT
        while True:
            typed = self.console.ask(question)
            if typed.lower() in ("r", "reason"):
                return Answer(approvals_pb2.DENY, self.console.ask(texts.REASON_PROMPT))
            answer = read_answer(typed)
            if answer is None:
                self.console.say(texts.APPROVE_NOT_UNDERSTOOD)
            elif answer.answer == approvals_pb2.ALLOW_ALWAYS and not always_allowed:
                self.console.say(texts.APPROVE_NOT_ALWAYS)
            else:
                return answer

    def _resolve(self, approval_id: str, answer: Answer) -> None:
        key = self.new_key()
        try:
            result = self.link.patiently(
                lambda: self.client.resolve(approval_id, answer.answer, answer.reason, key)
            )
        except faults.CallFault as fault:
            if fault.code is not grpc.StatusCode.FAILED_PRECONDITION:
                raise
            result = self.link.patiently(lambda: self.client.approval(approval_id))
            self.console.say(render.closed_elsewhere(result))
            return
        denied = answer.answer == approvals_pb2.DENY
        if result.status != (approvals_pb2.DENIED if denied else approvals_pb2.ALLOWED):
            self.console.say(render.closed_elsewhere(result))

    def decision(self, task: tasks_pb2.Task) -> bool:
        """Ask what to do with a task that waits; raises KeyboardInterrupt."""
        try:
            if task.state == common_pb2.AWAITING_DECISION:
                return self._decide_unknown(task)
            if task.state in (common_pb2.MODEL_UNAVAILABLE, common_pb2.PARKED):
                return self._decide_retry(task)
            if task.state == common_pb2.AWAITING_SECRET:
                return self._provide(task)
        except EOFError:
            pass
        self.console.say(left_waiting(task))
        return False

    def _provide(self, task: tasks_pb2.Task) -> bool:
        """Ask for a secret and hand it on; Ctrl-C, Ctrl-D and Enter alone give nothing."""
        try:
            secret = self.console.ask_secret(secret_question(task))
        except KeyboardInterrupt:
            secret = bytearray()
        if not secret:
            self.console.say(left_waiting(task))
            return False
        key = self.new_key()
        try:
            self.link.patiently(lambda: self.client.provide_secret(task.task_id, secret, key))
        except faults.CallFault as fault:
            if fault.code is not grpc.StatusCode.FAILED_PRECONDITION:
                raise
            self._tell_too_late(fault)
        finally:
            hidden.wipe(secret)
        return True

    def _decide_unknown(self, task: tasks_pb2.Task) -> bool:
        for unknown in task.unknown_outcomes:
            self.console.say(texts.DECIDE_UNKNOWN_TITLE)
            summary = presenter.summary(unknown.tool, unknown.arguments_json)
            self.console.say(f"  {render.one_line(summary)}")
            choice = self._choose(texts.DECIDE_UNKNOWN_PROMPT, _UNKNOWN_CHOICES)
            if choice is None:
                self.console.say(left_waiting(task))
                return False
            self._decide(task.task_id, choice, unknown.call_id)
            if choice == tasks_pb2.ABANDON:
                break
        return True

    def _decide_retry(self, task: tasks_pb2.Task) -> bool:
        choice = self._choose(texts.DECIDE_RETRY_PROMPT, _RETRY_CHOICES)
        if choice is None:
            self.console.say(left_waiting(task))
            return False
        self._decide(task.task_id, choice, "")
        return True

    def _choose(
        self, question: str, choices: dict[str, tasks_pb2.TaskDecision.ValueType]
    ) -> tasks_pb2.TaskDecision.ValueType | None:
        while True:
            typed = self.console.ask(question).lower()
            if typed in _LATER:
                return None
            if typed in choices:
                return choices[typed]
            self.console.say(texts.DECIDE_NOT_UNDERSTOOD)

    def _decide(
        self, task_id: str, decision: tasks_pb2.TaskDecision.ValueType, call_id: str
    ) -> None:
        key = self.new_key()
        try:
            self.link.patiently(lambda: self.client.decide(task_id, decision, call_id, key))
        except faults.CallFault as fault:
            if fault.code is not grpc.StatusCode.FAILED_PRECONDITION:
                raise
            self._tell_too_late(fault)

    def _tell_too_late(self, fault: faults.CallFault) -> None:
        details = render.one_line(fault.details) or texts.NO_DETAILS
        self.console.say(texts.FAILED_PRECONDITION.format(details=details))


def confirmed(terminal: console.Console, question: str) -> bool:
    """Whether the person says yes; anything else, Ctrl-C and Ctrl-D are a no."""
    try:
        answer = terminal.ask(question)
    except (EOFError, KeyboardInterrupt):
        answer = ""
    return answer.lower() in ("y", "yes")


def secret_question(task: tasks_pb2.Task) -> str:
    """Asks for the secret that a task waits for."""
    return texts.SECRET_PROMPT.format(what=render.one_line(task.secret))


def left_waiting(task: tasks_pb2.Task) -> str:
    """How to go on later with a task that waits."""
    task_id = render.one_line(task.task_id)
    match task.state:
        case common_pb2.AWAITING_APPROVAL:
            waiting = map(render.one_line, task.approval_ids)
            return "\n".join(texts.APPROVAL_LEFT.format(id=each) for each in waiting)
        case common_pb2.AWAITING_DECISION:
            return texts.DECIDE_LEFT_UNKNOWN.format(id=task_id)
        case common_pb2.AWAITING_SECRET:
            return texts.SECRET_LEFT.format(id=task_id)
        case _:
            return texts.DECIDE_LEFT_RETRY.format(id=task_id)
