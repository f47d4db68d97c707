"""Artifacts: large bytes in and out, in chunks."""

from collections.abc import AsyncIterator

from daemon.domain import errors, ids
from daemon.rpc import backend, interceptors, validation
from proto.ducklm.v1 import artifacts_pb2, artifacts_pb2_grpc

MOST_PART_BYTES = 1024 * 1024


class Artifacts(artifacts_pb2_grpc.ArtifactsServicer):
    """The Artifacts service."""

    def __init__(self, served: backend.Backend) -> None:
        self._served = served

    async def Get(
        self, request: artifacts_pb2.GetArtifactRequest, context: interceptors.Context
    ) -> AsyncIterator[artifacts_pb2.ArtifactChunk]:
        async for data in self._served.artifacts.get(ids.ArtifactId(request.artifact_id)):
            yield artifacts_pb2.ArtifactChunk(data=data)

    async def Put(
        self,
        request_iterator: AsyncIterator[artifacts_pb2.PutArtifactRequest],
        context: interceptors.Context,
    ) -> artifacts_pb2.PutArtifactResponse:
        artifact_id, size_bytes = await self._served.artifacts.put(
            _chunks(request_iterator), self._served.artifact_bytes
        )
        return artifacts_pb2.PutArtifactResponse(artifact_id=artifact_id, size_bytes=size_bytes)


async def _chunks(
    sent: AsyncIterator[artifacts_pb2.PutArtifactRequest],
) -> AsyncIterator[bytes]:
    async for part in sent:
        validation.check(part)
        if len(part.data) > MOST_PART_BYTES:
            raise errors.Refusal(
                errors.RefusalKind.EXHAUSTED, f"A part has at most {MOST_PART_BYTES} bytes."
            )
        yield part.data
