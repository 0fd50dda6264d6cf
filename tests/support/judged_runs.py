"""Runs whose end is judged on a test set."""

from __future__ import annotations

from functools import cache

from example_programs import EXAMPLES

from circuitize.api.user_files import run_file
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_integers
from circuitize.frontends.datasets import iris
from circuitize.frontends.evaluation import evaluation
from circuitize.provers.tensor.runs.beginning import HeldOut
from circuitize.provers.tensor.runs.evaluation import Evaluation


@cache
def judge() -> Evaluation:
    """How often the weights of a run are right on thirty irises, ten at a time."""
    example, split = run_file(EXAMPLES / "iris.py"), iris(0)
    batch = {"inputs": split.test_inputs[:10], "targets": split.test_targets[:10]}
    given = [{**example.MODEL.initial(0), **batch}]
    return Evaluation(quantize(evaluation(example.MODEL, 10, inputs=example.MEASURES, examples=given)), 30)


def held_out(order: int = 1, public: bool = False) -> HeldOut:
    split = iris(0)
    given = {"inputs": split.test_inputs[::order], "targets": split.test_targets[::order]}
    return HeldOut({port.name: to_integers(port, given[port.name], "test") for port in judge().tensors}, public)
