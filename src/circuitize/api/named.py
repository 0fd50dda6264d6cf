"""Finding the program that a text names: in a user's Python file, in an ONNX file, or in a file of a saved program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.circuits.encode import MAGIC
from circuitize.circuits.errors import CircuitizeError, restated
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.open_hypergraph import load_open_hypergraph
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import Program
from circuitize.circuits.saved import load

from .exact import Exact, exact
from .user_files import bare, names_in, program_in, run_file

if TYPE_CHECKING:
    from .networks import Choices

FORMS = (
    "file.py:name (a Program, a catgrad model, or a function of no arguments that returns one), an ONNX file, a "
    ".keras file of HGQ2, logic that da4ml or alkaid saved, or a saved arrow"
)
ONNX, KERAS = ".onnx", ".keras"
LOGIC = (b"[", b'{"model"', b"\x1f\x8b", b"\x01\x00\x00\x00")
"""The bytes with which files of da4ml and alkaid begin."""


def program_named(
    text: str, *, integer: bool = False, choices: Choices | None = None, remark: Callable[[str], object] = print
) -> Program:
    """Return the program that a text names; if `integer` is true, a saved program must be a program of the integer
    language.

    The argument `choices` gives the settings for an ONNX file, and the callback `remark` is called with remarks about
    the file. Raise CircuitizeError if the program cannot be found; if a user's own file fails, the error names the file
    and the line.
    """
    path, name = split_name(text)
    if path.suffix == ONNX:
        return _from_onnx(path, integer, choices, remark)
    if path.suffix == KERAS:
        from circuitize.frontends.combinational.hgq import from_hgq

        return from_hgq(path)
    if name is not None:
        return program_in(path, name)
    if path.suffix == ".py":
        found = names_in(run_file(path))
        raise CircuitizeError(f"{text}: expected file.py:name, found no name; name one of {found}")
    return _saved(path, integer)


def exact_named(text: str, *, integer: bool = False, remark: Callable[[str], object] = print) -> Exact:
    """Return the program that a text names, with the integer program to which it is quantized. Raise CircuitizeError if
    the program cannot be found or cannot be quantized.
    """
    return exact(program_named(text, integer=integer, remark=remark), Phases())


def split_name(text: str) -> tuple[Path, str | None]:
    """Return the path of the file that a text names, and, for a Python file, the name of the program in it."""
    path, _, name = text.rpartition(":")
    return (Path(path), name) if path.endswith(".py") else (Path(text), None)


def _saved(path: Path, integer: bool) -> Program:
    try:
        with path.open("rb") as file:
            start = file.read(max(map(len, (MAGIC, *LOGIC))))
    except OSError as error:
        raise CircuitizeError(f"{path}: expected {FORMS}, found {error.strerror or error}; check the path") from None
    if start.startswith(LOGIC):
        from circuitize.frontends.combinational.files import from_logic

        return from_logic(path)
    if start[:1] == b"{":
        found = load_open_hypergraph(path, integer=integer)
        if isinstance(found, Arrow):
            raise bare(str(path))
        return found
    if not start.startswith(MAGIC):
        raise CircuitizeError(
            f"{path}: expected {FORMS}, found a file that begins with {start!r}; see circuitize compile --help"
        )
    return load(path, integer=integer)


def _from_onnx(path: Path, integer: bool, choices: Choices | None, remark: Callable[[str], object]) -> Program:
    if integer:
        raise CircuitizeError(
            f"{path}: expected the saved program that the proof is of, found an ONNX file, whose formats depend on "
            "what it was calibrated on; give program.arrow, which setup and compile write, or that of --save-program"
        )
    from .networks import Choices, program_of

    try:
        return program_of(path, choices or Choices(), remark)
    except CircuitizeError as error:
        told = str(error)
        raise restated(error, told if str(path) in told or told.startswith("--") else f"{path}: {told}") from None
