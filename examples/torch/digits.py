"""A network written as a torch module, trained in integers on handwritten digits from the weights that torch gave it.

circuitize estimate examples/torch/digits.py:step
circuitize prove    examples/torch/digits.py:step --prover tensor -o proof

If torch is installed, `cz.from_torch(network(), torch.zeros(BATCH, 64))` with `network` of network.py gives the model
without an archive file.
"""

from pathlib import Path

import circuitize as cz
from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.formats import WEIGHTS
from circuitize.frontends.losses import cross_entropy
from circuitize.sims import real

PARAMETERS = ("0.weight", "0.bias", "2.weight", "2.bias")
MODEL = cz.from_torch(Path(__file__).with_name("digits.pt2"), formats=dict.fromkeys(PARAMETERS, WEIGHTS))
RECIPE = Recipe(batch=16, epochs=20, learning_rate=0.1)


def step() -> Program:
    """Return one training step on a batch of 16, calibrated on 32 steps of a training run; the middle step of the run
    is the first example.
    """
    program = training.training_step(
        MODEL, cross_entropy, RECIPE.optimizer, RECIPE.batch, precision=Precision(margin=4.0)
    )
    examples = real.record(program, MODEL.initial(seed=0), RECIPE.batches(digits(seed=0)), count=32)
    return training.with_examples(program, *examples[16:], *examples[:16])


def predict() -> Program:
    """Return a program that gives the logits of 16 digits, calibrated with the weights of the steps that `step` is
    calibrated on.
    """
    return training.with_examples(training.predict(MODEL, batch=RECIPE.batch), *step().examples)
