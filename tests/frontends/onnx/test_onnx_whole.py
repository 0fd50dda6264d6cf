"""ONNX's whole numbers, in integers: wrapping and division are exact there too."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import one
from r1cs_programs import integer_type

from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed
from circuitize.frontends.onnx import arrow


@pytest.mark.parametrize(
    ("operator", "kind"),
    [("Mul", np.uint8), ("Add", np.int8), ("Sub", np.uint16), ("Mul", np.uint16), ("Div", np.int16), ("Add", np.int32)],
)
def test_integers_wrap_as_their_type(operator: str, kind: type[np.integer]) -> None:
    random, ends = np.random.default_rng(0), np.iinfo(kind)
    x, y = (random.integers(ends.min, ends.max, 500, endpoint=True).astype(kind) for _ in range(2))
    x[:4], y[:4] = (ends.min, ends.max, ends.max, ends.min), (1, 1, ends.max, ends.max)
    y = np.where((y == 0) & (operator == "Div"), 3, y).astype(kind)
    format = Fixed(x.shape, 0, int(ends.min), int(ends.max))
    ports = tuple(Port(name, Visibility.PUBLIC, format) for name in ("x0", "x1"))
    example = {"x0": x.astype(np.float64), "x1": y.astype(np.float64)}
    program = Program(arrow(one(operator, x, y)).arrow, ports, (Port("y", Visibility.PUBLIC, None),), (example,))
    made = quantize(program)
    assert integer_type(made.arrow.target[0]).fraction_bits == 0
    (found,) = evaluate(made.arrow, [x.astype(np.int64), y.astype(np.int64)])
    whole = {"Add": x + y, "Sub": x - y, "Mul": x * y}.get(operator)
    wanted = np.trunc(x.astype(np.float64) / y) if whole is None else whole
    assert found.tolist() == wanted.astype(np.int64).tolist()
