"""A gradient that is 0 by its mathematics, as that of a bias before a normalisation, once had no format for Adam."""

from __future__ import annotations

import numpy as np

from circuitize.circuits.calibrate import observe
from circuitize.circuits.lowering import Precision
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_reals
from circuitize.frontends.adam import Adam
from circuitize.frontends.formats import Format
from circuitize.frontends.functions import square_root
from circuitize.frontends.layers import dense, relu, sequential
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.normalization import batch_norm
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.trace import trace
from circuitize.frontends.training import start, training_step, with_examples
from circuitize.sims import integer, real

SIGNED, BATCH, ADAM = Format.signed(12, 8), 8, Adam()


def test_adam_trains_a_bias_before_a_normalisation() -> None:
    model = sequential(dense(3, 4), batch_norm(4), relu(), dense(4, 2), batch_norm(2))
    made = training_step(model, mean_squared_error, ADAM, BATCH, SIGNED, SIGNED, precision=Precision(margin=8.0))
    begin, random, batches = start(made, model, 1), np.random.default_rng(2), []
    for t in range(1, 17):
        x, y = (SIGNED.nearest(random.normal(0.0, 1.0, (BATCH, width))) for width in (3, 2))
        batches.append({"inputs": x, "targets": y, **ADAM.values(t, 0.01)})
    made = with_examples(made, *real.record(made, begin, batches, 16))
    exact = quantize(made)
    *_, floats = real.train(made, begin, batches)
    *_, found = integer.train(exact, begin, batches)
    for port in exact.outputs:
        assert port.format is not None
        if "moment" not in port.name:
            np.testing.assert_allclose(to_reals(port.format, found[port.name]), floats[port.name], atol=5e-3)


def test_what_cancels_counts_as_zero() -> None:
    def function(x: Tensor) -> list[Tensor]:
        rest = (x - x.mean(0)).sum(0)
        return [rest, rest * 4096.0, rest * x[0], square_root(rest * rest), x - x.mean(0), x * 2.0**-30]

    x = np.random.default_rng(0).normal(size=(5, 3))
    arrow = trace(function, x.shape)
    found = observe(arrow, [x])[arrow.outputs]
    assert (found[:4] == 0).all() and (found[4:] > 0).all()
    assert not observe(arrow, [np.zeros((5, 3))]).any()
