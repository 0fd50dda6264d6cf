"""Boosted trees on handwritten digits: scikit-learn's decisions in hardware, in proofs and in integers.

circuitize compile examples/trees.py:predict --target verilog --scheduler parallel -o design
circuitize simulate design --frames 360

Ten rounds of ten trees, of at most eight leaves each. The features are whole numbers from 0 to 16, so that each
comparison is exact, and so is every decision: leads between scores are far above the rounding of the leaves.
"""

from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingClassifier

from circuitize.circuits.program import IntegerProgram
from circuitize.frontends.formats import Format
from circuitize.frontends.trees.programs import from_trees

PIXELS = Format(fraction_bits=0, low=0, high=16)
TESTED = 360
"""The last images of the data, on which nothing is fitted."""


@cache
def fitted() -> Any:
    """The estimator, fitted to all images but those that are tested."""
    pixels, labels = load_digits(return_X_y=True)
    return GradientBoostingClassifier(n_estimators=10, random_state=0).fit(pixels[:-TESTED], labels[:-TESTED])


def predict() -> IntegerProgram:
    """The digit of one image; the examples are the test images, with what the estimator says of each as the answer."""
    pixels = load_digits().data[-TESTED:]
    return from_trees(fitted(), PIXELS, data=pixels, labels=np.asarray(fitted().predict(pixels)))
