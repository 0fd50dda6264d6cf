"""The error report: what is predicted from formats is what integers show, wire by wire; precision that fits."""

from __future__ import annotations

import numpy as np
import pytest

from circuitize.backends.r1cs.cost import estimate
from circuitize.circuits.accuracy import error_report, fit_to_cost, fit_to_error, output_errors
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.lowering import Precision
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import to_reals
from circuitize.frontends.functions import gelu, softmax, square_root
from circuitize.frontends.layers import dense, sequential
from circuitize.frontends.layers import gelu as gelu_layer
from circuitize.frontends.losses import cross_entropy
from circuitize.frontends.normalization import layer_norm
from circuitize.frontends.optimizers import SGD
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.trace import trace
from circuitize.frontends.training import start, training_step, with_examples
from circuitize.sims import integer, real


def small(precision: Precision = Precision()) -> Program:  # noqa: B008 - frozen
    def function(x: Tensor, w: Tensor) -> list[Tensor]:
        hidden = gelu(x @ w)
        return [softmax(hidden), square_root((hidden * hidden).sum(1) + 1.0)]

    random = np.random.default_rng(0)
    ports = (
        Port("x", Visibility.PUBLIC, Fixed((4, 3), 8, -512, 511)),
        Port("w", Visibility.PUBLIC, Fixed((3, 5), 10, -2048, 2047)),
    )
    examples = tuple({"x": random.normal(0, 0.6, (4, 3)), "w": random.normal(0, 0.6, (3, 5))} for _ in range(6))
    outputs = (Port("shares", Visibility.PUBLIC), Port("sizes", Visibility.PUBLIC))
    return Program(trace(function, (4, 3), (3, 5)), ports, outputs, examples, precision)


def step() -> Program:
    model = sequential(dense(6, 8), layer_norm(8, 2.0**-8), gelu_layer(), dense(8, 3))
    made = training_step(model, cross_entropy, SGD(), 4)
    random = np.random.default_rng(1)
    first = start(made, model, 0)
    return with_examples(
        made,
        *(
            {
                **first,
                "inputs": random.integers(0, 17, (4, 6)) / 16.0,
                "targets": np.eye(3)[random.integers(0, 3, 4)],
                "learning_rate": np.array(0.125),
            }
            for _ in range(6)
        ),
    )


@pytest.mark.parametrize("program", [small(), step()], ids=["function", "training step"])
def test_what_is_predicted_is_measured(program: Program) -> None:
    """Each wire: equal to within 2 units of its last bit, or half as much again; exact where it should be."""
    report = error_report(program)
    assert len(report) > 10
    for entry in report:
        unit = 2.0**-entry.format.fraction_bits
        assert entry.measured <= 2.5 * entry.predicted + 2 * unit, entry
        assert entry.predicted <= 2.5 * entry.measured + 2 * unit, entry
        if entry.operation == "input":
            assert entry.predicted == entry.measured == 0
    assert any(entry.measured > 0 for entry in report)
    assert "predicted" in str(report[-1]) and "fraction bits" in str(report[-1])


def test_a_predicted_error_halves_with_each_bit() -> None:
    coarse, fine = ({e.operation: e.predicted for e in error_report(small(Precision(b, b)))} for b in (8, 14))
    for name in ("real.gelu", "real.exp", "real.square_root"):
        assert 2.0**-8 < fine[name] / coarse[name] < 2.0**-4


def test_measured_errors_are_those_of_the_executors() -> None:
    program = small()
    integers, worst = quantize(program), dict.fromkeys(("shares", "sizes"), 0.0)
    for batch in program.examples:
        formats = {port.name: port.format for port in program.inputs if port.format is not None}
        rounded = {name: to_reals(f, np.rint(np.ldexp(batch[name], f.fraction_bits))) for name, f in formats.items()}
        exact, found = real.run(program, rounded), integer.run(integers, rounded)
        for port in integers.outputs:
            assert port.format is not None
            error = np.abs(to_reals(port.format, found[port.name]) - exact[port.name]).max()
            worst[port.name] = max(worst[port.name], error)
    assert output_errors(program) == pytest.approx(worst, rel=1e-12)


def test_precision_fitted_to_an_error() -> None:
    found = fit_to_error(small(), {"shares": 2e-3})
    assert output_errors(found)["shares"] <= 2e-3
    count = found.precision.fraction_bits
    assert 6 < count < 14
    coarser = fit_to_error(small(), {"shares": 2e-2}).precision.fraction_bits
    assert coarser < count
    with pytest.raises(CircuitizeError, match="more fraction bits, or allow more"):
        fit_to_error(small(), {"shares": 1e-9}, range(8, 11))
    with pytest.raises(CircuitizeError, match="found 'nothing'; name one of these"):
        fit_to_error(small(), {"nothing": 1e-3})


def test_precision_fitted_to_a_cost() -> None:
    def constraints(program: IntegerProgram) -> int:
        return int(estimate(program)["constraints"])

    middle = constraints(quantize(small()))
    found = fit_to_cost(small(), constraints, middle, range(10, 15))
    assert constraints(quantize(found)) <= middle
    assert found.precision.fraction_bits >= 12
    with pytest.raises(CircuitizeError, match="expected a cost of at most 10"):
        fit_to_cost(small(), constraints, 10, range(6, 8))


def test_integer_programs_are_refused() -> None:
    with pytest.raises(CircuitizeError, match="report on it before it is quantized"):
        error_report(quantize(small()))
