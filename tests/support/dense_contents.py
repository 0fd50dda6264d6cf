"""Contents of so many bytes, all written, for a file that a verifier is handed: noise, texts, circuits, keys."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import numpy as np
from hostile_files import checked

PIECE = 1 << 22
NOISE = np.random.default_rng(5).bytes(PIECE)

Content = Callable[[bytes, int], Iterator[bytes]]
"""From what the honest file holds, and about how many bytes are wanted: the pieces of another."""


def repeated(piece: bytes, size: int) -> Iterator[bytes]:
    """So many bytes, of one piece over and over; the last of them may be cut off."""
    many = piece * max(1, PIECE // len(piece))
    for _ in range(size // len(many)):
        yield many
    yield many[: size % len(many)]


def noise(honest: bytes, size: int) -> Iterator[bytes]:
    return repeated(NOISE, size)


def continued(honest: bytes, size: int) -> Iterator[bytes]:
    """The honest file, and noise."""
    yield honest
    yield from noise(honest, size)


def again(honest: bytes, size: int) -> Iterator[bytes]:
    """The honest file over and over."""
    return repeated(honest, size)


def digits(honest: bytes, size: int) -> Iterator[bytes]:
    return repeated(b"9", size)


def nested(honest: bytes, size: int) -> Iterator[bytes]:
    yield from repeated(b"[", size // 2)
    yield from repeated(b"]", size // 2)


def lists(honest: bytes, size: int) -> Iterator[bytes]:
    yield b"[[]"
    yield from repeated(b",[]", size // 3 * 3)
    yield b"]"


def text(honest: bytes, size: int) -> Iterator[bytes]:
    yield b'"'
    yield from repeated(b"x", size)
    yield b'"'


def spaced(honest: bytes, size: int) -> Iterator[bytes]:
    """The honest values, and spaces."""
    yield honest
    yield from repeated(b" ", size)


def inserted(after: bytes, piece: bytes) -> Content:
    """The honest file with one piece over and over, behind some text of it: of the right shape."""

    def content(honest: bytes, size: int) -> Iterator[bytes]:
        start, found, end = honest.partition(after)
        assert found
        yield start + found
        yield from repeated(piece, size // len(piece) * len(piece))
        yield end

    return content


def stated(honest: bytes, size: int) -> Iterator[bytes]:
    """The proof of a step that states a list of so many numbers, with lengths that fit."""
    start = honest.index(b"{") - 8
    (length,) = struct.unpack_from("<Q", honest, start)
    header, rest = honest[start + 8 : start + 8 + length], honest[start + 8 + length :]
    first, found, end = header.partition(b'"publics": {')
    assert found
    first += found + b'"input:x": [1'
    count = size // 3
    yield honest[:start] + struct.pack("<Q", len(first) + 3 * count + 3 + len(end)) + first
    yield from repeated(b", 2", 3 * count)
    yield b"], " + end + rest


def constraints(honest: bytes, size: int) -> Iterator[bytes]:
    """A circuit that has its constraints over and over: a whole file."""
    sections = _sections(honest)
    more = max(1, size // len(sections[2]))
    (rows,) = struct.unpack_from("<I", sections[1], len(sections[1]) - 4)
    yield honest[:12]
    yield from _section(1, sections[1][:-4] + struct.pack("<I", rows * more))
    yield struct.pack("<IQ", 2, more * len(sections[2]))
    yield from repeated(sections[2], more * len(sections[2]))
    yield from _section(3, sections[3])


def wires(honest: bytes, size: int) -> Iterator[bytes]:
    """A witness of so many wires: a whole file."""
    header, count = _sections(honest)[1], size // 32
    yield honest[:12]
    yield from _section(1, header[:-4] + struct.pack("<I", count))
    yield struct.pack("<IQ", 2, 32 * count)
    yield from repeated(b"\1" + bytes(31), 32 * count)


def columns(honest: bytes, size: int) -> Iterator[bytes]:
    """A Plonkish system with so long a fixed column more."""
    sections = _sections(honest)
    header = bytearray(sections[1])
    count, fixed = size // 8, len(header) - 28
    struct.pack_into("<I", header, len(header) - 40, count)
    struct.pack_into("<I", header, fixed, struct.unpack_from("<I", header, fixed)[0] + 1)
    yield honest[:12]
    for kind, section in sections.items():
        if kind == 4:
            yield struct.pack("<IQ", 4, len(section) + 8 + 8 * count) + section + struct.pack("<2I", count, 8)
            yield from repeated(b"\1" + bytes(7), 8 * count)
        else:
            yield from _section(kind, bytes(header) if kind == 1 else section)


def _sections(content: bytes) -> dict[int, bytes]:
    found, at = {}, 12
    while at < len(content):
        kind, length = struct.unpack_from("<IQ", content, at)
        found[kind] = content[at + 12 : at + 12 + length]
        at += 12 + length
    return found


def _section(kind: int, content: bytes) -> list[bytes]:
    return [struct.pack("<IQ", kind, len(content)), content]


def points(honest: bytes, size: int) -> Iterator[bytes]:
    """A verifying key for so many public values, each with the point of the first, as long as a key may be."""
    count = (min(size, (1 << 26) - 4096) - len(honest)) // 64
    (public,) = struct.unpack_from("<Q", honest, 56)
    content = honest[:56] + struct.pack("<Q", public + count) + honest[64:-32]
    return iter([checked(content + honest[-96:-32] * count + bytes(32))])


TEXT: dict[str, Content] = {
    "noise": noise,
    "digits": digits,
    "nested": nested,
    "lists": lists,
    "text": text,
    "spaced": spaced,
}
BINARY: dict[str, Content] = {"noise": noise, "continued": continued, "again": again}
CIRCUIT = BINARY | {"constraints": constraints}
STATEMENT = TEXT | {
    "numbers": inserted(b'"integers": [', b"\n    1,"),
    "ports": inserted(b'"ports": {', b'\n  "input:x": {\n   "root": "0x0"\n  },'),
}
