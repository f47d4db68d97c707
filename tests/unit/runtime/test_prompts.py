"""Fuzzed conversations: whatever is said, every prompt fits, begins alike, and holds its batch.

The tokenizer counts more than a real one would and as much as one at the worst around each message,
so a prompt that is too long by its count could be one by a real template.
"""

import contextlib
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence

import pytest

from daemon.decide import context
from daemon.domain import decisions, ids, inputs, limits, messages, principals, state
from daemon.runtime import ports
from daemon.storage import in_memory
from tests.conftest import Rounds
from tests.unit.runtime import fake_tools, rig
from tools import contract

pytestmark = [pytest.mark.spec("D-06"), pytest.mark.spec("K-02")]

CONTEXTS = (256, 512, 1024, 2048, 4096, 8192)
TURNS_OF_A_CONVERSATION = 40
AROUND_TOKENS = 8
LEFT_OUT = "characters left out"
PATIENCE_TURNS = 1000
MINUTE_MS = 60_000
NO_ROOM = "it needs "
PROMPT = "[{purpose}: " + "say in your own words what was said before. " * 7 + "]"


def tokens(text: str) -> int:
    """One for three bytes: more than any real tokenizer makes of words."""
    return -(-len(text.encode()) // 3)


class Listener(rig.FakeModel):
    """Looks at each prompt before it answers with what comes next."""

    def __init__(self, dice: random.Random, context_tokens: int, system: str) -> None:
        super().__init__()
        self.faults: list[AssertionError] = []
        self._dice = dice
        self.context_tokens = context_tokens
        self.system = system
        self.batch: list[str] = []
        """Results that the thinker has not answered yet."""
        self.before: tuple[messages.Message, ...] = ()
        """What was told last, in this turn or in one that was answered."""
        self.breaks: Counter[str] = Counter()
        self.asked: messages.ModelRequest | None = None

    async def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(tokens(text) for text in texts)

    async def generate(
        self, request: messages.ModelRequest, feed: ports.Feed
    ) -> messages.ModelResult:
        summarizes = request.messages[-1].content.startswith(PROMPT.partition("{")[0])
        try:
            self._fits(request)
            if not summarizes:
                self._holds(request)
        except AssertionError as fault:
            self.faults.append(fault)
            raise
        if summarizes:
            return self._result("z" * self._dice.randrange(3 * request.max_tokens))
        reply = self.replies.pop(0) if self.replies else "done"
        assert isinstance(reply, str)
        if reply != BAD:
            self.batch.clear()
        return self._result(reply)

    def _fits(self, request: messages.ModelRequest) -> None:
        """With the answer it is no longer than the context; one system message, always alike."""
        said = request.messages
        needed = sum(tokens(one.content) + AROUND_TOKENS for one in said) + AROUND_TOKENS
        answer = request.max_tokens + request.thinking_tokens
        assert needed + answer <= self.context_tokens, f"{needed} and {answer} overflow"
        assert [one.speaker for one in said].count("system") == 1
        assert said[0].content.startswith(self.system)
        rest = said[0].content.removeprefix(self.system)
        assert not rest or rest.startswith(context.SUMMARY)
        assert rest.count(context.SUMMARY.strip()) <= 1

    def _holds(self, request: messages.ModelRequest) -> None:
        self.asked = request
        self._begins_alike(request.messages)
        told = "\n".join(one.content for one in request.messages)
        assert all(result in told for result in self.batch), "the batch was shortened"

    def _result(self, text: str) -> messages.ModelResult:
        return messages.ModelResult(text=text, finish_reason="stop", slot=self.name)

    def _begins_alike(self, said: tuple[messages.Message, ...]) -> None:
        """The last prompt is the start of this one, unless a block was dropped or shortened."""
        before, self.before = self.before, said
        same = 0
        while same < min(len(before), len(said)) and before[same] == said[same]:
            same += 1
        if same == len(before):
            self.breaks["none"] += 1
            return
        if same == 0:
            assert before[0].content != said[0].content
            self.breaks["summary"] += 1
            return
        if LEFT_OUT in before[same].content or (
            same < len(said) and LEFT_OUT in said[same].content
        ):
            self.breaks["shortened"] += 1
            return
        assert same == 1, f"another prompt from message {same} on"
        self.breaks["dropped"] += 1


BAD = '{"kind":"tool"}'


def use(dice: random.Random) -> str:
    arguments = {"n": dice.randrange(1_000_000)}
    return json.dumps({"kind": "tool", "tool": "look", "arguments": arguments})


def plan(dice: random.Random) -> str:
    steps = [
        {"id": name, "goal": name, "kind": "tool", "tool": "look", "arguments": {"n": name}}
        for name in "ab"
    ]
    return json.dumps({"kind": "plan", "steps": steps})


class Look(fake_tools.FakeTool):
    """Says as much as it likes, and the listener knows what."""

    def __init__(self, dice: random.Random, most_chars: int) -> None:
        super().__init__()
        self._dice = dice
        self._most_chars = most_chars
        self.listener: Listener | None = None

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        text = f"{self._dice.random()} " + "y" * self._dice.randrange(self._most_chars - 30)
        if self.listener is not None:
            self.listener.batch.append(text)
        return contract.Result(text=text)


class Talk:
    """One conversation with a daemon that now and then is killed and starts again."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.store = in_memory.InMemoryStore()
        result_chars = dice.choice((200, 1000, 4000))
        answer_tokens = dice.choice((16, 64, 256, 1024))
        self.bounds = limits.Limits(result_to_model_chars=result_chars, answer_tokens=answer_tokens)
        self.look = Look(dice, result_chars)
        self.listener = Listener(dice, dice.choice(CONTEXTS), "s" * dice.randrange(1, 300))
        self.look.listener = self.listener
        self.chat: ids.ConversationId | None = None
        self.ends: Counter[str] = Counter()

    @contextlib.asynccontextmanager
    async def daemon(self) -> AsyncIterator[rig.Rig]:
        made = rig.Rig(self.store, {self.look.spec.name: self.look}, self.bounds)
        kit = made.rules.kits[""].but({"system_prompt": self.listener.system})
        prompts = {one: PROMPT.replace("{purpose}", one) for one in messages.Purpose}
        made.rules = made.rules.but({"kits": {"": kit}, "prompts": prompts})
        made.model = self.listener
        await made.start(clean=False)
        try:
            yield made
        finally:
            await made.kill()

    async def turn(self, runs: rig.Rig, number: int) -> None:
        dice = self.dice
        runs.clock.ms = rig.START_MS + number * MINUTE_MS
        if self.chat is not None and dice.random() < 0.05:
            await self._compact(runs)
        acts = [dice.choice((use, use, plan))(dice) for _ in range(dice.choice((0, 0, 0, 1, 2)))]
        if dice.random() < 0.1:
            acts.insert(0, BAD)
        answer = "w" * dice.randrange(1, 300)
        self.listener.replies = [*acts, answer]
        self.listener.batch.clear()
        before = self.listener.before
        words = "x" * dice.choice((3, 30, 300, 3 * self.listener.context_tokens // 4))
        sent = await runs.submit(f"message {number}: {words}", self.chat)
        self.chat = sent.conversation_id
        ended, reason = await self._ended(runs, sent.task_id)
        assert self.listener.faults == []
        self.ends[ended] += 1
        if ended is not state.TaskState.COMPLETED:
            assert ended is state.TaskState.FAILED
            assert reason.startswith(NO_ROOM), reason
            self.listener.before = before  # nothing of a turn without an answer is told again
            return
        await self._in_blocks(sent)

    async def _ended(self, runs: rig.Rig, task_id: ids.TaskId) -> tuple[state.TaskState, str]:
        for _ in range(PATIENCE_TURNS):
            view = await runs.store.task(task_id)
            if view is not None and view.state in state.FINAL:
                return view.state, view.reason
            await rig.settle()
        raise AssertionError(f"{task_id} never ends")

    async def _compact(self, runs: rig.Rig) -> None:
        assert self.chat is not None
        reply = await runs.box.ask(
            inputs.CompactConversation(
                credential="owner",
                principal=principals.LOCAL_OWNER,
                correlation_id="c",
                conversation_id=self.chat,
                origin=principals.Origin(principal=principals.LOCAL_OWNER),
            )
        )
        assert isinstance(reply, decisions.Submitted)
        await self._ended(runs, reply.task_id)

    async def _in_blocks(self, sent: decisions.Submitted) -> None:
        """Of the exchanges before it all are told, or whole blocks of the oldest are not."""
        history = await self.store.history(sent.conversation_id, sent.seq, 1000)
        assert self.listener.asked is not None
        said = self.listener.asked.messages
        users = [one for one in said if one.content.startswith("message ")]
        left = len(history.exchanges) - (len(users) - 1)
        assert left >= 0
        assert left % 8 == 0 or len(users) == 1, f"{left} of {len(history.exchanges)} are not told"


@pytest.mark.timeout(120)
async def test_every_prompt_fits_and_begins_as_the_one_before(rounds: Rounds, seed: int) -> None:
    dice = random.Random(seed)
    turns, ends, breaks = 0, Counter[str](), Counter[str]()
    while turns < rounds(10_000):
        talk = Talk(dice)
        number = 0
        while number < TURNS_OF_A_CONVERSATION:
            async with talk.daemon() as runs:
                for _ in range(dice.randint(1, 20)):
                    await talk.turn(runs, number)
                    number += 1
        turns += number
        ends += talk.ends
        breaks += talk.listener.breaks
    assert ends[state.TaskState.COMPLETED] > turns // 2
    assert breaks["none"] > sum(breaks.values()) // 4
    assert breaks["dropped"] + breaks["shortened"]
    assert breaks["summary"]
