"""Boosted trees on handwritten digits: the decisions of scikit-learn's estimator in hardware, in proofs and in
integers.

circuitize compile examples/trees.py:predict --target verilog --scheduler parallel -o design
circuitize simulate design --frames 360

The boosted trees are ten rounds of ten trees, with at most eight leaves in each tree. The features of the digits are
whole numbers from 0 to 16, so each comparison is exact, and so is every decision: the greatest score leads the others
by far more than the rounding of the leaves.
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
    """Return the estimator, fitted to all images except the test images."""
    pixels, labels = load_digits(return_X_y=True)
    return GradientBoostingClassifier(n_estimators=10, random_state=0).fit(pixels[:-TESTED], labels[:-TESTED])


def predict() -> IntegerProgram:
    """Return a program that gives the digit of one image; the examples are the test images, each with the estimator's
    decision as the answer.
    """
    pixels = load_digits().data[-TESTED:]
    return from_trees(fitted(), PIXELS, data=pixels, labels=np.asarray(fitted().predict(pixels)))
