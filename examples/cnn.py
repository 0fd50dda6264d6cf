"""A convolutional network for handwritten digits: 8 kernels of 3 x 3, maxima of 2 x 2, ReLU, and a dense layer.

circuitize estimate examples/cnn.py:step
"""

from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.image_layers import conv2d, flatten, image, max_pool2d
from circuitize.frontends.layers import dense, relu, sequential, zeros
from circuitize.frontends.losses import cross_entropy
from circuitize.frontends.schedules import cosine
from circuitize.sims import real

MODEL = sequential(
    image(8, 8), conv2d(1, 8, size=3), max_pool2d(2), relu(), flatten(), dense(72, 10, initializer=zeros)
)
RECIPE = Recipe(batch=16, epochs=20, learning_rate=cosine(0.4, steps=20 * 89))
PRECISION = Precision(margin=4.0)


def step() -> Program:
    """One training step on a batch of 16; calibrated on 32 moments of a training run, the middle one first."""
    program = training.training_step(MODEL, cross_entropy, RECIPE.optimizer, RECIPE.batch, precision=PRECISION)
    moments = real.record(program, MODEL.initial(seed=0), RECIPE.batches(digits(seed=0)), count=32)
    return training.with_examples(program, *moments[16:], *moments[:16])


def predict() -> Program:
    """The logits of one digit, with the weights of the same moments."""
    batches = [{**batch, "inputs": batch["inputs"][:1]} for batch in step().examples]
    return training.with_examples(training.predict(MODEL, batch=1, precision=PRECISION), *batches)
