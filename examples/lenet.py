"""LeNet-5 on images of 28 x 28: two convolutions with max pooling of 2 x 2, and three dense layers. LeNet-5 is from
LeCun et al., 1998.

The data are scikit-learn's digits, enlarged as in mnist_mlp.py; ReLU takes the place of LeNet-5's sigmoid.

    circuitize estimate examples/lenet.py:predict
"""

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.image_layers import conv2d, flatten, image, max_pool2d
from circuitize.frontends.layers import dense, relu, sequential

MODEL = sequential(
    image(28, 28),
    conv2d(1, 6, size=5, padding=2),
    relu(),
    max_pool2d(2),
    conv2d(6, 16, size=5),
    relu(),
    max_pool2d(2),
    flatten(),
    dense(400, 120),
    relu(),
    dense(120, 84),
    relu(),
    dense(84, 10),
)
RECIPE = Recipe(batch=4, epochs=1, learning_rate=0.05)


def predict() -> Program:
    """Return a program that gives the logits of four images, with the weights that training starts from."""
    images = enlarge(digits(seed=0).test_inputs[: 2 * RECIPE.batch]).reshape(2, RECIPE.batch, -1)
    start = MODEL.initial(seed=0)
    return training.with_examples(
        training.predict(MODEL, RECIPE.batch), *({**start, "inputs": batch} for batch in images)
    )


def enlarge(images: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows of 64 pixels enlarged to rows of 784: each pixel becomes a square of 3 x 3, with a margin of 2 around
    the image.
    """
    large = np.kron(images.reshape(-1, 8, 8), np.ones((1, 3, 3)))
    return np.pad(large, ((0, 0), (2, 2), (2, 2))).reshape(-1, 784)
