"""Artifacts without a disk, under the same contract; what they keep ends with them."""

import hashlib
from collections.abc import AsyncIterator, Sequence

from daemon.domain import decisions, ids, taints
from daemon.storage import artifacts


class InMemoryArtifacts:
    """Bytes by their SHA-256."""

    def __init__(self) -> None:
        self._kept: dict[ids.ArtifactId, bytes] = {}
        self._taints: dict[ids.ArtifactId, taints.Taint] = {}

    def taint(self, given: decisions.ArtifactTaint) -> None:
        """Note where an artifact's text came from, beside what is known of it."""
        known = self._taints.get(given.artifact_id, taints.CLEAN)
        self._taints[given.artifact_id] = taints.join(known, given.taint)

    def taint_of(self, artifact_ids: Sequence[ids.ArtifactId]) -> taints.Taint:
        """Every source of untrusted text in some artifacts."""
        return taints.join(*(self._taints.get(each, taints.CLEAN) for each in artifact_ids))

    async def put(
        self, chunks: AsyncIterator[bytes], limit_bytes: int
    ) -> tuple[ids.ArtifactId, int]:
        """Keep bytes; returns (id, size in bytes)."""
        whole = bytearray()
        async for chunk in chunks:
            artifacts.check_size(len(whole) + len(chunk), limit_bytes)
            whole += chunk
        artifact_id = ids.ArtifactId(hashlib.sha256(whole).hexdigest())
        self._kept[artifact_id] = bytes(whole)
        return artifact_id, len(whole)

    async def get(self, artifact_id: ids.ArtifactId) -> AsyncIterator[bytes]:
        """The bytes in chunks of at most 256 KiB."""
        if artifact_id not in self._kept:
            raise artifacts.missing(artifact_id)
        whole = self._kept[artifact_id]
        for start in range(0, len(whole), artifacts.CHUNK_BYTES):
            yield whole[start : start + artifacts.CHUNK_BYTES]

    async def exists(self, artifact_id: ids.ArtifactId) -> bool:
        return self.holds(artifact_id)

    def holds(self, artifact_id: ids.ArtifactId) -> bool:
        return artifact_id in self._kept
