"""Random steps that hand values on in every way that a scan knows, and plans as predicates on the values of bases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tensor_assignments import Values, value_of

from circuitize.backends.tensor.forms import PRIME, Column, Product
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers import Check, View
from circuitize.circuits.operation import Operation
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.scan import Scan
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan

Integers = NDArray[np.int64]
Random = np.random.Generator

HELD = Fixed((2,), 0, -8, 7)
ROLES = {"a": Role.PARAMETER, "b": Role.STATE, "c": Role.OPTIMIZER}
GROUPS = ("parameters", "state", "optimizer")
TABLE = np.arange(16)[::-1] - 8
MOST = 1 << 12
"""Wires stay below this magnitude, so that tables are small."""


class Drawn:
    """A step in the making: wires of two elements, and what is done with them."""

    def __init__(self, random: Random) -> None:
        self.random, self.builder = random, Builder()
        self.wires: list[int] = []

    def pick(self) -> int:
        """Any wire, the last ones more often."""
        return self.wires[-1 - int(min(self.random.geometric(0.25), len(self.wires)) - 1)]

    def type(self, wire: int) -> Fixed:
        return self.builder.format(wire)

    def add(self, operation: integers.IntegerOperation, *wires: int) -> int:
        """The wire of an operation, without fraction bits, as all are."""
        if isinstance(operation, integers.Shift):
            return self.builder.add(operation, self.builder.add(integers.Scale(1, operation.bits), *wires))
        made = self.builder.add(operation, *wires)
        bits = self.type(made).fraction_bits
        return self.builder.add(integers.Scale(1, -bits), made) if bits else made

    def small(self, wire: int) -> int:
        """A wire of the format of what is held: by shifts and Checks, one that alone reads or one that does not."""
        own = self.type(wire)
        if own == HELD:
            return wire
        bits = max(0, max(own.high, -own.low).bit_length() - 3)
        kind = self.random.integers(4)
        if kind == 0:
            return self.add(Check(-8, 7), wire)
        if kind == 1:
            return self.add(Check(-8, 7), self.add(integers.Shift(max(1, bits - 1)), wire))
        if kind == 2:
            return self.add(Check(-8, 7), self.add(Check(-20, 20), wire))
        return self.add(Check(-8, 7), self.add(integers.Clamp(-8, 7), wire))

    def positive(self, wire: int) -> int:
        """A number from 1 to 8."""
        one = self.splat(1)
        return self.add(Check(1, 8), self.add(integers.Add(), self.add(integers.ReLU(), self.small(wire)), one))

    def splat(self, number: int) -> int:
        return self.add(integers.Constant.splat(number, (2,)))

    def apply(self) -> int:
        """One more operation, on wires that are there."""
        x, y = self.pick(), self.pick()
        made: dict[str, Callable[[], int]] = {
            "add": lambda: self.add(integers.Add(), x, y),
            "subtract": lambda: self.add(integers.Subtract(), x, y),
            "scale": lambda: self.add(integers.Scale(int(self.random.choice([-2, 3])), 0), x),
            "multiply": lambda: self.add(integers.Multiply(), self.small(x), self.small(y)),
            "shift": lambda: self.add(integers.Shift(int(self.random.integers(1, 3))), x),
            "relu": lambda: self.add(integers.ReLU(), x),
            "step": lambda: self.add(
                integers.IsNegative(),
                self.add(integers.Subtract(), self.splat(0), self.add(integers.ReLU(), x)),
            ),
            "select": lambda: self.add(
                integers.Select(), self.add(integers.IsNegative(), x), self.small(x), self.small(y)
            ),
            "maximum": lambda: self.add(integers.Maximum(), x, y),
            "divide": lambda: self.add(integers.Divide(), x, self.positive(y)),
            "root": lambda: self.add(integers.SquareRoot(), self.positive(x)),
            "lookup": lambda: self.add(integers.Lookup(-8, TABLE, 0), self.small(x)),
            "flip": lambda: self.add(integers.Reindex(View.flip((2,), (0,))), x),
            "hot": lambda: self.add(integers.ArgMaxOneHot(0), self.small(x)),
            "dot": lambda: self.add(
                integers.Reindex(View.broadcast((2,), (0,))),
                self.add(integers.Contract("a,a->"), self.small(x), self.small(y)),
            ),
        }
        return made[str(self.random.choice(list(made)))]()


def drawn_step(seed: int) -> IntegerProgram:
    """One to three held values, which leave as themselves, as each other, by one wire, or computed; a loss."""
    random = np.random.default_rng(seed)
    own = Drawn(random)
    held = list(ROLES)[: int(random.integers(1, 4))]
    entering = own.builder.inputs([HELD] * (len(held) + 1))
    own.wires = list(entering)
    for _ in range(int(random.integers(1, 5))):
        made = own.apply()
        kind = own.type(made)
        own.wires.append(made if max(-kind.low, kind.high) < MOST else own.small(made))
    leaving: list[int] = []
    for wire in entering[:-1]:
        way = int(random.integers(8))
        if way == 0:
            leaving.append(wire)
        elif way == 1:
            leaving.append(int(random.choice(entering)))
        elif way == 2 and leaving:
            leaving.append(leaving[-1])
        elif way == 3:
            leaving.append(own.add(Check(-8, 7), own.add(Check(-7, 7), int(random.choice(entering)))))
        else:
            leaving.append(own.small(own.pick()))
    loss = own.pick()
    arrow = own.builder.build([*leaving, loss])
    ports = [Port(name, Visibility.COMMITTED, HELD, ROLES[name]) for name in held]
    x = Port("x", list(Visibility)[int(random.integers(3))], HELD, Role.DATA)
    return IntegerProgram(arrow, (*ports, x), (*ports, Port("loss", Visibility.PUBLIC, own.type(loss))))


def reading_a_dataset() -> IntegerProgram:
    """w becomes a quarter of w and what is positive of a batch, whose axes are regrouped across each other, twice."""
    batch, held = Fixed((2, 3, 2), 0, -8, 7), Fixed((3, 2), 0, -8, 7)
    builder = Builder()
    w, x = builder.inputs([held, batch])
    crossed = builder.add(integers.Reindex(View.reshape((2, 3, 2), (2, 2, 3))), x)
    positive = builder.add(integers.ReLU(), crossed)
    back = builder.add(integers.Reindex(View.reshape((2, 2, 3), (2, 3, 2))), positive)
    summed = builder.add(integers.Sum(View.broadcast((2, 3, 2), (0,))), back)
    scaled = builder.add(integers.Scale(1, 2), builder.add(integers.Add(), w, summed))
    made = builder.add(Check(-8, 7), builder.add(integers.Shift(2), scaled))
    ports = [Port("w", Visibility.COMMITTED, held, Role.PARAMETER), Port("x", Visibility.COMMITTED, batch, Role.DATA)]
    return IntegerProgram(builder.build([made]), tuple(ports), (ports[0],))


@dataclass(frozen=True)
class Forgery:
    """One element of one wire of a plan's arrow is another number, in the slice of one time."""

    wire: int
    place: int
    amount: int


def forged_trace(
    scan: Scan, made: Plan, given: Mapping[str, Integers], forgery: Forgery | None
) -> list[Integers] | None:
    """Values of all wires, whatever Checks say, of steps that each begin with what the one before leaves.

    None where an operation has no value even then.
    """
    wires = dict(zip(made.outputs, made.arrow.outputs.tolist(), strict=True))
    entering = {one: np.stack([given[one.first]] * scan.count) for one in scan.trajectories}
    for _ in range(scan.count + 1):
        inputs = {**given, **{one.entering: values for one, values in entering.items()}}
        try:
            trace = _followed(made.arrow, [np.asarray(inputs[name], np.int64) for name in made.inputs], forgery)
        except (CircuitizeError, IndexError, ZeroDivisionError):
            return None
        entering = {
            one: np.concatenate([given[one.first][np.newaxis], trace[wires[one.leaving]][:-1]])
            for one in scan.trajectories
        }
    return trace


def _followed(arrow: Arrow, inputs: Sequence[Integers], forgery: Forgery | None) -> list[Integers]:
    rows = arrow.rows

    def value(index: int, operation: Operation, sources: list[Any]) -> Sequence[Any]:
        found = sources if isinstance(operation, Check) else operation.run(*sources)
        if forgery is not None and rows[index][2][0] == forgery.wire:
            other = np.array(found[0])
            other.reshape(-1)[forgery.place % other.size] += forgery.amount
            return [other]
        return found

    return [wire for wire in fold(arrow, inputs, value, keep=True) if wire is not None]


def given_to(scan: Scan, random: Random) -> dict[str, Integers]:
    """Values in format of what is held at first, and of what each step is given."""
    return {
        port.name: random.integers(-8, 8, port.format.shape if port.held else (scan.count, *port.format.shape))
        for port in scan.step.inputs
        if port.format is not None
    }


def honest_inputs(scan: Scan, given: Mapping[str, Integers]) -> dict[str, Integers] | None:
    """All inputs of the program; None where a step has no value."""
    try:
        return scan.inputs(given)
    except Undefined:
        return None


class Bench:
    """A plan as a predicate on the values of its bases, by its definition alone."""

    def __init__(self, made: Plan) -> None:
        self.made = made
        counts = {base for table in made.tables for base, _ in made.forms[table.column].terms}
        self.columns = [i for i, base in enumerate(made.bases) if isinstance(base, Column) and i not in counts]
        names = {f"input {name}" for name in made.inputs}
        self.own = [i for i in self.columns if getattr(made.bases[i], "name", "") not in names]

    def fault(self, values: Sequence[Any]) -> str | None:
        """What does not hold of these values of the bases; products are computed."""
        found: dict[int, Values] = {}
        for number, base in enumerate(self.made.bases):
            if isinstance(base, Product):
                x, y = (value_of(self.made.forms[form], found) for form in base.forms)
                found[number] = np.einsum(_letters(base.letters), x, y) % PRIME
            else:
                found[number] = np.asarray(values[number]).astype(object)
        for lookup in self.made.lookups:
            table = self.made.tables[lookup.table]
            keys = value_of(self.made.forms[lookup.key], found).reshape(-1)
            if any(key >= table.size for key in keys):
                return f"lookup of {lookup.part}"
            if lookup.value is not None:
                own = value_of(self.made.forms[lookup.value], found).reshape(-1)
                if any(int(table.values[key]) % PRIME != value for key, value in zip(keys, own, strict=True)):
                    return f"value of {lookup.part}"
        for zero in self.made.zeros:
            if value_of(self.made.forms[zero], found).any():
                return "equation"
        return None


def _letters(letters: tuple[str, str, str]) -> str:
    of_x, of_y, of_z = letters
    return f"{of_x},{of_y}->{of_z}"
