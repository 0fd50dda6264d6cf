"""Binding: replaces inputs of an integer program by constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .builder import Builder
from .errors import CircuitizeError
from .hypergraph import fold
from .integers import PARTIAL, Constant
from .operation import Operation
from .program import IntegerProgram
from .simplify import simplify
from .types import fixed
from .values import Given, to_integers


def bind(program: IntegerProgram, values: Mapping[str, Given]) -> IntegerProgram:
    """Return the integer program with the named inputs replaced by constants; values are given as `to_integers` takes
    them.

    Every interval in the program is derived anew: intervals and output formats that depend on a bound input become as
    tight as the input's least and greatest value allow. The bound inputs are removed from the program's examples. Raise
    CircuitizeError for a name that is no input of the program and for a value that does not fit its format.
    """
    for name in values:
        if name not in {port.name for port in program.inputs}:
            known = ", ".join(port.name for port in program.inputs)
            raise CircuitizeError(f"expected the name of an input ({known}), found {name!r}; bind one of these")
    arrow, builder = program.arrow, Builder()
    wires = []
    for port in program.inputs:
        if port.name in values:
            amounts = to_integers(port, values[port.name], "bind")
            wires.append(builder.add(Constant.of(amounts, port.format.fraction_bits)))
        else:
            wires.append(builder.input(port.format))

    def again(index: int, operation: Operation, sources: list[int]) -> list[int]:
        builder.provenance = arrow.edge(index).provenance
        return builder.apply(operation, *sources)

    made = fold(arrow, wires, again)
    whole = builder.build([wire for wire in (made[at] for at in arrow.outputs.tolist()) if wire is not None])
    bound = simplify(whole, PARTIAL)
    outputs = [port.of(fixed(type)) for port, type in zip(program.outputs, bound.target, strict=True)]
    examples = [{name: a for name, a in batch.items() if name not in values} for batch in program.examples]
    inputs = [port for port in program.inputs if port.name not in values]
    return replace(program, arrow=bound, inputs=tuple(inputs), outputs=tuple(outputs), examples=tuple(examples))
