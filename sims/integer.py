"""Runs integer programs exactly: the specification that every target is compared with, bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.program import Port, Program, to_integers

from .device import CPU, Device
from .executor import Executor, in_order, numbers, steps

Integers = NDArray[np.int64]


@lru_cache(maxsize=16)
def _prepared(arrow: Arrow, device: Device, names: tuple[str, ...]) -> Executor:
    return Executor(arrow, device, names)


def executor(program: Program, device: Device = CPU) -> Executor:
    """The program prepared for a device; kept for the programs used last. Raises CircuitizeError for a real program."""
    if not program.is_integer:
        raise CircuitizeError("expected an integer program, found a real one; quantize it first")
    return _prepared(program.arrow, device, tuple(port.name for port in program.inputs))


def run(program: Program, inputs: Mapping[str, Any], device: Device = CPU) -> dict[str, Integers]:
    """Outputs by name, integers in the outputs' formats, as numpy arrays; the same ones on every device.

    Inputs are integers, or real values that are rounded once, half to even. Raises CircuitizeError for an input that is
    missing, misshapen or outside its format, and Undefined, naming operation, source line, element and remedy, where
    the program has no value.
    """
    made = executor(program, device).outputs([device.put(value) for value in _integers(program, inputs)])
    return _named(program, [device.take(value) for value in made])


def trace(program: Program, inputs: Mapping[str, Any], device: Device = CPU) -> list[Integers]:
    """The value of every wire, in the order of the arrow's wires: what a witness is made of. Raises as `run` does."""
    made = executor(program, device).wires([device.put(value) for value in _integers(program, inputs)])
    return [device.take(value) for value in made]


def train(
    step: Program, initial: Mapping[str, Any], batches: Iterable[Mapping[str, Any]], device: Device = CPU
) -> Iterator[dict[str, Integers]]:
    """Run a step once per batch, outputs fed back into the inputs of their names; yields each step's outputs.

    `initial` holds the parameters and state to start from, each batch the remaining inputs; raises as `run` does. What
    is carried stays on the device, and what is yielded is there: `device.take` gives numpy arrays.
    """
    return steps(
        step, executor(step, device).outputs, lambda port, value: device.put(_integer(port, value)), initial, batches
    )


def _integer(port: Port, values: Any) -> Integers:
    return to_integers(port, numbers(port, values), "inputs")


def _integers(program: Program, inputs: Mapping[str, Any]) -> list[Integers]:
    return [_integer(port, value) for port, value in in_order(program, inputs)]


def _named(program: Program, values: list[Any]) -> dict[str, Integers]:
    return dict(zip([port.name for port in program.outputs], values, strict=True))
