"""A program on rows of a dataset, flattened so that their weights are one per element, and its proofs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from r1cs_programs import integer_type

from circuitize import _native
from circuitize.backends.tensor.dataset import Dataset
from circuitize.backends.tensor.groups import layout
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Multiply, Reindex, View
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.prover import Hook, Proved, prove_values
from circuitize.provers.tensor.roots import encoded

Integers = NDArray[np.int64]
EXAMPLES = 5


def of_rows(degree: int = 2, openings: int | None = None) -> tuple[IntegerProgram, Plan]:
    """Three examples times weights; the plan reads them from a dataset of five, and assumes all formats."""
    x, w = Fixed((3, 4), 0, 0, 7), Fixed((12,), 0, -8, 7)
    builder = Builder()
    batch, weight = builder.input(x), builder.input(w)
    flat = builder.add(Reindex(View.reshape((3, 4), (12,))), batch)
    arrow = builder.build([builder.add(Multiply(), flat, weight)])
    ports = (Port("x", Visibility.COMMITTED, x), Port("w", Visibility.COMMITTED, w, Role.PARAMETER))
    program = IntegerProgram(arrow, ports, (Port("y", Visibility.PUBLIC, integer_type(arrow.target[0])),))
    dataset = Dataset(EXAMPLES, {"x": ("x", "1")})
    return program, plan(program, assumed={"data", "parameters"}, dataset=dataset, degree=degree, openings=openings)


def proved_on_rows(
    program: IntegerProgram,
    made: Plan,
    rows: Sequence[int],
    stated: Sequence[int] | None = None,
    context: bytes = b"",
    hook: Hook | None = None,
) -> Proved:
    """The proof of a run on these rows; it says that they are `stated`, where that is given."""
    draw = np.random.default_rng(3)
    data, weights = draw.integers(0, 8, (EXAMPLES, 4)), draw.integers(-8, 8, 12)
    trace = made.trace({"x": data[list(rows)], "w": weights})
    variables, (offset,) = layout([data.shape])
    key = ("input", "data")
    openings = made.openings[made.groups.index(key)] if made.openings else None
    of = encoded(made.ports_of(key), openings)
    kept = {key: _native.tensor_commit(variables, [(data.shape, offset, data)], bytes(32), of, openings)}
    values = made.values(trace, {"1": np.array(rows if stated is None else stated, np.int64)})
    return prove_values(program, made, trace, values, kept=kept, context=context, hook=hook)
