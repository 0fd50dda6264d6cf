"""Writing the folder of a design and reading it back, after comparing every file with the digest that it had when it
was written.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import FormatError
from circuitize.circuits.files import write_whole
from circuitize.circuits.operation import Values
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json
from circuitize.circuits.saved import load, save
from circuitize.circuits.types import Fixed

from ..board import Board, board_files
from ..design import Design, Stream
from ..modes import Modal
from ..shell.registers import REGISTERS
from ..vivado import Vivado, vivado_files
from .synthesis import scripts
from .testbench import BENCH, MAKEFILE, TEST

DESIGN_FILE, PROGRAM_FILE, VECTORS_FILE = "design.json", "program.arrow", "test/vectors.npz"
PREDICTION_FILE = "predict.arrow"
VERSION = 2

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Vectors:
    """Frames to test a design with, and the outputs that the design must give for them, as integer arrays with one
    entry per frame.

    For the frames whose numbers are in `undefined`, the program has no value. The field `answers` has the values of
    outputs that are right according to the data (labels), whatever the program computes. The field `initial` is the
    state of the design before the first frame.
    """

    inputs: Mapping[str, Integers]
    outputs: Mapping[str, Integers]
    undefined: NDArray[np.bool_]
    answers: Mapping[str, Values] = field(default_factory=dict)
    initial: Mapping[str, Integers] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.undefined)


@dataclass(frozen=True)
class Project:
    """A design with the integer program from which it was made, frames to test it with, and the board or the part in
    Vivado for which it was made, if there is one.

    The field `prediction` is the program that shares the memory of a training step, if there is one.
    """

    design: Design
    program: IntegerProgram
    vectors: Vectors
    board: Board | None = None
    prediction: IntegerProgram | None = None
    vivado: Vivado | None = None

    @property
    def modal(self) -> Modal | None:
        """Return the programs of the project if the frames of its design have modes, and otherwise None."""
        return Modal(self.program, self.prediction) if self.design.modes else None


def write_project(project: Project, folder: Path) -> None:
    """Write all files of a project into an empty folder. The folder of a design contains the program without its
    examples.

    The file of test frames contains examples, so that only its owner may read it.
    """
    design, vectors = project.design, project.vectors
    texts = {f"rtl/{name}": text for name, text in design.files.items()}
    texts |= {"test/bench.py": BENCH, "test/test_design.py": TEST, "test/Makefile": MAKEFILE}
    texts |= {f"synth/{name}": text for name, text in scripts(design).items()}
    if project.board is not None:
        texts |= {f"board/{name}": text for name, text in board_files(design, project.board).items()}
    if project.vivado is not None:
        texts |= {f"vivado/{name}": text for name, text in vivado_files(design, project.vivado).items()}
    contents = {name: text.encode() for name, text in texts.items()} | {VECTORS_FILE: _packed(vectors)}
    for name, content in contents.items():
        write_whole(folder / name, [content], private=name == VECTORS_FILE)
    save(project.program, folder / PROGRAM_FILE)
    if project.prediction is not None:
        save(project.prediction, folder / PREDICTION_FILE)
    described = {
        "version": VERSION,
        "top": design.top,
        "scheduler": design.scheduler,
        "digest": program_digest(project.program),
        "prediction": None if project.prediction is None else program_digest(project.prediction),
        "streams": [
            {**_described(stream), "modes": list(design.modes.get(stream.name, ()))} for stream in design.streams
        ],
        "registers": REGISTERS if design.control else {},
        "held": list(design.held),
        "report": dict(design.report),
        "board": None if project.board is None else asdict(project.board),
        "vivado": None if project.vivado is None else asdict(project.vivado),
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
    }
    write_whole(folder / DESIGN_FILE, [json.dumps(described, indent=1).encode() + b"\n"])


def written_files(folder: Path) -> set[str]:
    """Return the paths, relative to a project's folder, of the files of which the folder says it consists; a later
    design may replace these files.
    """
    described = _json(folder / DESIGN_FILE).get("files")
    named = {str(name) for name in described} if isinstance(described, dict) else set()
    return {DESIGN_FILE, PROGRAM_FILE, PREDICTION_FILE, *named}


def read_project(folder: Path) -> Project:
    """Return the project in a folder. Raise FormatError for a project that is missing, damaged, changed or of another
    version.
    """
    described = _json(folder / DESIGN_FILE)
    where = folder / DESIGN_FILE
    try:
        if described["version"] != VERSION:
            raise FormatError(f"{where}: expected version {VERSION}, found {described['version']}; compile again")
        contents = {name: _content(folder, name, digest) for name, digest in described["files"].items()}
        rtl = {name.removeprefix("rtl/"): text for name, text in contents.items() if name.startswith("rtl/")}
        streams = tuple(_stream(entry) for entry in described["streams"])
        design = Design(
            described["top"],
            described["scheduler"],
            {name: content.decode() for name, content in rtl.items()},
            streams,
            tuple(described["held"]),
            described["report"],
            bool(described["registers"]),
            {entry["name"]: tuple(entry["modes"]) for entry in described["streams"] if entry.get("modes")},
        )
        vectors = _unpacked(contents[VECTORS_FILE])
        digest = described["digest"]
        board = described["board"] and Board(**described["board"])
        vivado = described.get("vivado") and Vivado(**described["vivado"])
        predicting = described.get("prediction")
    except (KeyError, TypeError, ValueError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise FormatError(
            f"{where}: expected the description of a design, found one without or with another {error}; compile again"
        ) from None
    program = load(folder / PROGRAM_FILE, integer=True)
    if program_digest(program) != digest:
        raise FormatError(f"{folder / PROGRAM_FILE}: expected digest {digest}, found another program; compile again")
    prediction = None
    if predicting is not None:
        prediction = load(folder / PREDICTION_FILE, integer=True)
        if program_digest(prediction) != predicting:
            raise FormatError(
                f"{folder / PREDICTION_FILE}: expected digest {predicting}, found another program; compile again"
            )
    return Project(design, program, vectors, board, prediction, vivado or None)


def _described(stream: Stream) -> Json:
    format = stream.format
    return {
        "name": stream.name,
        "port": stream.port,
        "output": stream.output,
        "shape": list(format.shape),
        "fraction_bits": format.fraction_bits,
        "low": format.low,
        "high": format.high,
        "lanes": stream.lanes,
        "element_bits": stream.element_bits,
        "slot_bits": stream.pitch,
        "data_bits": stream.data_bits,
        "beats": stream.beats,
        "keep": stream.keep,
        "user": stream.user,
        "bus": stream.bus,
    }


def _stream(entry: Json) -> Stream:
    format = Fixed(tuple(entry["shape"]), entry["fraction_bits"], entry["low"], entry["high"])
    name, output = entry["name"], entry["output"]
    made = Stream(name, entry["port"], output, format, entry["lanes"])
    slot = 0 if entry["slot_bits"] == made.element_bits else entry["slot_bits"]
    return replace(made, slot=slot, keep=entry["keep"], user=entry["user"], bus=entry["bus"])


def _json(path: Path) -> Json:
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise FormatError(
            f"{path}: expected the folder of a design, found {error.strerror or error}; "
            "write one with circuitize compile PROGRAM --target verilog -o DIR"
        ) from None
    except ValueError:
        raise FormatError(
            f"{path}: expected the JSON description of a design, found other text; compile again"
        ) from None
    if not isinstance(found, dict):
        raise FormatError(f"{path}: expected the JSON description of a design, found other JSON; compile again")
    return found


def _content(folder: Path, name: str, digest: str) -> bytes:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise FormatError(f"{folder / DESIGN_FILE}: expected files inside the folder, found {name!r}; compile again")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FormatError(f"{path}: expected a file of the design, found {error.strerror}; compile again") from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise FormatError(f"{path}: expected the file that compile wrote, found other content; compile again")
    return content


def _packed(vectors: Vectors) -> bytes:
    arrays: dict[str, Values] = {"undefined": vectors.undefined}
    for kind in ("inputs", "outputs", "answers", "initial"):
        arrays |= {f"{kind}/{name}": np.asarray(array) for name, array in getattr(vectors, kind).items()}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), entry.getvalue(), zipfile.ZIP_DEFLATED)
    return content.getvalue()


def _unpacked(content: bytes) -> Vectors:
    kinds: dict[str, dict[str, Values]] = {"inputs": {}, "outputs": {}, "answers": {}, "initial": {}}
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        for name in archive.files:
            kind, _, port = name.partition("/")
            if port:
                kinds[kind][port] = archive[name]
        undefined = archive["undefined"]
    return Vectors(kinds["inputs"], kinds["outputs"], undefined, kinds["answers"], kinds["initial"])
