"""Examples that calibration did not see, read from a file to measure errors."""

from __future__ import annotations

from pathlib import Path

from circuitize.api.values import arrays_in
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Values
from circuitize.circuits.program import Program


def read_held_out(path: Path | None, program: Program) -> list[dict[str, Values]]:
    """Return the examples in an .npz file: each array has one more axis than the input of its name, the first, with an
    entry for each example.

    An input that is missing from the file, for instance trained weights, takes its value in the program's first
    example. Return an empty list of examples if no path is given. Raise CircuitizeError for a file whose arrays do not
    fit the program's inputs.
    """
    if path is None:
        return []
    shapes = {port.name: port.format.shape for port in program.inputs}
    found = arrays_in(path, lambda name, shape: shapes.get(name) == shape[1:])
    for name, array in found.items():
        if name not in shapes or array.shape[1:] != shapes[name] or array.ndim == 0:
            wanted = ", ".join(f"{known} {['N', *shape]}" for known, shape in shapes.items())
            raise CircuitizeError(
                f"{path}: expected arrays of rows of inputs ({wanted}), found {name} {[*array.shape]}; correct it"
            )
    counts = {len(array) for array in found.values()}
    if len(counts) != 1 or counts == {0}:
        raise CircuitizeError(f"{path}: expected as many rows in every array, at least one, found {sorted(counts)}")
    first = program.examples[0] if program.examples else {}
    rest = {name: first[name] for name in shapes if name not in found and name in first}
    return [{**rest, **{name: array[row] for name, array in found.items()}} for row in range(counts.pop())]
