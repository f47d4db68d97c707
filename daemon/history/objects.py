"""Writes git objects: blobs, trees and commits, in the formats that git reads.

What was written is there whole or not at all. A few objects become a file each; many become one
pack, which is one file to make and to sync. Reads nothing, and removes nothing.
"""

import hashlib
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

FILE, PROGRAM, LINK = 0o100644, 0o100755, 0o120000
"""The modes of what is kept."""
_FOLDER = b"40000"
_MOST_LOOSE = 64
_FLUSH_BYTES = 16 * 1024 * 1024
_MOST_WRITTEN = 50_000
_PACK_KINDS = {b"commit": 1, b"tree": 2, b"blob": 3}


class Kept(NamedTuple):
    """A file as a commit holds it: its mode and the id of its content."""

    mode: int
    oid: str


Tree = Mapping[bytes, Kept]
"""Every file of a commit, by its path."""


def blob_id(data: bytes) -> str:
    """The id of a content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class Objects:
    """Takes objects for one store; `flush` makes them durable."""

    def __init__(self, store: Path) -> None:
        self._folder = store / "objects"
        self._waiting: dict[str, tuple[bytes, bytes, bytes]] = {}
        self._waiting_bytes = 0
        self._written: set[str] = set()

    def add(self, kind: bytes, data: bytes) -> str:
        """Take an object; returns its id. It is there after the next `flush`."""
        header = b"%s %d\0" % (kind, len(data))
        oid = hashlib.sha1(header + data, usedforsecurity=False).hexdigest()
        if oid in self._waiting or oid in self._written or self._loose(oid).exists():
            return oid
        self._waiting[oid] = (kind, header, data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes > _FLUSH_BYTES:
            self.flush()
        return oid

    def _loose(self, oid: str) -> Path:
        return self._folder / oid[:2] / oid[2:]

    def flush(self) -> None:
        """Write all that was taken."""
        if len(self._waiting) > _MOST_LOOSE:
            self._write_pack()
        else:
            for oid, (_, header, data) in self._waiting.items():
                path = self._loose(oid)
                path.parent.mkdir(mode=0o700, exist_ok=True)
                write_whole(path, zlib.compress(header + data, 1))
        if len(self._written) > _MOST_WRITTEN:
            self._written.clear()
        self._written.update(self._waiting)
        self._waiting.clear()
        self._waiting_bytes = 0

    def _write_pack(self) -> None:
        offsets: dict[str, tuple[int, int]] = {}
        body = bytearray(struct.pack(">4sII", b"PACK", 2, len(self._waiting)))
        for oid, (kind, _, data) in self._waiting.items():
            entry = _pack_header(_PACK_KINDS[kind], len(data)) + zlib.compress(data, 1)
            offsets[oid] = (len(body), zlib.crc32(entry))
            body += entry
        digest = hashlib.sha1(body, usedforsecurity=False).digest()
        name = self._folder / "pack" / f"pack-{digest.hex()}"
        write_whole(name.with_suffix(".pack"), bytes(body) + digest)
        write_whole(name.with_suffix(".idx"), _pack_index(offsets, digest))

    def tree(self, files: Tree) -> str:
        """Take the folders of a tree; returns the id of the uppermost."""
        folders: dict[bytes, list[tuple[bytes, bytes]]] = {b"": []}
        for path, kept in files.items():
            folder, _, name = path.rpartition(b"/")
            line = b"%o %s\0" % (kept.mode, name) + bytes.fromhex(kept.oid)
            folders.setdefault(folder, []).append((name, line))
        for folder in list(folders):
            while folder:
                folder = folder.rpartition(b"/")[0]
                folders.setdefault(folder, [])
        deepest_first = sorted(folders, key=lambda one: one.count(b"/") + bool(one), reverse=True)
        oid = ""
        for folder in deepest_first:
            oid = self.add(b"tree", b"".join(line for _, line in sorted(folders[folder])))
            if folder:
                parent, _, name = folder.rpartition(b"/")
                line = b"%s %s\0" % (_FOLDER, name) + bytes.fromhex(oid)
                folders[parent].append((name + b"/", line))
        return oid

    def commit(self, tree: str, parent: str | None, message: str, at_seconds: int) -> str:
        """Take a commit; returns its id."""
        who = f"DuckLM <ducklm@localhost> {at_seconds} +0000"
        lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
        lines += [f"author {who}", f"committer {who}", "", message]
        return self.add(b"commit", "\n".join(lines).encode("utf-8", "replace") + b"\n")


def _pack_header(kind: int, size: int) -> bytes:
    first = kind << 4 | size & 15
    size >>= 4
    header = bytearray()
    while size:
        header.append(first | 0x80)
        first = size & 0x7F
        size >>= 7
    header.append(first)
    return bytes(header)


def _pack_index(offsets: Mapping[str, tuple[int, int]], pack_digest: bytes) -> bytes:
    """The index (version 2) of a pack smaller than 2 GiB."""
    oids = sorted(offsets)
    counts = [0] * 256
    for oid in oids:
        counts[int(oid[:2], 16)] += 1
    total = 0
    fanout = []
    for count in counts:
        total += count
        fanout.append(total)
    index = b"\xfftOc" + struct.pack(">I256I", 2, *fanout)
    index += b"".join(bytes.fromhex(oid) for oid in oids)
    index += b"".join(struct.pack(">I", offsets[oid][1]) for oid in oids)
    index += b"".join(struct.pack(">I", offsets[oid][0]) for oid in oids)
    index += pack_digest
    return index + hashlib.sha1(index, usedforsecurity=False).digest()


def write_whole(path: Path, data: bytes) -> None:
    """Have a file hold this, all of it or what it held before, also after a power cut.

    What a kill leaves beside is written over by the next of the same name.
    """
    beside = path.with_name(f"{path.name}.lock")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    with open(os.open(beside, flags, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(beside, path)
