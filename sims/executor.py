"""An arrow prepared to run many times: constants are computed once, and each run needs no further bookkeeping."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers.language import Elementwise
from circuitize.circuits.operation import Operation, Values
from circuitize.circuits.port import Port
from circuitize.circuits.program import Program
from circuitize.circuits.types import Fixed
from circuitize.circuits.undefined import explained
from circuitize.circuits.values import Given

from .device import CPU, Device

Instruction = tuple[Callable[..., Sequence[Values]], list[int], list[int], list[int], int]
"""An instruction of a prepared arrow: the operation to run, its sources and targets, the wires that are freed after it,
and its edge.
"""


class Executor:
    """An executor that runs an arrow on a device. An executor puts constants on its device when the executor is made; a
    value is freed after its last reader.

    If a value's last reader is elementwise, the reader's result takes the memory of the freed value: `_plan` writes
    every value anew, `_frugal` does not.
    """

    def __init__(self, arrow: Arrow, device: Device = CPU, names: Sequence[str] = ()) -> None:
        """The argument `names` lists the names of the inputs, for messages."""
        self.arrow = arrow
        self.names = names
        self.device = device
        self.constants: list[Values | None] = [None] * arrow.wire_count
        outputs = set(arrow.outputs.tolist())
        last: dict[int, int] = {wire: index for index, row in enumerate(arrow.rows) for wire in row[1]}
        self._plan: list[Instruction] = []
        self._frugal: list[Instruction] = []
        readers = arrow.readers().tolist()
        new: set[int] = set()
        for index, (operation, sources, targets, _) in enumerate(arrow.rows):
            run: Callable[..., Sequence[Values]] = arrow.operations[operation].run
            if not sources:
                for wire, value in zip(targets, run(), strict=True):
                    self.constants[wire] = device.put(value)
                continue
            spent = [wire for wire in set(sources) if last[wire] == index and wire not in outputs]
            self._plan.append((run, sources, targets, spent, index))
            place = next((k for k, wire in enumerate(sources) if wire in new and wire in spent), None)
            if isinstance(arrow.operations[operation], Elementwise) and place is not None:
                run = _overwriting(arrow.operations[operation], place)
            self._frugal.append((run, sources, targets, spent, index))
            if arrow.operations[operation].makes_new:
                new |= {wire for wire in targets if readers[wire] == 1}
        self._inputs: list[int] = arrow.inputs.tolist()
        self._outputs: list[int] = arrow.outputs.tolist()

    def outputs(self, inputs: Sequence[Values]) -> list[Values]:
        """Return the values of an arrow's outputs, computed on the device from inputs on the device. Raise the errors
        of the arrow's operations, with the place of the failing edge.
        """
        wires = self._run(inputs, keep=False)
        return [self.device.put(value) for wire in self._outputs if (value := wires[wire]) is not None]

    def wires(self, inputs: Sequence[Values]) -> list[Values]:
        """Return the value of every wire of an arrow, computed on the device from inputs on the device."""
        return [self.device.put(value) for value in self._run(inputs, keep=True) if value is not None]

    def _run(self, inputs: Sequence[Values], keep: bool) -> list[Values | None]:
        values = self.constants.copy()
        for wire, value in zip(self._inputs, inputs, strict=True):
            values[wire] = value
        instruction: Instruction | None = None
        try:
            for instruction in self._plan if keep else self._frugal:
                run, sources, targets, spent, _ = instruction
                if len(targets) == 1:
                    (values[targets[0]],) = run(*[values[wire] for wire in sources])
                else:
                    for wire, value in zip(targets, run(*[values[wire] for wire in sources]), strict=True):
                        values[wire] = value
                if not keep:
                    for wire in spent:
                        values[wire] = None
        except CircuitizeError as error:
            assert instruction is not None
            if isinstance(error, Undefined):
                raise explained(error, self.arrow, instruction[-1], self.names) from None
            edge = self.arrow.edge(instruction[-1])
            message = str(error)
            if not message.startswith(edge.operation.name):
                message = f"{edge.operation.name}: {message}"
            raise error.__class__(f"{message}, in {edge.provenance}") from None
        return values


def _overwriting(operation: Operation, place: int) -> Callable[..., Sequence[Values]]:
    assert isinstance(operation, Elementwise)
    return lambda *values: (operation.overwrite(place, *values),)


def in_order(program: Program, inputs: Mapping[str, Given]) -> list[tuple[Port[Fixed], Given]]:
    """Return a run's inputs in the order of the ports; raise CircuitizeError if an input is missing, or if a name is
    neither an input nor an answer.

    An answer in an example has the name of an output: it is the right output according to the data. Executors do not
    read the answers in an example.
    """
    names = [port.name for port in program.inputs]
    missing = [name for name in names if name not in inputs]
    if missing:
        raise CircuitizeError(f"expected a value for input {missing[0]!r}, found {sorted(inputs)}; add it")
    unknown = sorted(set(inputs) - set(names) - {port.name for port in program.outputs})
    if unknown:
        raise CircuitizeError(f"expected inputs among {names}, found {unknown[0]!r}; remove it or rename it")
    return [(port, inputs[port.name]) for port in program.inputs]


def steps(
    program: Program,
    run: Callable[[Sequence[Values]], list[Values]],
    prepare: Callable[[Port[Fixed], Given], Values],
    initial: Mapping[str, Given],
    batches: Iterable[Mapping[str, Given]],
) -> Iterator[dict[str, Values]]:
    """Run a step once per batch, feeding each output back into the input of the same name; yield each step's
    outputs.
    """
    carried = {port.name for port in program.outputs} & {port.name for port in program.inputs}
    ports = {port.name: port for port in program.inputs}
    expect_names(carried, initial, "the initial values")
    held = {name: prepare(ports[name], initial[name]) for name in carried}
    fresh = [port for port in program.inputs if port.name not in carried]
    names = [port.name for port in program.outputs]
    for batch in batches:
        for port in fresh:
            if port.name not in batch:
                raise CircuitizeError(f"expected a value for input {port.name!r}, found {sorted(batch)}; add it")
            held[port.name] = prepare(port, batch[port.name])
        made = dict(zip(names, run([held[port.name] for port in program.inputs]), strict=True))
        held.update((name, made[name]) for name in carried)
        yield made


def expect_names(names: set[str], given: Mapping[str, Given], where: str) -> None:
    """Raise CircuitizeError, with the first missing name, unless all inputs are given; `where` says in the
    message what the inputs belong to.
    """
    missing = sorted(names - set(given))
    if missing:
        raise CircuitizeError(f"expected {missing[0]!r} among {where}, found {sorted(given)}; add it")
