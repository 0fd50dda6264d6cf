"""A convolutional network for handwritten digits: 8 kernels of 3 x 3, max pooling of 2 x 2, ReLU, and a dense layer.

circuitize estimate examples/cnn.py:step
circuitize train    examples/cnn.py:step --epochs 20 --seed 5eed --dataset examples/digits.py:data \\
                    --schedule examples/cnn.py:RECIPE --evaluate examples/cnn.py:evaluate -o trained
"""

from itertools import cycle

from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.evaluation import evaluation
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
    """Return one training step on a batch of 16, calibrated on 32 steps of a training run; the middle step of the run
    is the first example.
    """
    program = training.training_step(MODEL, cross_entropy, RECIPE.optimizer, RECIPE.batch, precision=PRECISION)
    examples = real.record(program, MODEL.initial(seed=0), RECIPE.batches(digits(seed=0)), count=32)
    return training.with_examples(program, *examples[16:], *examples[:16])


def evaluate() -> Program:
    """Return a program that counts how many of 60 images the network recognises, calibrated on the test set with
    weights from the steps that `step` is calibrated on.
    """
    split, count = digits(seed=0), 60
    parts = cycle(slice(k, k + count) for k in range(0, len(split.test_labels), count))
    names = [parameter.name for parameter in MODEL.parameters]
    examples = [
        {**{n: example[n] for n in names}, "inputs": split.test_inputs[at], "targets": split.test_targets[at]}
        for example, at in zip(step().examples[::4], parts, strict=False)
    ]
    return evaluation(MODEL, count, loss=cross_entropy, examples=examples, precision=PRECISION)


def predict() -> Program:
    """Return a program that gives the logits of one digit, calibrated with the weights of the steps that `step` is
    calibrated on.
    """
    batches = [{**batch, "inputs": batch["inputs"][:1]} for batch in step().examples]
    return training.with_examples(training.predict(MODEL, batch=1, precision=PRECISION), *batches)
