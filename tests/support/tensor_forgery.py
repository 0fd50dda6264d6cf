"""Cheating provers of tensor proofs: runs in which one wire, or one column, is not what the program says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tensor_proofs import entering, refusals

from circuitize.backends.tensor.forms import PRIME, Column, Trace
from circuitize.circuits.hypergraph import fold
from circuitize.circuits.integers import Check
from circuitize.circuits.operation import Operation
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor.plan import Plan
from circuitize.provers.tensor.prover import Hook, Proved, prove_values

Integers = NDArray[np.int64]
Change = Callable[[Integers], Integers]


def signed(number: int) -> int:
    """The representative of a field element that an int64 holds."""
    number %= PRIME
    return number - PRIME if number > PRIME // 2 else number


def forged_trace(made: Plan, inputs: Mapping[str, Integers], wire: int, change: Change) -> Trace:
    """The run that goes on from a changed wire; Checks let everything pass, as a cheating prover does."""
    values = [np.asarray(inputs[name], np.int64) for name in made.inputs]
    rows = made.arrow.rows

    def run(index: int, operation: Operation, sources: list[Integers]) -> Sequence[Any]:
        found = sources if isinstance(operation, Check) else operation.run(*sources)
        return [change(found[0])] if rows[index][2][0] == wire else found

    return [value for value in fold(made.arrow, values, run, keep=True) if value is not None]


def forgery(
    program: IntegerProgram, made: Plan, trace: Trace, values: Sequence[Integers], hook: Hook | None = None
) -> Proved:
    """The proof that a cheating prover makes."""
    return prove_values(program, made, trace, values, hook=hook)


def answer(program: IntegerProgram, made: Plan, trace: Trace, values: Sequence[Integers] | None = None) -> str | None:
    """What both verifiers say to it, where they know of all roots that what is behind them is in format."""
    found = forgery(program, made, trace, made.values(trace) if values is None else values)
    return refusals(program, found.statement, found.proof, made, trusted=entering(found.statement))[0]


def at_first(amount: int) -> Change:
    """Add a number to the first element."""

    def change(values: Integers) -> Integers:
        made = np.array(values)
        made.reshape(-1)[0] = signed(int(made.reshape(-1)[0]) + amount)
        return made

    return change


def to(value: Integers) -> Change:
    """Put this value in the other's place."""
    return lambda _: value


def column(made: Plan, name: str) -> int:
    """The base of the column whose name holds this text."""
    found = [i for i, base in enumerate(made.bases) if isinstance(base, Column) and name in base.name]
    assert found, f"no column named {name} among {[b.name for b in made.bases if isinstance(b, Column)]}"
    return found[0]


def without_lookup(made: Plan, index: int) -> Plan:
    """The plan that a defence was taken out of."""
    return replace(made, lookups=made.lookups[:index] + made.lookups[index + 1 :])
