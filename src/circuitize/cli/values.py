"""Values that enter and leave a program as .npz files: real numbers, or integers of an integer dtype."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import write_whole
from circuitize.circuits.program import Port, Program, to_integers, to_reals

from .output import remark

Integers = NDArray[np.int64]


def program_inputs(program: Program, path: Path | None, say: Callable[[str], None] = remark) -> dict[str, Integers]:
    """The integers that enter a program, by input name: out of an .npz file, or the program's first example.

    Real values are rounded once to their input's format, which `say` is told. Raises CircuitizeError for a
    file that is no .npz, for a missing or an unknown name, and for values that do not fit.
    """
    if path is not None:
        where, given = str(path), read_npz(path)
        names = [port.name for port in program.inputs]
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise CircuitizeError(f"{where}: expected inputs among {names}, found {unknown[0]!r}; remove or rename it")
    elif program.examples:
        where, given = "the first example", dict(program.examples[0])
    else:
        raise CircuitizeError("expected inputs, found none and a program without examples; give --inputs FILE.npz")
    missing = [port.name for port in program.inputs if port.name not in given]
    if missing:
        raise CircuitizeError(f"{where}: expected a value for input {missing[0]!r}, found {sorted(given)}; add it")
    return rounded(program.inputs, given, where, say)


def rounded(
    ports: Sequence[Port], given: Mapping[str, Any], where: str, say: Callable[[str], None] = remark
) -> dict[str, Integers]:
    """The values of these inputs as integers, by name; `say` is told which real values rounding changed."""
    integers = {port.name: to_integers(port, given[port.name], where) for port in ports}
    real = [port for port in ports if np.asarray(given[port.name]).dtype.kind == "f"]
    changed = [
        port.name
        for port in real
        if port.format is not None and (to_reals(port.format, integers[port.name]) != given[port.name]).any()
    ]
    if changed:
        say(f"{where}: real values of {', '.join(changed)} were rounded, once, to their formats")
    return integers


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file, by name. Never unpickles. Raises FormatError for anything else, or damaged."""
    try:
        with path.open("rb") as opened:
            # An archive is read from its end, which a pipe does not have before all of it is read.
            file: IO[bytes] = opened if opened.seekable() else io.BytesIO(opened.read())
            with zipfile.ZipFile(file) as archive:
                return {name.removesuffix(".npy"): _entry(archive, name) for name in archive.namelist()}
    except OSError as error:
        raise CircuitizeError(
            f"{path}: expected an .npz file, found {error.strerror or error}; check the path"
        ) from None
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, MemoryError):
        raise FormatError(
            f"{path}: expected an .npz of arrays of numbers by name, found another, a damaged or a pickled file; "
            "write it again with numpy.savez"
        ) from None


def _entry(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as entry:
        array: NDArray[Any] = np.lib.format.read_array(entry, allow_pickle=False)
        if entry.read(1):
            raise ValueError("bytes after the array")
        return array


def write_npz(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays by name, for their owner alone, whole or not at all; equal arrays give equal bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), entry.getvalue())
    write_whole(path, [content.getbuffer()], private=True)
