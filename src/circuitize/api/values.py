"""The input and output values of a program as files: real numbers, or, on request, integers of the ports' formats."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.archives import Wanted, read_npz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.circuits.operation import Values
from circuitize.circuits.phases import Progress, silent
from circuitize.circuits.port import Port, Role
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Given, Raw, to_integers, to_reals

Integers = NDArray[np.int64]
Inputs = Mapping[str, Given] | Sequence[Path] | None
EXACT = 1 << 53
"""The largest power of two up to which float64 holds every integer."""


NEED_NONE = "setup, verify, estimate, check, audit, and compile to r1cs or plonkish without --witness, need none"
"""The remedy if a program without examples, as saved programs are, is given to a command that runs it."""


def program_inputs(
    program: IntegerProgram, paths: Inputs = None, say: Progress = silent, raw: bool = False
) -> dict[str, Integers]:
    """Return a program's input integers by name: from given values, from .npz files, or from the program's first
    example.

    Real values of any dtype are rounded once to the format of their input, with a remark to `say`; with `raw`, the
    files hold integers of the formats. Raise CircuitizeError for a file that is not an .npz file, for a missing or an
    unknown name, and for values that do not fit.
    """
    where, given = given_values(program, paths, say, raw)
    return rounded(program.inputs, require_values(program.inputs, given, where), where, say)


def given_values(
    program: IntegerProgram, paths: Inputs = None, say: Progress = silent, raw: bool = False
) -> tuple[str, dict[str, Given]]:
    """Return a text that says where the input values come from, and the values by name: given values, values from .npz
    files, or those of the first example.

    An array whose name is that of an output but not of an input is skipped, with a remark to `say`, so that a file from
    `--outputs` can be used as inputs. Raise CircuitizeError for an array whose name is neither an input's nor an
    output's, and for an input that occurs in two files.
    """
    if not paths:
        if raw:
            raise CircuitizeError("--raw-inputs: expected --inputs FILE.npz with it, found none; give the file")
        if not program.examples:
            raise CircuitizeError(
                "expected inputs, found none and a program without examples; give --inputs FILE.npz with an array for "
                f"each input ({NEED_NONE})"
            )
        return "the first example", dict(program.examples[0])
    names, leaving = [port.name for port in program.inputs], {port.name for port in program.outputs}
    if isinstance(paths, Mapping):
        unknown = sorted(set(paths) - set(names))
        if unknown:
            raise CircuitizeError(f"expected inputs among {names}, found {unknown[0]!r}; remove or rename it")
        return "inputs", dict(paths)
    found: dict[str, tuple[Path, Given]] = {}
    unread: list[str] = []
    for path in paths:
        arrays = arrays_in(path, wanted(program.inputs))
        left = [name for name in arrays if name in leaving and name not in names]
        unread += [f"{path}: left out {', '.join(left)}, which the program gives and does not take"] if left else []
        for name in (name for name in arrays if name not in left):
            if name not in names:
                raise CircuitizeError(f"{path}: expected inputs among {names}, found {name!r}; remove or rename it")
            if name in found:
                raise CircuitizeError(f"{path}: found input {name!r}, which {found[name][0]} has; give it once")
            found[name] = (path, _marked(path, name, arrays[name]) if raw else arrays[name])
    for told in unread:
        say(told)
    return ", ".join(map(str, paths)), {name: array for name, (_, array) in found.items()}


def arrays_in(path: Path, wanted: Wanted) -> dict[str, Values]:
    """Return the arrays of an .npz file, or of a .safetensors file. Raise CircuitizeError for a file of another
    kind.
    """
    if path.suffix != ".safetensors":
        return read_npz(path, wanted)
    from circuitize.frontends.checkpoint import load_safetensors

    return dict(load_safetensors(path))


def _marked(path: Path, name: str, array: Values) -> Raw:
    if array.dtype.kind not in "iu":
        raise CircuitizeError(
            f"{path}: expected integers of its format for input {name!r} with --raw-inputs, found dtype {array.dtype}; "
            "leave out --raw-inputs for real values"
        )
    return Raw(array)


def completed(
    program: IntegerProgram,
    examples: Sequence[Mapping[str, NDArray[np.float64]]],
    paths: Inputs = None,
    say: Progress = silent,
    raw: bool = False,
) -> dict[str, Given]:
    """Return the result of `given_values` completed with values from the program's source: the held inputs of its first
    example, and the scalars that have the same value in all examples. A scalar that differs between steps, as with
    Adam, must be given.
    """
    first, *others = examples
    held = [port.name for port in program.inputs if port.held]
    alike = [
        port.name
        for port in program.inputs
        if port.role is Role.SCALAR and all(np.array_equal(first[port.name], each[port.name]) for each in others)
    ]
    _, found = given_values(program, paths, say, raw)
    return {**{name: first[name] for name in (*held, *alike)}, **found}


def require_values(ports: Sequence[Port[Fixed]], given: Mapping[str, Given], where: str) -> Mapping[str, Given]:
    """Return the values of the given inputs, after checking that none is missing. Raise CircuitizeError if one of the
    given inputs has no value.
    """
    missing = [port.name for port in ports if port.name not in given]
    if missing:
        raise CircuitizeError(
            f"{where}: expected a value for input {missing[0]!r}, found {sorted(given)}; add it, or give it by another "
            "--inputs FILE.npz"
        )
    return given


def wanted(ports: Sequence[Port[Fixed | None]]) -> Wanted:
    """Return a test whether an array in a file, by its name and shape, may be the value of one of the given ports."""
    shapes = {port.name: port.format.shape for port in ports if port.format is not None}
    return lambda name, shape: shapes.get(name) == shape


def rounded(
    ports: Sequence[Port[Fixed]], given: Mapping[str, Given], where: str, say: Progress = silent
) -> dict[str, Integers]:
    """Return the values of the given inputs as integers, by name; `say` receives a remark about real values that are
    rounded.
    """
    integers = {port.name: to_integers(port, given[port.name], where) for port in ports}
    changed = [
        port.name
        for port in ports
        if port.format is not None
        and not isinstance(given[port.name], Raw)
        and (to_reals(port.format, integers[port.name]) != given[port.name]).any()
    ]
    if changed:
        say(f"{where}: real values of {', '.join(changed)} were rounded, once, to their formats")
    return integers


def require_writable(ports: Sequence[Port[Fixed]], path: Path | None, raw: bool) -> None:
    """Raise CircuitizeError, before any work, unless the values of the given ports can be written exactly."""
    if path is None and raw:
        raise CircuitizeError("--raw-outputs: expected --outputs FILE.npz with it, found none; give the file")
    for port in ports if path is not None and not raw else ():
        format = port.format
        if format is None or (max(-format.low, format.high) <= EXACT and -900 <= format.fraction_bits <= 1000):
            continue
        raise CircuitizeError(
            f"{path}: expected outputs that float64 holds exactly, found {port.name!r} of {format.width} bits; add "
            "--raw-outputs, which writes integers of the formats, for --raw-inputs"
        )


def write_outputs(path: Path, ports: Sequence[Port[Fixed]], values: Mapping[str, Integers], raw: bool) -> None:
    """Write the values of the given ports to a file by name, exactly: as the real numbers that they represent, or as
    integers of their formats.
    """
    require_writable(ports, path, raw)
    formats = {port.name: port.format for port in ports}
    exact = {name: (value, format) for name, value in values.items() if (format := formats.get(name)) is not None}
    write_npz(path, {name: value if raw else to_reals(format, value) for name, (value, format) in exact.items()})


def write_npz(path: Path, arrays: Mapping[str, Values]) -> None:
    """Write arrays by name to a file that only its owner can read, and that appears complete or not at all; equal
    arrays give equal bytes.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), entry.getvalue())
    write_whole(path, [content.getbuffer()], private=True)
