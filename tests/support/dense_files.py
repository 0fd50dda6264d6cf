"""Files of so many bytes, all of them written, in place of those that a verifier is handed; each judged in a process.

`python tests/support/dense_files.py 1073741824` takes minutes and a gigabyte of disk. It prints, of every content, the
status, and how many seconds and MiB more it takes than the honest file. Names of files may follow.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cli_programs import run
from dense_archives import ARCHIVE
from dense_contents import BINARY, CIRCUIT, STATEMENT, TEXT, Content, columns, inserted, points, stated, wires
from dense_programs import SAVED
from hostile_kinds import kinds

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
    "witness.wtns": Place("r1cs/witness.wtns", ("check", "r1cs"), BINARY | {"wires": wires}),
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
    given = ("--not-zero-knowledge", "--seed", "5eed", "--steps", "20", "--per-proof", "1", "-o", root / "long")
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
