"""What artifacts promise, on a disk and without one."""

import hashlib
from collections.abc import AsyncIterator

import pytest

from daemon.domain import errors, ids
from daemon.runtime import ports


async def parts(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def breaking(chunk: bytes) -> AsyncIterator[bytes]:
    yield chunk
    raise ConnectionResetError("the sender is gone")


async def read(artifacts: ports.Artifacts, artifact_id: ids.ArtifactId) -> list[bytes]:
    return [chunk async for chunk in artifacts.get(artifact_id)]


async def test_what_was_put_comes_back_in_small_chunks(artifacts: ports.Artifacts) -> None:
    whole = bytes(range(256)) * 4096
    artifact_id, size = await artifacts.put(parts(whole[:700_001], whole[700_001:]), 2**20)
    assert (artifact_id, size) == (hashlib.sha256(whole).hexdigest(), 2**20)
    chunks = await read(artifacts, ids.ArtifactId(artifact_id))
    assert b"".join(chunks) == whole
    assert max(map(len, chunks)) <= 256 * 1024
    assert await artifacts.exists(ids.ArtifactId(artifact_id))


async def test_the_same_bytes_are_the_same_artifact(artifacts: ports.Artifacts) -> None:
    first = await artifacts.put(parts(b"duck", b""), 10)
    assert await artifacts.put(parts(b"du", b"ck"), 10) == first


async def test_no_bytes_are_an_artifact_too(artifacts: ports.Artifacts) -> None:
    artifact_id, size = await artifacts.put(parts(), 10)
    assert size == 0
    assert await read(artifacts, ids.ArtifactId(artifact_id)) == []


async def test_more_than_the_limit_is_refused(artifacts: ports.Artifacts) -> None:
    assert await artifacts.put(parts(b"12345"), 5)
    with pytest.raises(errors.Refusal) as refused:
        await artifacts.put(parts(b"123", b"456"), 5)
    assert refused.value.kind is errors.RefusalKind.EXHAUSTED
    digest = hashlib.sha256(b"123456").hexdigest()
    assert not await artifacts.exists(ids.ArtifactId(digest))


@pytest.mark.parametrize("name", ["0" * 64, "../ducklm.db", "", "A" * 64, "0" * 64 + "\n", "."])
async def test_what_is_not_there_is_refused(artifacts: ports.Artifacts, name: str) -> None:
    assert not await artifacts.exists(ids.ArtifactId(name))
    with pytest.raises(errors.Refusal) as refused:
        await read(artifacts, ids.ArtifactId(name))
    assert refused.value.kind is errors.RefusalKind.NOT_FOUND


async def test_what_was_cut_off_is_not_kept(artifacts: ports.Artifacts) -> None:
    with pytest.raises(ConnectionResetError):
        await artifacts.put(breaking(b"half"), 100)
    assert not await artifacts.exists(ids.ArtifactId(hashlib.sha256(b"half").hexdigest()))
