"""Adam with 16 fraction bits everywhere trains the digits network as Adam in floating point does."""

from __future__ import annotations

from dataclasses import replace
from importlib import util
from typing import Any

import numpy as np
import pytest
from example_programs import EXAMPLES, example
from tiers import count, seeds

from circuitize.circuits.port import Role
from circuitize.circuits.values import to_reals
from circuitize.frontends import training
from circuitize.frontends.datasets import accuracy, digits
from circuitize.sims import integer, real

NAME = "adam_sixteen"


@pytest.mark.slow
def test_adam_at_sixteen_bits_is_within_a_point_of_float_adam() -> None:
    """By half of the recipe on one split; in `make deep` by all of it on each of three, of which, and of two more,
    `benchmarks/accuracy.py` prints the figures.
    """
    spec = util.spec_from_file_location("example_digits_xent", EXAMPLES / "digits_xent.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model, loaded, recipe = module.MODELS[NAME], example(f"digits_xent.py:{NAME}"), module.RECIPES[NAME]
    recipe = replace(recipe, epochs=count(recipe.epochs // 2, deep=recipe.epochs))
    formats = {port.name: port.format for port in loaded.integer.outputs if port.format is not None}
    kept = [port for port in loaded.integer.outputs if port.role in (Role.PARAMETER, Role.OPTIMIZER)]
    assert len(kept) == 12 and all(formats[port.name].fraction_bits == 16 for port in kept)
    begin = training.start(loaded.given, model, seed=0)
    for seed in seeds(1, deep=3):
        split = digits(seed)
        predict = training.predict(model, len(split.test_labels))

        def reached(values: dict[str, Any], split: Any = split, predict: Any = predict) -> float:
            held = {p.name: values[p.name] for p in model.parameters}
            return accuracy(real.run(predict, held | {"inputs": split.test_inputs})["outputs"], split.test_labels)

        *_, floats = real.train(loaded.given, begin, recipe.batches(split))
        *_, exact = integer.train(loaded.integer, begin, recipe.batches(split))
        found = {name: to_reals(format, exact[name]) for name, format in formats.items()}
        expected = reached(floats)
        assert expected >= 0.9 and abs(reached(found) - expected) <= 0.01
        assert np.abs(found["dense2.bias"] - floats["dense2.bias"]).max() < 0.01
