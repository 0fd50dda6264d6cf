"""The files of a run's folder: its manifest of claims, and the proofs of its steps. The files in a run's folder are
claims until they are checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    """The path of the proof that begins at step 1, 2, ...."""
    return folder / STEPS / f"{step:06d}.proof"


def renewal_path(folder: Path, step: int) -> Path:
    """The path of the proof that the dataset's root from a step on holds what the root before it does."""
    return folder / RENEWALS / f"{step:06d}.proof"


def _start(zero_knowledge: bool) -> bytes:
    return MAGIC + int(zero_knowledge).to_bytes(4, "little") + CHUNKS.to_bytes(8, "little")


@dataclass(frozen=True)
class Manifest:
    """The claims of a run's folder: program, seed, its first step and lengths, and the roots it begins with, by group.

    The field `openings` of a run's claims is, in zero knowledge, how often the dataset's root may be opened. If a run's
    end is judged, `test_examples` is how many examples the test set has; if the run has a public start, `start` is its
    seed.
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
        """Return whether the run's proofs are claimed to hide its values."""
        return self.openings is not None

    def text(self) -> str:
        """Return the content of the manifest's file, JSON."""
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
        """Write the manifest, and beside it the warning if proofs hide nothing, so that a run that is interrupted has
        it too.
        """
        write_whole(folder / MANIFEST, [self.text().encode()])
        if not self.zero_knowledge:
            write_whole(folder / WARNING_FILE, [WARNING.encode()])


def read_manifest(folder: Path) -> Manifest:
    """Raise FormatError if the manifest is missing, damaged or of another version."""
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
    """A proof of consecutive steps of a run, and what it states: public scalars and outputs, roots before and after.

    If all the numbers that a proof states are equal, a single one is written (`folded`).
    """

    run: bytes
    step: int
    publics: Mapping[PortKey, tuple[int, ...]]
    roots: Mapping[PortKey, bytes]
    proof: Proof

    def encode(self) -> bytes:
        """The bytes of the file of a run's proof: magic, version, 1 for zero knowledge (u32 each), chunks, length (u64
        each), the statement, the proof.
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
        """Raise FormatError unless the content is written exactly as `encode` writes, and its statement has no more
        than `most_stated` bytes.
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
        """Write the proof to a file, whole or not at all."""
        write_whole(path, [self.encode()])


def read_step(path: Path, most: int = MOST_BYTES + MOST_HEADER, most_stated: int = MOST_HEADER) -> StepProof:
    """Raise CircuitizeError if a proof's file cannot be read, FormatError if it is damaged, or longer than `most`
    bytes.

    Verifiers bound the length of a proof's file, and of its statement, by `sizes.py`.
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
    """Return a single number if all numbers are equal, else all numbers."""
    return values[:1] if len(set(values)) == 1 else values


def _count(value: Any) -> int:
    if not 1 <= read_whole(value) <= MOST_STEPS:
        raise ValueError(f"{excerpt(value)} among what is counted")
    return int(value)


def _digest(text: str) -> bytes:
    found = bytes.fromhex(text)
    if len(found) != DIGEST_BYTES:
        raise ValueError(f"{excerpt(text)} where {DIGEST_BYTES} bytes were expected")
    return found
