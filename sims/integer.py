"""The integer executor, which runs integer programs exactly: its results are the specification with which every target
is compared, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.equality import Itself
from circuitize.circuits.operation import Values
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram, require_integers
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Given, Raw, raw, to_integers

from .device import CPU, Device
from .executor import in_order, steps
from .prepared import Prepared, prepared
from .xla.device import Xla
from .xla.formats import require_same_formats

Integers = NDArray[np.int64]


@lru_cache(maxsize=16)
def _prepared(held: Itself, device: Device, names: tuple[str, ...]) -> Prepared:
    return prepared(held.arrow, device, names)


def executor(program: IntegerProgram, device: Device = CPU) -> Prepared:
    """Return an integer program prepared for a device, cached for the programs used last. Raise CircuitizeError for a
    real program.
    """
    require_integers(program)
    return _prepared(Itself(program.arrow), device, tuple(port.name for port in program.inputs))


def run(program: IntegerProgram, inputs: Mapping[str, Given], device: Device = CPU) -> dict[str, Integers]:
    """Return the outputs of an integer program by name, as integers in the outputs' formats, in numpy arrays; the
    integers are the same on every device.

    Inputs are real values, whatever their dtype, rounded once, half to even; outputs of one run that are inputs of
    another are marked as integers by `Raw(array)` or `raw(outputs)`. Raise CircuitizeError for an input that is
    missing, misshapen or outside its format, and Undefined, naming operation, source line, element and remedy, if the
    program has no value.
    """
    made = executor(program, device).outputs([device.put(value) for value in _integers(program, inputs)])
    return _named(program, [device.take(value) for value in made])


def trace(program: IntegerProgram, inputs: Mapping[str, Integers | Raw], device: Device = CPU) -> list[Integers]:
    """Return the value of every wire, in the order of the arrow's wires, from which witnesses are made.

    The inputs of `trace` are integers of their formats, as `to_integers` makes them; real values are refused. Raise the
    errors that `run` raises.
    """
    made = executor(program, device).wires([device.put(value) for value in _integers(program, raw(inputs))])
    return [device.take(value) for value in made]


def train(
    step: IntegerProgram, initial: Mapping[str, Given], batches: Iterable[Mapping[str, Given]], device: Device = CPU
) -> Iterator[dict[str, Integers]]:
    """Run a step once per batch, feeding outputs back into the inputs of the same names; yield each step's outputs.

    The argument `initial` holds the parameters and state to start from, and each batch holds the remaining inputs, both
    in the form that `run` takes; the errors are those of `run`. Carried values stay on the device, and so do the
    yielded outputs: `device.take` gives numpy arrays. `Stretches` of `sims.xla` runs many steps in one call.
    """
    if isinstance(device, Xla):
        require_same_formats(step)
    return steps(
        step, executor(step, device).outputs, lambda port, value: device.put(_integer(port, value)), initial, batches
    )


def rounded(program: IntegerProgram, inputs: Mapping[str, Given]) -> dict[str, Integers]:
    """Return the integers of given input values, by input name, which `trace` and the provers take.

    The conversion of input values to integers takes the same inputs as `run` and raises the same errors.
    """
    return {port.name: _integer(port, value) for port, value in in_order(program, inputs)}


def _integer(port: Port[Fixed], values: Given) -> Integers:
    return to_integers(port, values, "inputs")


def _integers(program: IntegerProgram, inputs: Mapping[str, Given]) -> list[Integers]:
    return [_integer(port, value) for port, value in in_order(program, inputs)]


def _named(program: IntegerProgram, values: list[Values]) -> dict[str, Integers]:
    return dict(zip([port.name for port in program.outputs], values, strict=True))
