"""What goes wrong, by rule: the n-th call of a method, in a chat or in all."""

import dataclasses
import threading
import typing


@dataclasses.dataclass
class Rule:
    """`when`: before the call has its effect, or after. `times` how often it still applies."""

    method: str  # empty: any but getUpdates
    kind: typing.Literal[
        "retry", "server", "drop", "hang", "bad", "conflict", "migrate", "forbid", "big"
    ]
    chat: str = ""
    when: typing.Literal["before", "after"] = "before"
    times: int = 1
    skip: int = 0  # so many calls pass first
    retry_after_s: int = 0
    text: str = ""
    over: bool = False  # what hangs is broken off

    def fits(self, method: str, chat: str) -> bool:
        named = self.method == method or (not self.method and method != "getUpdates")
        return named and self.chat in ("", chat) and self.times > 0


class Faults:
    """The rules of one server, safe to be changed from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[Rule] = []

    def add(self, rule: Rule) -> Rule:
        with self._lock:
            self._rules.append(rule)
        return rule

    def clear(self) -> None:
        with self._lock:
            for rule in self._rules:
                rule.over = True
            self._rules.clear()

    def take(self, method: str, chat: str) -> Rule | None:
        """The rule that applies to this call; it is used up by it."""
        with self._lock:
            for rule in self._rules:
                if rule.fits(method, chat):
                    if rule.skip > 0:
                        rule.skip -= 1
                        continue
                    rule.times -= 1
                    return rule
        return None
