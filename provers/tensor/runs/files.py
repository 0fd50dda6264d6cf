"""The files in a run's folder: a manifest, and the proofs of the run's steps. Everything in the files of a run's folder
is only claimed until it is checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitize.backends.tensor.groups import PortKey
from circuitize.circuits.encode import is_digest
from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.files import write_whole
from circuitize.circuits.reading import parse_json, read_at_most
from circuitize.circuits.scan import Told
from circuitize.provers.statement import read_key, read_name, read_whole

from ..proof import MOST_BYTES, Proof
from ..roots import CHUNKS

VERSION = 4
WARNING_FILE = "NOT-ZERO-KNOWLEDGE.txt"
WARNING = "These proofs are NOT zero-knowledge: they tell whoever reads them about the values that they hide.\n"
MANIFEST = "run.json"
FORMATS = "formats.proof"
EVALUATION = "evaluation.proof"
STEPS = "steps"
RENEWALS = "renewals"
MAGIC = b"circuitize-tstep" + VERSION.to_bytes(4, "little")
HEADER = len(MAGIC) + 4 + 8 + 8
MOST_HEADER = 1 << 24
MOST_MANIFEST = 1 << 14
"""The most bytes of a run's manifest, which has at most five roots, and numbers."""

DIGEST_BYTES = 32
MOST_STEPS = 1 << 48


def step_path(folder: Path, step: int) -> Path:
    """Return the path of the proof that begins at a given step; steps are numbered from 1."""
    return folder / STEPS / f"{step:06d}.proof"


def renewal_path(folder: Path, step: int) -> Path:
    """Return the path of the proof that the dataset's root from a step on commits to the same values as the root before
    it.
    """
    return folder / RENEWALS / f"{step:06d}.proof"


def _start(zero_knowledge: bool) -> bytes:
    return MAGIC + int(zero_knowledge).to_bytes(4, "little") + CHUNKS.to_bytes(8, "little")


@dataclass(frozen=True)
class Manifest:
    """The manifest of a run's folder: the claimed program, seed, first step and lengths, and the roots with which the
    run begins, by group.

    In zero knowledge, the field `openings` of a manifest says how often the dataset's root may be opened. If the run is
    evaluated, `test_examples` is the number of examples in its test set; if the run has a public start, `start` is the
    seed of that start.
    """

    program: str
    plans: str
    seed: bytes
    first: int
    steps: int
    per_proof: int
    examples: int
    told: str
    openings: int | None
    test_examples: int | None
    start: bytes | None
    roots: Mapping[str, bytes]

    @property
    def zero_knowledge(self) -> bool:
        """Return whether, by the manifest, the run's proofs hide its values."""
        return self.openings is not None

    def text(self) -> str:
        """Return the content of the manifest's file, as JSON text."""
        content = {
            "circuitize": VERSION,
            "prover": "tensor",
            "zero_knowledge": self.zero_knowledge,
            "chunks": CHUNKS,
            "program": self.program,
            "plans": self.plans,
            "seed": self.seed.hex(),
            "first": self.first,
            "steps": self.steps,
            "per_proof": self.per_proof,
            "examples": self.examples,
            "told": self.told,
            "openings": self.openings,
            "test_examples": self.test_examples,
            "start": None if self.start is None else self.start.hex(),
            "roots": {name: root.hex() for name, root in self.roots.items()},
        }
        return json.dumps(content, indent=1, sort_keys=True) + "\n"

    def write(self, folder: Path) -> None:
        """Write the manifest, and, if the run's proofs hide nothing, a warning beside it, so that even an interrupted
        run has the warning.
        """
        write_whole(folder / MANIFEST, [self.text().encode()])
        if not self.zero_knowledge:
            write_whole(folder / WARNING_FILE, [WARNING.encode()])


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest in a folder; raise FormatError if it is missing, damaged or of another version."""
    path = folder / MANIFEST
    try:
        written = read_at_most(path, MOST_MANIFEST, "what a run claims", "ask for it again")
        text, content = written.decode(), parse_json(written, MOST_MANIFEST >> 4)
        if content["circuitize"] != VERSION or content["prover"] != "tensor":
            raise ValueError(f"version {excerpt(content['circuitize'])} of {excerpt(content['prover'])}")
        if content["chunks"] != CHUNKS:
            raise ValueError("in chunks, which a newer version reads")
        openings, tested = (
            None if content[name] is None else _count(content[name]) for name in ("openings", "test_examples")
        )
        first, steps = _count(content["first"]), _count(content["steps"])
        lengths = (first, steps, _count(content["per_proof"]), _count(content["examples"]), _told(content["told"]))
        seed = bytes.fromhex(content["seed"])
        start = None if content["start"] is None else bytes.fromhex(content["start"])
        roots = {read_name(name): _digest(root) for name, root in content["roots"].items()}
        for name in ("program", "plans"):
            if not is_digest(content[name]):
                raise ValueError(f"{name} {excerpt(content[name])}, expected 64 hexadecimal digits")
        made = Manifest(content["program"], content["plans"], seed, *lengths, openings, tested, start, roots)
        if made.text() != text:
            raise ValueError("not written as runs are")
        return made
    except OSError as error:
        raise FormatError(f"{path}: expected a run, found {error.strerror or error}; check the path") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(
            f"{path}: expected a run of version {VERSION}, found a damaged or another file ({error}); ask for it again"
        ) from None


@dataclass(frozen=True)
class StepProof:
    """A proof of consecutive steps of a run, with the public scalars and outputs and the roots before and after the
    steps that it states.

    If all the numbers that a proof states for a port are equal, only one of them is written (`folded`).
    """

    run: bytes
    step: int
    publics: Mapping[PortKey, tuple[int, ...]]
    roots: Mapping[PortKey, bytes]
    proof: Proof

    def encode(self) -> bytes:
        """Return the bytes of the file: magic number, version and 1 for zero knowledge (u32 each), number of chunks and
        length (u64 each), the statement, and the proof.
        """
        header = json.dumps(
            {
                "run": self.run.hex(),
                "step": self.step,
                "publics": {":".join(key): list(values) for key, values in self.publics.items()},
                "roots": {":".join(key): root.hex() for key, root in self.roots.items()},
            },
            sort_keys=True,
        ).encode()
        return _start(self.proof.zero_knowledge) + len(header).to_bytes(8, "little") + header + self.proof.encode()

    @staticmethod
    def decode(content: bytes, most_stated: int = MOST_HEADER) -> StepProof:
        """Return the proof of steps that the bytes of a file encode; raise FormatError unless they are exactly what
        `encode` writes, with a statement of at most `most_stated` bytes.
        """
        if not content.startswith((_start(False), _start(True))):
            raise FormatError(
                f"expected a step of a run, version {VERSION}, of {CHUNKS} chunk, found {content[: HEADER - 8]!r}"
            )
        length = int.from_bytes(content[HEADER - 8 : HEADER], "little")
        if length > min(most_stated, len(content) - HEADER):
            raise FormatError(f"expected {length} bytes of what is stated, found fewer, or more than this run states")
        proof = Proof.decode(content[HEADER + length :])
        try:
            stated = parse_json(content[HEADER : HEADER + length], length)
            publics = {read_key(name): tuple(map(read_whole, values)) for name, values in stated["publics"].items()}
            roots = {read_key(name): _digest(root) for name, root in stated["roots"].items()}
            made = StepProof(_digest(stated["run"]), read_whole(stated["step"]), publics, roots, proof)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise FormatError(f"expected a step of a run, found a damaged one ({error})") from None
        if made.encode() != content:
            raise FormatError("expected a step of a run, found one not written as they are")
        return made

    def write(self, path: Path) -> None:
        """Write the proof to a file, which appears complete or not at all."""
        write_whole(path, [self.encode()])


def read_step(path: Path, most: int = MOST_BYTES + MOST_HEADER, most_stated: int = MOST_HEADER) -> StepProof:
    """Return the proof of steps in a file; raise CircuitizeError if the file cannot be read, and FormatError if it is
    damaged or longer than `most` bytes.

    Verifiers limit the lengths of the file and of the statement in it to those that `sizes.py` computes.
    """
    try:
        return StepProof.decode(read_at_most(path, most, "the proof of a step", "ask for it again"), most_stated)
    except OSError as error:
        raise CircuitizeError(f"expected {path}, found {error.strerror or error}") from None


def _told(word: object) -> str:
    if Told(word) is Told.TOTAL:
        raise ValueError("sums of public outputs over steps")
    return Told(word).value


def folded(values: tuple[int, ...]) -> tuple[int, ...]:
    """Return a single number if all the given numbers are equal, and otherwise all of them."""
    return values[:1] if len(set(values)) == 1 else values


def _count(value: object) -> int:
    count = read_whole(value)
    if not 1 <= count <= MOST_STEPS:
        raise ValueError(f"{excerpt(value)} among what is counted")
    return count


def _digest(text: str) -> bytes:
    found = bytes.fromhex(text)
    if len(found) != DIGEST_BYTES:
        raise ValueError(f"{excerpt(text)} where {DIGEST_BYTES} bytes were expected")
    return found
