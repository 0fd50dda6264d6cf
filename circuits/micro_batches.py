"""A program in rounds: each round takes a few examples of a batch, and the last round has the result of the whole
batch.

A batch that is cut into micro-batches needs memory for the values of a few examples alone; what the program adds up
over the batch is kept from round to round. This is known as gradient accumulation.
"""

from __future__ import annotations

from dataclasses import dataclass

from .batch_forms import Form, Forms
from .builder import Builder
from .errors import CircuitizeError, OverflowRisk, restated
from .hypergraph import Arrow
from .integers import (
    PARTIAL,
    Add,
    ArgMax,
    ArgMaxOneHot,
    Check,
    Constant,
    Contract,
    Reindex,
    Select,
    Sum,
    View,
    expand,
    operation_classes,
)
from .integers.blocks import block, first_block
from .operation import Operation
from .port import Port, Role, Visibility
from .program import IntegerProgram
from .simplify import simplify
from .types import Fixed

LATER, LAST = 0, 1
"""The places of an input that says which round it is: 1 in all rounds but the first, then 1 in the last round."""


@dataclass(frozen=True)
class Rounds:
    """A program that is run in `count` rounds, and its `program` of one round.

    The program of a round has the ports of the whole program, and more: the input `teller`, if it is not empty, which
    says at the places LATER and LAST which round it is, and what `kept` names: inputs with an output of the same name,
    which is their value in the next round, and of which the first round uses nothing. Each round has one block of the
    first axis of the inputs and outputs that `cut_inputs` and `cut_outputs` name. Of the other outputs the last round
    alone has the right value; a held input that has an output changes in the last round alone. Any other input is used
    in the first round alone. The whole program has no value where a round has none, and there alone.

    If rounds are steady, whoever runs them gives inputs that are not cut in all rounds, and takes what follows on held
    inputs from the last round alone: in earlier rounds it is any value of the input's interval.
    """

    program: IntegerProgram
    count: int
    teller: str
    cut_inputs: frozenset[str]
    cut_outputs: frozenset[str]
    kept: tuple[str, ...]


def batch_of(program: IntegerProgram) -> int | None:
    """Return the number of examples in a program's batch, the first axis of the first input that brings data, or None
    if no such input has axes.
    """
    return next((p.format.shape[0] for p in program.inputs if p.role is Role.DATA and p.format.shape), None)


def in_rounds(program: IntegerProgram, examples: int, steady: bool = False) -> Rounds:
    """Return a program in rounds of so many examples of its batch, which may be `steady`.

    The inputs of data that have the batch as their first axis are cut, or, if their examples would meet, the first of
    them alone: the rows of a product of two matrices. Raise CircuitizeError if the batch is no multiple of `examples`,
    or if examples depend on each other before a sum over the batch, as those of a batch normalization do, and
    OverflowRisk for a sum over the batch that may reach half of the greatest integers that there are.
    """
    batch = batch_of(program)
    if batch is None:
        raise CircuitizeError("--micro-batch: expected an input whose first axis is a batch, found none; leave it out")
    if not 1 <= examples <= batch or batch % examples:
        raise CircuitizeError(
            f"--micro-batch: expected a divisor of the batch of {batch} examples, found {examples}; give one"
        )
    if examples == batch:
        return Rounds(program, 1, "", frozenset(), frozenset(), ())
    pointwise: set[type[Operation]] = {kind for kind in operation_classes() if kind.pointwise}
    arrow = simplify(expand(simplify(program.arrow, PARTIAL), pointwise | {Contract, ArgMax, ArgMaxOneHot}), PARTIAL)
    cut = [
        number
        for number, port in enumerate(program.inputs)
        if port.role is Role.DATA and port.format.shape and port.format.shape[0] == batch
    ]
    forms = Forms(arrow, set(cut), batch // examples)
    if (edge := forms.lacking()) is not None and len(cut) > 1:
        one = Forms(arrow, set(cut[:1]), batch // examples)
        if one.lacking() is None:
            forms, cut, edge = one, cut[:1], None
    if edge is not None:
        raise CircuitizeError(
            "--micro-batch: expected examples that meet only in sums over the batch, found "
            f"{edge.operation.name} of several ({edge.provenance}); leave it out"
        )
    held = {port.name for port in program.inputs if port.held}
    across = forms.across({number for number, port in enumerate(program.outputs) if port.name in held})
    if across is not None:
        raise CircuitizeError(
            "--micro-batch: expected outputs of the whole batch, or of each example along their first axis, and state "
            f"of the whole batch, found {program.outputs[across].name!r}; leave it out"
        )
    try:
        return _Writer(program, arrow, forms, set(cut), steady).rounds()
    except OverflowRisk as error:
        raise restated(error, f"--micro-batch: a sum is kept from round to round: {error}") from None


class _Writer:
    """The program of a round, as it is written from the forms of the wires of the whole program."""

    def __init__(self, whole: IntegerProgram, arrow: Arrow, forms: Forms, cut: set[int], steady: bool) -> None:
        self.whole, self.arrow, self.forms, self.cut, self.count = whole, arrow, forms, cut, forms.count
        self.steady = steady
        self.builder = Builder(share=True)
        self.made: dict[tuple[int, Form], int] = {}
        self.inputs: list[Port[Fixed]] = []
        self.kept: dict[str, int] = {}
        self.told: int | None = None
        self.teller = ""
        self.names = {port.name for port in (*whole.inputs, *whole.outputs)}

    def rounds(self) -> Rounds:
        """Return the program in rounds."""
        needed = self.forms.needed()
        states = self._enter()
        for index, sources, (target,), provenance in self.arrow.rows:
            self.builder.provenance = self.arrow.provenances[provenance]
            for form in sorted(needed[target], key=lambda one: -1 if one is None else one):
                self.made[target, form] = self._edge(self.arrow.operations[index], sources, target, form)
        outputs: list[Port[Fixed]] = []
        wires: list[int] = []
        cut: set[str] = set()
        for port, wire in zip(self.whole.outputs, self.arrow.outputs.tolist(), strict=True):
            form = None if None in self.forms.of[wire] else 0
            cut |= {port.name} if form == 0 else set()
            made = self.made[wire, form]
            wires.append(self._following(made, states[port.name]) if port.name in states else made)
            outputs.append(port.of(self.builder.format(wires[-1])))
        kept = [port for port in self.inputs if port.name in self.kept]
        program = IntegerProgram(
            self.builder.build([*wires, *(self.kept[port.name] for port in kept)]),
            tuple(self.inputs),
            (*outputs, *kept),
            precision=self.whole.precision,
        )
        names = frozenset(self.whole.inputs[number].name for number in self.cut)
        return Rounds(program, self.count, self.teller, names, frozenset(cut), tuple(port.name for port in kept))

    def _following(self, made: int, state: int) -> int:
        """Return the wire of what follows on state: the state itself in all rounds but the last, or anything of its
        interval if whoever runs the rounds takes what follows from the last one alone.
        """
        new, old = self.builder.format(made), self.builder.format(state)
        if self.steady and old.low <= new.low <= new.high <= old.high:
            return made
        return self._where(LAST, made, state)

    def _enter(self) -> dict[str, int]:
        """Write the inputs, and return the wires of those that are state. Other inputs that are not cut are kept,
        unless rounds are steady.
        """
        updated = {port.name for port in self.whole.outputs}
        states: dict[str, int] = {}
        for number, (port, wire) in enumerate(zip(self.whole.inputs, self.arrow.inputs.tolist(), strict=True)):
            shape = first_block(port.format.shape, 0, self.count) if number in self.cut else port.format.shape
            made = self._input(port.of(port.format.with_shape(shape)))
            self.made[wire, 0 if number in self.cut else None] = made
            if port.held and port.name in updated:
                states[port.name] = made
        for number, (port, wire) in enumerate(zip(self.whole.inputs, self.arrow.inputs.tolist(), strict=True)):
            if number not in self.cut and port.name not in states and not self.steady:
                name, held = self._keep(f"{port.name} kept", port.format)
                self.made[wire, None] = self.kept[name] = self._where(LATER, held, self.made[wire, None])
        return states

    def _edge(self, operation: Operation, sources: list[int], target: int, form: Form) -> int:
        """Write an edge in one form, and return the wire of its target."""
        wanted, whole = self.forms.of[target][form], self.arrow.format(target)
        taken = [self.made[wire, want] for wire, want in zip(sources, wanted, strict=True)]
        if isinstance(operation, Check) and form is None and target in self.forms.summed:
            return self._checked(operation, taken[0])
        made = self.builder.add(_in_round(operation, form, wanted, self.count), *taken)
        if form is not None or not self.forms.adds_up(target):
            return made
        # A sum of some of the terms is no less than all negative terms together, and no more than all positive ones.
        sums = whole.with_interval(min(whole.low, 0), max(whole.high, 0))
        name, before = self._keep("total", sums)
        total = self.builder.add(Add(), self._where(LATER, before, self._splat(0, before)), made)
        self.kept[name] = self.builder.add(Check(sums.low, sums.high), total)
        return self._checked(Check(whole.low, whole.high), self.kept[name])

    def _checked(self, check: Check, wire: int) -> int:
        """Return a wire with its Check, which it cannot fail before the last round: until then it is another number."""
        format = self.builder.format(wire)
        if check.is_identity(format):
            return wire
        if not check.low <= format.low <= format.high <= check.high:
            wire = self._where(LAST, wire, self._splat(min(max(0, check.low), check.high), wire))
        return self.builder.add(check, wire)

    def _where(self, place: int, yes: int, no: int) -> int:
        """Return the wire `yes` in the rounds that the teller marks at a place, and `no` in the others."""
        if self.told is None:
            self.teller, flags = self._name("round"), Fixed((2,), 0, 0, 1)
            self.told = self._input(Port(self.teller, Visibility.PRIVATE, flags))
        shape = self.builder.format(yes).shape
        one = self.builder.add(Reindex(View.take((2,), place)), self.told)
        spread = self.builder.add(Reindex(View.broadcast(shape, tuple(range(len(shape))))), one)
        return self.builder.add(Select(), spread, yes, no)

    def _splat(self, amount: int, like: int) -> int:
        format = self.builder.format(like)
        return self.builder.add(Constant.splat(amount, format.shape, format.fraction_bits))

    def _keep(self, name: str, format: Fixed) -> tuple[str, int]:
        """Add an input whose value the round before leaves, and return its name and its wire."""
        name = self._name(name)
        wire = self._input(Port(name, Visibility.PRIVATE, format, Role.STATE))
        self.kept[name] = wire
        return name, wire

    def _input(self, port: Port[Fixed]) -> int:
        self.inputs.append(port)
        return self.builder.input(port.format)

    def _name(self, name: str) -> str:
        """Return a name that no port has: this one, or this one with a number."""
        free, number = name, 2
        while free in self.names:
            free, number = f"{name} {number}", number + 1
        self.names.add(free)
        return free


def _in_round(operation: Operation, form: Form, wanted: tuple[Form, ...], count: int) -> Operation:
    """Return the operation that an edge has in a round, if its target and its sources have the given forms."""
    if isinstance(operation, Constant) and form is not None:
        shape = first_block(operation.shape, form, count)
        if not operation.amounts.ndim:
            return Constant.splat(int(operation.amounts), shape, operation.fraction_bits)
        return Constant.of(operation.amounts[tuple(map(slice, shape))], operation.fraction_bits)
    if isinstance(operation, Reindex) and form is not None:
        made = block(operation.view, form, count)
        assert made is not None
        return Reindex(made[0])
    if isinstance(operation, Sum) and wanted[0] is not None:
        made = block(operation.view, wanted[0], count)
        assert made is not None
        return Sum(made[0])
    return operation
