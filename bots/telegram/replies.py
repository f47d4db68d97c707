"""Has texts shown in the chat that asked, by way of the daemon: whatever crashes, they come.

`Chat` is one message's chat with the key that makes its writes harmless when they are repeated.
"""

import dataclasses
from collections.abc import AsyncIterator, Sequence

from bots import client
from bots.telegram import outgoing
from proto.ducklm.v1 import artifacts_pb2, channels_pb2, common_pb2

PIECE_BYTES = 256 * 1024


@dataclasses.dataclass(frozen=True)
class Chat:
    """Where something was said, by whom, and the key of all that is written because of it."""

    daemon: client.Client
    origin: common_pb2.Origin
    key: str

    def here(self) -> common_pb2.Origin:
        """The origin of what answers it: a reply to the message."""
        answers = common_pb2.Origin()
        answers.CopyFrom(self.origin)
        answers.reply_to = self.origin.message_id
        answers.message_id = ""
        answers.forwarded = False
        return answers

    async def say(
        self,
        text: str,
        rows: Sequence[Sequence[outgoing.Button]] = (),
        artifact_ids: Sequence[str] = (),
        approval_id: str = "",
        part: str = "say",
    ) -> None:
        """Have a text shown; `part` tells it from others that answer the same message."""
        request = channels_pb2.PostRequest(
            origin=self.here(),
            text=text,
            rows=[
                common_pb2.ButtonRow(
                    buttons=[common_pb2.Button(text=one.text, data=one.data) for one in row]
                )
                for row in rows
            ],
            artifact_ids=artifact_ids,
            approval_id=approval_id,
            client_key=f"{self.key} {part}",
        )
        try:
            await self.daemon.call(self.daemon.channels.Post, request)
        except client.CallFault as fault:
            if fault.code is not client.SAID_BEFORE:  # before a crash, in other words perhaps
                raise

    async def keep(self, data: bytes) -> str:
        """Keep bytes as an artifact; returns its id."""

        async def pieces() -> AsyncIterator[artifacts_pb2.PutArtifactRequest]:
            for start in range(0, max(1, len(data)), PIECE_BYTES):
                yield artifacts_pb2.PutArtifactRequest(data=data[start : start + PIECE_BYTES])

        kept = await self.daemon.send(self.daemon.artifacts.Put, pieces())
        return str(kept.artifact_id)
