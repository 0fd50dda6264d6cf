"""The real executor, which runs real programs in float64: the meaning of a program before it is quantized."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.arrays.composite import expand_composites
from circuitize.circuits.equality import Itself
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Values
from circuitize.circuits.port import Port, Role
from circuitize.circuits.program import Program
from circuitize.circuits.shapes import remedy
from circuitize.circuits.simplify import simplify
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Given, Raw, numbers, to_reals

from .device import CPU, Device
from .executor import in_order, steps
from .prepared import Prepared, prepared

Reals = NDArray[np.float64]


def executor(arrow: Arrow, device: Device = CPU) -> Prepared:
    """Return a real arrow, simplified and prepared for a device, cached for the arrows used last."""
    return _prepared(Itself(arrow), device)


@lru_cache(maxsize=16)
def _prepared(held: Itself, device: Device) -> Prepared:
    return prepared(simplified(held.arrow), device)


def simplified(arrow: Arrow) -> Arrow:
    """Return the arrow that the real executor runs: composites are expanded, and repeated or constant operations are
    computed once.
    """
    return simplify(expand_composites(arrow))


def run(program: Program, inputs: Mapping[str, Given], device: Device = CPU) -> dict[str, Reals]:
    """Return the outputs of a real program by name, as numpy arrays; devices may differ in the last bits of sums and of
    elementary functions.

    Raise CircuitizeError, naming the input, for a missing name, a wrong shape, NaN or infinity.
    """
    values = [device.put(to_floats(port, value)) for port, value in in_order(program, inputs)]
    made = executor(program.arrow, device).outputs(values)
    return _named(program, [device.take(value) for value in made])


def train(
    step: Program, initial: Mapping[str, Given], batches: Iterable[Mapping[str, Given]], device: Device = CPU
) -> Iterator[dict[str, Reals]]:
    """Run a step once per batch, feeding outputs back into the inputs of the same names; yield each step's outputs.

    The argument `initial` holds the parameters and state to start from, and each batch holds the remaining inputs. The
    values carried from step to step stay on the device, as do the yielded outputs: `device.take` gives numpy arrays.
    """
    return steps(
        step,
        executor(step.arrow, device).outputs,
        lambda port, value: device.put(to_floats(port, value)),
        initial,
        batches,
    )


def record(
    step: Program, initial: Mapping[str, Given], batches: Iterable[Mapping[str, Given]], count: int
) -> tuple[dict[str, Any], ...]:
    """Return the complete inputs of `count` steps spread evenly over a training run, both ends included, for
    calibration.
    """
    batches = list(batches)
    chosen = set(np.linspace(0, len(batches) - 1, count).astype(int).tolist())
    held = dict(initial)
    examples = []
    for number, outputs in enumerate(train(step, initial, batches)):
        if number in chosen:
            examples.append({**held, **batches[number]})
        held = {name: outputs[name] for name in initial}
    return tuple(examples)


def to_floats(port: Port[Fixed], values: Given) -> Reals:
    """Return real values of a port's shape, not rounded to its format."""
    array = numbers(port, values)
    if isinstance(values, Raw):
        array = to_reals(port.format, values.array)
    if array.shape != port.format.shape:
        raise CircuitizeError(
            f"expected input {port.name!r} of shape {list(port.format.shape)}, found {list(array.shape)}; "
            f"{remedy(port.format.shape, array.shape, port.role is Role.DATA)}"
        )
    if not np.isfinite(array).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise CircuitizeError(
            f"expected finite numbers in input {port.name!r}, found {array[at]} at element {list(at)}; clean the data"
        )
    return array.astype(np.float64)


def _named(program: Program, values: list[Values]) -> dict[str, Reals]:
    return dict(zip([port.name for port in program.outputs], values, strict=True))
