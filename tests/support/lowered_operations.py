"""Real operations lowered alone."""

from __future__ import annotations

from operations.real import Source

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.lowering import Lowering, Precision
from circuitize.circuits.types import Fixed


def lowered(operation: arrays.RealOperation, result: Fixed, *sources: Source) -> Arrow:
    builder = Builder()
    wires = builder.inputs([source.fixed for source in sources])
    return builder.build(operation.lower(Lowering(builder, Precision(), result), *wires))
