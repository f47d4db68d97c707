"""When the next call to a chat may be made, as Telegram wants it: pure, with the time handed in.

Telegram names no hard numbers; these are those of its own advice, with a little room for a burst.
Times are seconds of a clock that only goes forward.
"""

import dataclasses
import typing

CHAT_PER_S: typing.Final = 1.0
CHAT_BURST: typing.Final = 8.0
GROUP_PER_S: typing.Final = 20 / 60
GROUP_BURST: typing.Final = 8.0
OVERALL_PER_S: typing.Final = 25.0
OVERALL_BURST: typing.Final = 25.0
KEPT_FOR_ENDS: typing.Final = 1.0  # of a chat's burst: progress leaves it to cards and ends


@dataclasses.dataclass
class Bucket:
    """Tokens that come back over time; each call takes one."""

    per_s: float
    burst: float
    tokens: float = -1.0
    at_s: float = 0.0

    def _fill(self, now_s: float) -> None:
        if self.tokens < 0:
            self.tokens, self.at_s = self.burst, now_s
        self.tokens = min(self.burst, self.tokens + (now_s - self.at_s) * self.per_s)
        self.at_s = now_s

    def delay_s(self, now_s: float, spare: float = 0.0) -> float:
        """How long until a token is there beside those to be spared; 0 when there is one."""
        self._fill(now_s)
        lacking = 1.0 + spare - self.tokens
        return max(0.0, lacking / self.per_s)

    def take(self, now_s: float) -> None:
        """Take a token, or what is left of one."""
        self._fill(now_s)
        self.tokens = max(self.tokens - 1.0, 0.0)


def overall() -> Bucket:
    """Of all chats together."""
    return Bucket(OVERALL_PER_S, OVERALL_BURST)


class Chat:
    """One chat's own pace. `banned_until_s` is when Telegram takes calls again."""

    def __init__(self, chat: str) -> None:
        group = chat.startswith("-")
        self._bucket = Bucket(
            GROUP_PER_S if group else CHAT_PER_S, GROUP_BURST if group else CHAT_BURST
        )
        self.banned_until_s = 0.0

    def delay_s(self, now_s: float, progress: bool) -> float:
        """How long until a call may be made; progress leaves room for what matters more."""
        spare = KEPT_FOR_ENDS if progress else 0.0
        return max(self.banned_until_s - now_s, self._bucket.delay_s(now_s, spare))

    def take(self, now_s: float) -> None:
        self._bucket.take(now_s)

    def ban(self, now_s: float, retry_after_s: float) -> None:
        """No call before so many seconds have passed; a little more, as clocks differ."""
        self.banned_until_s = max(self.banned_until_s, now_s + retry_after_s + 0.5)
