"""Files of so many bytes, all of them written, in place of those that a verifier is handed; each judged in a process.

`python tests/dense_files.py 1073741824` takes minutes and a gigabyte of disk. It prints, of every content, the status,
and how many seconds and MiB more it takes than the honest file. Names of files may follow.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from cli_programs import run
from hostile_files import checked
from hostile_kinds import kinds

from circuitize import load, save
from circuitize.circuits.integers import Constant

PIECE = 1 << 22
NOISE = np.random.default_rng(5).bytes(PIECE)

Content = Callable[[bytes, int], Iterator[bytes]]
"""From what the honest file holds, and about how many bytes are wanted: the pieces of another."""

JUDGE = """
import sys, time
from pathlib import Path
from circuitize.cli import main
status = main(sys.argv[2:])
lines = Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))
Path(sys.argv[1]).write_text(f"{status} {peak} {time.process_time()} {time.perf_counter()}")
"""
"""The most memory of the process itself: what `getrusage` says begins at that of whoever started it."""


@dataclass(frozen=True)
class Cost:
    """How a command ended, what it said, and what it took."""

    status: int
    told: tuple[str, ...]
    bytes: int
    seconds: float


def cost(folder: Path, *command: str) -> Cost:
    """Of a command line that runs in a folder, in a process of its own."""
    with tempfile.TemporaryDirectory() as kept:
        result = Path(kept) / "result"
        ended = subprocess.run(
            [sys.executable, "-c", JUDGE, result, *command], cwd=folder, capture_output=True, text=True
        )
        if not result.exists():
            return Cost(ended.returncode or -1, tuple(ended.stderr.splitlines()), 0, 0.0)
        status, peak, seconds, _ = result.read_text().split()
    told = [line for line in (ended.stdout + ended.stderr).splitlines() if line]
    return Cost(int(status), tuple(told), int(peak), float(seconds))


@dataclass(frozen=True)
class Place:
    """Where a file lies in the folders of `hostile_kinds`, the command that reads it, and what else may lie there."""

    path: str
    command: tuple[str, ...]
    contents: Mapping[str, Content]
    made: tuple[str, ...] = ()
    """What the command writes, which goes again."""
    others: tuple[str, ...] = ()
    """Files that get the same content."""


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


MOST_PROGRAM = (1 << 27) - 64
COLUMNS = 9
"""Arrays of a saved program that are no constants."""


def _saved(honest: bytes) -> tuple[dict[str, Any], bytes]:
    (length,) = struct.unpack_from("<Q", honest, 8)
    return json.loads(honest[16 : 16 + length]), honest[16 + length : -32]


def _program(honest: bytes, told: object, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """A saved program whose length and checksum fit."""
    described = json.dumps(told, separators=(",", ":"), sort_keys=True).encode()
    checksum = hashlib.sha256()
    for piece in [honest[:8] + struct.pack("<Q", len(described)) + described, *pieces]:
        checksum.update(piece)
        yield piece
    yield checksum.digest()


def constants(honest: bytes, size: int) -> Iterator[bytes]:
    """A program as long as one may be, almost all of it one array that an operation holds."""
    told, arrays = _saved(honest)
    count = (min(size, MOST_PROGRAM) - len(honest) - 4096) // 8
    operations = told["header"]["operations"]
    operations.append(
        {
            "class": "integer.constant",
            "fields": {
                "amounts": {"array": len(told["arrays"]) - COLUMNS},
                "shape": {"tuple": [count]},
                "fraction_bits": 0,
            },
        }
    )
    told["arrays"].append({"dtype": "<i8", "shape": [count]})
    return _program(honest, told, _each([arrays], repeated(NOISE, 8 * count)))


def used(honest: bytes, size: int) -> Iterator[bytes]:
    """The honest program and one constant that an edge writes, almost as long as a program may be."""
    count = (min(size, MOST_PROGRAM) - len(honest) - 4096) // 8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.arrow"
        path.write_bytes(honest)
        program = load(path)
        arrow = program.arrow
        constant = Constant.of(np.frombuffer(b"".join(repeated(NOISE, 8 * count)), "<i8") >> 8)
        grown = replace(
            arrow,
            operations=(*arrow.operations, constant),
            types=(*arrow.types, *constant.target_types()),
            wire_types=np.append(arrow.wire_types, np.int32(len(arrow.types))),
            edge_operations=np.append(arrow.edge_operations, np.int32(len(arrow.operations))),
            edge_provenances=np.append(arrow.edge_provenances, np.int32(0)),
            source_offsets=np.append(arrow.source_offsets, arrow.source_offsets[-1]),
            target_offsets=np.append(arrow.target_offsets, arrow.target_offsets[-1] + np.int32(1)),
            target_wires=np.append(arrow.target_wires, np.int32(arrow.wire_count)),
        )
        save(replace(program, arrow=grown), path)
        yield path.read_bytes()


def unused(honest: bytes, size: int) -> Iterator[bytes]:
    """The honest program with an array that nothing in it names."""
    told, arrays = _saved(honest)
    count = (min(size, MOST_PROGRAM) - len(honest) - 4096) // 8
    told["arrays"].append({"dtype": "<i8", "shape": [count]})
    return _program(honest, told, _each([arrays], repeated(NOISE, 8 * count)))


def examples(honest: bytes, size: int) -> Iterator[bytes]:
    """The honest program with one more example, of so many numbers."""
    told, arrays = _saved(honest)
    count = (min(size, MOST_PROGRAM) - len(honest) - 4096) // 8
    header = told["header"]
    ports = header["ports"][0]
    held = told["arrays"]
    header["examples"] += [{port[0]: len(held) - COLUMNS + place for place, port in enumerate(ports)}]
    for _ in ports:
        held.append({"dtype": "<f8", "shape": [count // len(ports)]})
    return _program(honest, told, _each([arrays], repeated(NOISE, 8 * len(ports) * (count // len(ports)))))


def described(entry: object) -> Content:
    """The honest program with as many entries as one may describe among its precision's fields."""

    def content(honest: bytes, size: int) -> Iterator[bytes]:
        told, arrays = _saved(honest)
        each = json.dumps(entry, separators=(",", ":"))
        marks = sum(each.count(mark) for mark in ",[{") + 1
        count = min(min(size, (1 << 22) - (1 << 16)) // (len(each) + 1), ((1 << 20) - (1 << 13)) // marks)
        told["header"]["provenances"] += [entry] * count
        return _program(honest, told, iter([arrays]))

    return content


def _each(first: list[bytes], then: Iterator[bytes]) -> Iterator[bytes]:
    yield from first
    yield from then


def _npy(shape: str, kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def archive(name: str, head: bytes, method: int = zipfile.ZIP_STORED, piece: bytes = NOISE) -> Content:
    """An archive of one entry that begins so, and goes on; a compressed one is as long when it is read."""

    def content(honest: bytes, size: int) -> Iterator[bytes]:
        kept = _Kept()
        file = zipfile.ZipFile(kept, "w", method, compresslevel=1)
        with file, file.open(f"{name}.npy", "w", force_zip64=True) as entry:
            entry.write(head)
            for part in repeated(piece, size):
                entry.write(part)
                yield from kept.taken()
        yield from kept.taken()

    return content


class _Kept(io.RawIOBase):
    """What an archive writes, to be taken piece by piece; it cannot seek."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        content = bytes(piece)
        self._pieces.append(content)
        self._at += len(content)
        return len(content)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        return None

    def taken(self) -> list[bytes]:
        pieces, self._pieces = self._pieces, []
        return pieces


def entries(honest: bytes, size: int) -> Iterator[bytes]:
    """An archive whose list of arrays is so long."""
    name = b"x.npy"
    entry = struct.pack(
        "<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0
    )
    count = size // len(entry + name)
    yield from repeated(entry + name, count * len(entry + name))
    yield struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count & 0xFFFF, count & 0xFFFF, count * len(entry + name), 0, 0)


def behind(honest: bytes, size: int) -> Iterator[bytes]:
    """An honest archive behind noise: of such a file its end is read."""
    yield from noise(honest, size)
    yield honest


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
SAVED = BINARY | {
    "constants": constants,
    "used": used,
    "unused": unused,
    "examples": examples,
    "lists described": described([]),
    "objects described": described({"a": 0}),
    "provenances": described(["", "", 0]),
}
ARCHIVE = BINARY | {
    "a giant x": archive("x", _npy("(134217728,)")),
    "x, and more": archive("x", _npy("(2,)")),
    "compressed x, and more": archive("x", _npy("(2,)"), zipfile.ZIP_DEFLATED, bytes(PIECE)),
    "a giant compressed x": archive("x", _npy("(134217728,)"), zipfile.ZIP_DEFLATED, bytes(PIECE)),
    "another name": archive("z", _npy("(134217728,)")),
    "a description": archive("x", b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{", piece=b" " * PIECE),
    "entries": entries,
    "behind": behind,
}
STATEMENT = TEXT | {
    "numbers": inserted(b'"integers": [', b"\n    1,"),
    "ports": inserted(b'"ports": {', b'\n  "input:x": {\n   "root": "0x0"\n  },'),
}


def _verify(prover: str) -> tuple[str, ...]:
    return ("verify", f"proof-{prover}", "--keys", f"keys-{prover}")


TENSOR = ("verify", "tensor", "--program", "step.arrow")
RUN = ("verify-run", "run", "--program", "trained.arrow")
JOIN = ("prove", "step.arrow", "--prover", "tensor", "--not-zero-knowledge", "-o", "joined", "--openings-from")
PLACES = {
    **{
        f"proof.{prover}": Place(f"proof-{prover}/proof.{prover}", _verify(prover), BINARY)
        for prover in ("groth16", "mirage", "halo2")
    },
    "verifying.key, groth16": Place("keys-groth16/verifying.key", _verify("groth16"), BINARY | {"points": points}),
    "verifying.key, halo2": Place("keys-halo2/verifying.key", _verify("halo2"), BINARY),
    "statement.json": Place("proof-groth16/statement.json", _verify("groth16"), STATEMENT),
    "program.arrow, keys": Place("keys-groth16/program.arrow", _verify("groth16"), SAVED),
    "proof.tensor": Place("tensor/proof.tensor", TENSOR, BINARY),
    "statement.json, tensor": Place("tensor/statement.json", TENSOR, STATEMENT),
    "program.arrow, tensor": Place("step.arrow", TENSOR, SAVED),
    "PROOF.openings.json": Place(
        "tensor.openings.json", (*JOIN, "tensor.openings.json"), TEXT, ("joined", "joined.openings.json")
    ),
    "run.json": Place("run/run.json", RUN, TEXT | {"roots": inserted(b'"roots": {', b'\n  "x": "00",')}),
    "formats.proof": Place("run/formats.proof", RUN, BINARY),
    "steps/*.proof": Place("run/steps/000002.proof", RUN, BINARY | {"stated": stated}),
    "steps/*.proof, all": Place(
        *("long/steps/000001.proof", ("verify-run", "long", "--program", "trained.arrow"), BINARY | {"stated": stated}),
        others=tuple(f"long/steps/{step:06d}.proof" for step in range(2, 21)),
    ),
    "program.arrow, run": Place("trained.arrow", RUN, SAVED),
    "--expect": Place("x.npz", (*_verify("groth16"), "--expect", "x=x.npz"), ARCHIVE),
    "--inputs": Place(
        "in.npz", ("compile", "step.arrow", "--target", "r1cs", "-o", "made", "--inputs", "in.npz"), ARCHIVE, ("made",)
    ),
    "circuit.sym": Place("r1cs/circuit.sym", ("audit", "r1cs"), TEXT | BINARY),
    "circuit.r1cs": Place("r1cs/circuit.r1cs", ("check", "r1cs"), CIRCUIT),
    "circuit.r1cs, audit": Place("r1cs/circuit.r1cs", ("audit", "r1cs"), CIRCUIT),
    "witness.wtns": Place("r1cs/witness.wtns", ("check", "r1cs"), BINARY),
    "circuit.plonkish": Place("plonkish/circuit.plonkish", ("check", "plonkish"), BINARY | {"columns": columns}),
    "witness.cells": Place("plonkish/witness.cells", ("check", "plonkish"), BINARY),
}


def spent(root: Path, place: Place, content: Content | None = None, size: int = 0) -> Cost:
    """What the command of a place takes with a content of so many bytes, or with the honest file, there again after."""
    paths = [root / path for path in (place.path, *place.others)]
    honest = [path.read_bytes() for path in paths]
    try:
        if content is not None:
            for path, own in zip(paths, honest, strict=True):
                with path.open("wb") as file:
                    file.writelines(content(own, size // len(paths)))
        found = cost(root, *place.command)
    finally:
        for path, own in zip(paths, honest, strict=True):
            path.write_bytes(own)
    for name in place.made:
        made = root / name
        shutil.rmtree(made) if made.is_dir() else made.unlink(missing_ok=True)
    return found


def prepare(root: Path) -> None:
    """The honest files of `hostile_kinds`, and a run of twenty steps."""
    assert list(kinds(root))
    given = ("--not-zero-knowledge", "--seed", "5eed", "--steps", "20", "-o", root / "long")
    assert run("prove-run", root / "trained.arrow", *given).status == 0


if __name__ == "__main__":
    wanted = sys.argv[2:]
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        prepare(root)
        for title, place in PLACES.items():
            if wanted and not any(part in title for part in wanted):
                continue
            honest = spent(root, place)
            print(f"{title:26} honest: {honest.status}, {honest.seconds:.2f} s, {honest.bytes >> 20} MiB", flush=True)
            for content, made in place.contents.items():
                found = spent(root, place, made, int(sys.argv[1]))
                more = (found.bytes - honest.bytes) >> 20
                said = " | ".join(found.told)[:150]
                line = f"{found.status}, {found.seconds - honest.seconds:+.2f} s, {more:+} MiB, {len(found.told)} lines"
                print(f"  {content:24} {line}: {said}", flush=True)
