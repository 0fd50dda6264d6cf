"""A pin: one file that holds all a verifier requires of a run, so that the verifier need not rely on any claim of the
run.
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from circuitize.backends.tensor.groups import DATA
from circuitize.circuits.archives import read_array, require_usual
from circuitize.circuits.encode import is_digest
from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.files import write_whole
from circuitize.circuits.port import Port, Role
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json, parse_json, read_at_most
from circuitize.circuits.saved import MOST_BYTES as MOST_PROGRAM
from circuitize.circuits.saved import load, save
from circuitize.circuits.scan import Told
from circuitize.circuits.types import Fixed, Shape
from circuitize.provers.statement import read_whole
from circuitize.provers.tensor.runs.checking import Checked
from circuitize.provers.tensor.runs.evaluation import Evaluation
from circuitize.provers.tensor.runs.files import DIGEST_BYTES, MOST_STEPS
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.start import Start

from ..exact import Integers

VERSION = 1
MOST_BYTES = 1 << 30
MOST_SETTING = 1 << 16
DAMAGED = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, EOFError, MemoryError, RuntimeError),
    *(struct.error, zlib.error, zipfile.BadZipFile),
)
SETTING, STEP, JUDGE, SCALARS, STARTS = "pin.json", "step.arrow", "evaluation.arrow", "scalars/", "start/"


@dataclass(frozen=True)
class Pin:
    """The requirements on a run: its program, the program that evaluates it, its seeds, its lengths, the scalars of all
    steps, and its roots, all of them chosen by the verifier.

    The `roots` of a pin are those with which the run begins, and `final` those with which it ends; `plans` is the
    digest of the plans of its proofs.
    """

    run: Run
    plans: str
    roots: Mapping[str, bytes]
    final: Mapping[str, bytes]

    def write(self, path: Path) -> None:
        """Write the pin to a file, which appears complete or not at all."""
        write_whole(path, [self.encode()])

    def encode(self) -> bytes:
        """Return the content of a run's pin file."""
        run, content = self.run, io.BytesIO()
        setting = {
            "circuitize pin": VERSION,
            "first": run.first,
            "steps": run.steps,
            "per_proof": run.per_proof,
            "examples": run.size,
            "seed": run.seed.hex(),
            "zero_knowledge": run.zero_knowledge,
            "openings": run.begun,
            "losses": run.told.value,
            "test_examples": None if run.evaluation is None else run.evaluation.size,
            "initial_seed": None if run.start is None else run.start.seed.hex(),
            "plans": self.plans,
            "roots": {name: root.hex() for name, root in self.roots.items()},
            "final": {name: root.hex() for name, root in self.final.items()},
        }
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            _put(archive, SETTING, (json.dumps(setting, indent=1, sort_keys=True) + "\n").encode())
            _put(archive, STEP, _saved(run.program))
            if run.evaluation is not None:
                _put(archive, JUDGE, _saved(run.evaluation.program))
            for folder, arrays in ((SCALARS, _scalars(run)), (STARTS, {} if run.start is None else run.start.values)):
                for name, values in arrays.items():
                    _put(archive, f"{folder}{name}.npy", _array(values))
        return content.getvalue()


def pinned(run: Run, checked: Checked) -> Pin:
    """Return the pin of a run that was checked; scalars that the run stated itself become requirements of the pin."""
    given = {port.name: checked.scalars[port.name] for port in run.program.inputs if port.role is Role.SCALAR}
    return Pin(_required(run, given), run.plans_digest, dict(checked.roots), dict(checked.final))


def read_pin(path: Path) -> Pin:
    """Return the pin in a file; raise FormatError, with a message of one line, for a file that is no pin."""
    try:
        content = read_at_most(path, MOST_BYTES, "a pin", "ask for it again")
    except OSError as error:
        raise FormatError(f"{path}: expected a pin, found {error.strerror or error}; check the path") from None
    try:
        found = decode_pin(content)
        _require_roots(found)
        return found
    except (CircuitizeError, OSError, *DAMAGED) as error:
        raise FormatError(
            f"{path}: expected a pin of version {VERSION}, found a damaged or another file ({error}); ask for it again"
        ) from None


def decode_pin(content: bytes) -> Pin:
    """Return a pin from the content of its file, without checking that the pin has the roots of its run. Raise
    CircuitizeError or one of the exceptions in DAMAGED for content that is no pin.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes")
        return _read(archive)


def _require_roots(found: Pin) -> None:
    """Raise ValueError unless a pin has exactly the roots of its run: if a root were missing, the run could choose it
    freely.
    """
    for roots, names in ((found.roots, found.run.rooted), (found.final, (*found.run.kept, DATA))):
        if set(roots) != set(names):
            raise ValueError(f"roots of {excerpt(sorted(roots))}, expected {sorted(names)}")


def _read(archive: zipfile.ZipFile) -> Pin:
    """Return the pin in a zip archive, which must have the entries of a pin and no others."""
    text = _content(archive, SETTING, MOST_SETTING)
    found = parse_json(text, len(text))
    if read_whole(found["circuitize pin"]) != VERSION:
        raise ValueError(f"version {excerpt(found['circuitize pin'])}")
    if not isinstance(found["zero_knowledge"], bool) or not is_digest(found["plans"]):
        raise ValueError("kind or plans of no run")
    program, judged, begun = _loaded(_content(archive, STEP, MOST_PROGRAM)), None, None
    arrays: list[str] = []
    if found["test_examples"] is not None:
        judge = _loaded(_content(archive, JUDGE, MOST_PROGRAM))
        judged = Evaluation(judge, _count(found, "test_examples"), found["zero_knowledge"])
    if found["initial_seed"] is not None:
        ports = [port for port in program.inputs if port.held]
        begun = Start(bytes.fromhex(found["initial_seed"]), {port.name: _started(archive, port) for port in ports})
        arrays = [f"{STARTS}{port.name}.npy" for port in ports]
    run = Run(
        *(program, _count(found, "examples"), _count(found, "steps"), bytes.fromhex(found["seed"]), _none),
        *(_count(found, "per_proof"), _count(found, "first")),
        zero_knowledge=found["zero_knowledge"],
        begun=None if found["openings"] is None else _count(found, "openings"),
        told=Told(found["losses"]),
        evaluation=judged,
        start=begun,
    )
    roots, final = _roots(found["roots"]), _roots(found["final"])
    names = [port.name for port in program.inputs if port.role is Role.SCALAR]
    scalars = {name: _integers(archive, SCALARS + name, (run.steps,)) for name in names}
    arrays += [f"{SCALARS}{name}.npy" for name in names]
    if sorted(archive.namelist()) != sorted([SETTING, STEP, *([] if judged is None else [JUDGE]), *arrays]):
        raise ValueError("entries that no pin has")
    return Pin(_required(run, scalars), found["plans"], roots, final)


def _count(found: Json, name: str) -> int:
    if not 1 <= read_whole(found[name]) <= MOST_STEPS:
        raise ValueError(f"{name} {excerpt(found[name])}")
    return int(found[name])


def _roots(found: Mapping[str, str]) -> dict[str, bytes]:
    roots = {name: bytes.fromhex(root) for name, root in found.items()}
    if any(len(root) != DIGEST_BYTES for root in roots.values()):
        raise ValueError(f"roots of {excerpt(sorted(roots))}, expected {DIGEST_BYTES} bytes each")
    return roots


def _content(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    info = archive.getinfo(name)
    require_usual(info)
    if info.file_size > most:
        raise ValueError(f"{name} of {info.file_size:,} bytes")
    return archive.read(info)


def _integers(archive: zipfile.ZipFile, name: str, shape: Shape) -> Integers:
    info = archive.getinfo(f"{name}.npy")
    if 8 * math.prod(shape) > info.file_size:
        raise ValueError(f"{name} of fewer numbers than {shape}")
    values = read_array(archive, info, name, lambda _, found: found == shape)
    if values.shape != shape or values.dtype != np.dtype("<i8"):
        raise ValueError(f"{name} of {values.dtype}{values.shape}")
    return values.astype(np.int64, copy=False)


def _started(archive: zipfile.ZipFile, port: Port[Fixed]) -> Integers:
    values = _integers(archive, STARTS + port.name, port.format.shape)
    if values.size and not port.format.low <= values.min() <= values.max() <= port.format.high:
        raise ValueError(f"{port.name} out of its format")
    return values


def _none(_: int) -> Mapping[str, Fraction]:
    return {}


@dataclass(frozen=True)
class _Course:
    """The scalars of each step of a run, by name, as integers in their formats."""

    first: int
    integers: Mapping[str, Integers]
    bits: Mapping[str, int]

    def __call__(self, step: int) -> Mapping[str, Fraction]:
        at = step - self.first
        return {name: Fraction(int(values[at]), 1 << self.bits[name]) for name, values in self.integers.items()}


def _required(run: Run, integers: Mapping[str, Integers]) -> Run:
    """Return the run with the given scalars required for all of its steps."""
    ports = [port for port in run.program.inputs if port.role is Role.SCALAR]
    bits = {port.name: port.format.fraction_bits for port in ports if port.format is not None}
    course = _Course(run.first, integers, bits)
    return Run(
        *(run.program, run.size, run.steps, run.seed, course, run.per_proof, run.first),
        zero_knowledge=run.zero_knowledge,
        begun=run.begun,
        told=run.told,
        evaluation=run.evaluation,
        start=run.start,
    )


def _scalars(run: Run) -> dict[str, Integers]:
    parts = [run.scalars_of(step) for step in run.beginnings]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Write an entry of a pin's archive with a fixed date, so that equal pins have equal bytes."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def _saved(program: IntegerProgram) -> bytes:
    with TemporaryDirectory(prefix="circuitize-") as scratch:
        save(program, Path(scratch) / STEP)
        return (Path(scratch) / STEP).read_bytes()


def _loaded(content: bytes) -> IntegerProgram:
    with TemporaryDirectory(prefix="circuitize-") as scratch:
        path = Path(scratch) / STEP
        path.write_bytes(content)
        try:
            return load(path, integer=True)
        except CircuitizeError as error:
            raise ValueError(str(error).replace(f"{path}: ", "")) from None


def _array(values: Integers) -> bytes:
    content = io.BytesIO()
    np.save(content, np.ascontiguousarray(values, "<i8"), allow_pickle=False)
    return content.getvalue()
