"""A reader of files of combinational logic, which recognises by their content whether da4ml or alkaid wrote them."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from circuitize.circuits.errors import FormatError
from circuitize.circuits.program import IntegerProgram

from . import alkaid, da4ml, dais
from .logic import Logic
from .programs import program

FORMS = "logic of da4ml or alkaid, as save of their CombLogic or Pipeline writes it"
GZIP = b"\x1f\x8b"
MOST = 1 << 30
"""The most bytes of a file's text."""


def from_logic(path: str | Path, batch: int = 1) -> IntegerProgram:
    """Return the integer program of a file of combinational logic: `inputs` [batch, n] -> `outputs` [batch, m].

    The file of combinational logic is what `save` of da4ml's CombLogic or Pipeline or of alkaid's CombLogic writes,
    compressed or not, or what `save_binary` of da4ml's CombLogic writes. A program from combinational logic has the
    same value, to the bit, as da4ml's and alkaid's own interpreters of that logic. Raise FormatError for a file of
    combinational logic that is of another kind or damaged, or whose instructions are malformed.
    """
    return program(read(Path(path)), batch)


def read(path: Path) -> Logic:
    """Read the combinational logic of a file. Raise FormatError, naming the file, if the file holds no combinational
    logic.
    """
    text = _text(path)
    if text.startswith(dais.START):
        with _structure(str(path)):
            return dais.from_binary(text, str(path))
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: expected {FORMS}, found no JSON ({error}); save the logic again") from None
    return parsed(data, str(path))


def parsed(data: object, where: str) -> Logic:
    """Return the combinational logic that parsed JSON describes. Raise FormatError if the JSON describes no
    combinational logic.
    """
    with _structure(where):
        if isinstance(data, list):
            return da4ml.from_json(data, where)
        if isinstance(data, dict) and data.get("meta") in alkaid.MODELS:
            return alkaid.from_json(data, where)
    raise FormatError(f"{where}: expected {FORMS}, found JSON of something else; save the logic by their save")


@contextmanager
def _structure(where: str) -> Iterator[None]:
    """Make a context that raises FormatError if the object being read is not built as the files of da4ml or alkaid
    are.
    """
    try:
        yield
    except (TypeError, ValueError, IndexError, KeyError, OverflowError, AttributeError) as error:
        told = f"another structure ({error})"
        raise FormatError(f"{where}: expected {FORMS}, found {told}; save the logic again") from None


def _text(path: Path) -> bytes:
    """Return the text in a file of combinational logic, decompressed."""
    try:
        with path.open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
        with gzip.open(path) if packed else path.open("rb") as file:
            text = file.read(MOST + 1)
    except (OSError, EOFError, zlib.error) as error:
        told = getattr(error, "strerror", None) or error
        raise FormatError(f"{path}: expected {FORMS}, found {told}; check the file") from None
    if len(text) > MOST:
        raise FormatError(f"{path}: expected at most {MOST} bytes of text, found more; split the network")
    return text
