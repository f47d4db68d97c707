"""Follows a task that goes on, and has its one message edited about once a second.

Answers for: that the first words come soon, that later edits keep their distance, and that a lost
stream is resumed after the last event. Never sends anything itself.
"""

import asyncio
import contextlib
import datetime
import typing
from collections.abc import Awaitable, Callable

from bots import client, presenter
from bots.telegram import outgoing, previews
from proto.ducklm.v1 import channels_pb2, events_pb2

EDIT_EVERY_S: typing.Final = 1.1
AGAIN_S: typing.Final = 0.5

Edit = Callable[[outgoing.Text], Awaitable[None]]


class Following:
    """One task's preview as it grows."""

    def __init__(self, daemon: client.Client, given: channels_pb2.Delivery, thoughts: bool) -> None:
        self._daemon = daemon
        self._task_id = given.task.task_id
        self._begun = given.task.created_at.ToDatetime(datetime.UTC)
        self._presenter = presenter.Presenter(given.seq - 1)
        self._preview = previews.Preview(thoughts)
        self._shown = outgoing.Text("")

    async def run(self, edit: Edit) -> None:
        """Follow and edit until the task ends; then the end is shown by others."""
        listening = asyncio.create_task(self._listen(), name="follow")
        age = datetime.datetime.now(datetime.UTC) - self._begun
        began_s = self._now_s() - max(0.0, age.total_seconds())  # clocks of two machines may differ
        try:
            while True:
                text = self._preview.text(int(1000 * (self._now_s() - began_s)))
                if text.text.strip() and text != self._shown:
                    await edit(text)
                    self._shown = text
                await asyncio.sleep(EDIT_EVERY_S if self._shown.text else AGAIN_S)
                if listening.done():
                    listening.result()
                    return
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()

    async def _listen(self) -> None:
        while True:
            request = events_pb2.SubscribeRequest(
                task_id=self._task_id, after_seq=self._presenter.last_seq
            )
            stream = self._daemon.stream(self._daemon.events.Subscribe, request, None)
            try:
                async with contextlib.aclosing(stream) as updates:
                    async for update in updates:
                        for view in self._presenter.feed(update):
                            self._preview.feed(view)
            except client.CallFault as fault:
                if not fault.lost:
                    return
            await asyncio.sleep(AGAIN_S)
