"""Forests as flat arrays: nodes of all trees in one numbering, their scores, and how classes are decided."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

GREATEST, ABOVE, AT_LEAST, SCORES = "greatest", "above 0", "at least 0", "scores"
"""How the scores of a forest decide: by the first of the greatest, by whether the only score is above 0 or at least 0,
or not at all.
"""


@dataclass(frozen=True, eq=False)
class Forest:
    """A forest of trees whose inner nodes send x to the left child if x[feature] <= threshold, and whose leaves add to
    the scores.

    The arrays `left` and `right` of a forest are -1 at leaves. A leaf of a forest adds its `values` [nodes, scores] to
    the scores from `first[tree]` on; `base` are the starting scores. The flag `narrow` of a forest says that x is
    compared as float32.
    """

    features: int
    feature: Integers
    threshold: Reals
    left: Integers
    right: Integers
    values: Reals
    roots: Integers
    first: Integers
    base: Reals
    decides: str
    narrow: bool = True

    @property
    def inner(self) -> NDArray[np.bool_]:
        """Return whether each node of a forest has children; a leaf has none."""
        return self.left >= 0

    @cached_property
    def owner(self) -> Integers:
        """Return the tree of each node of a forest."""
        owner = np.zeros(len(self.left), np.int64)
        owner[self.roots] = np.arange(len(self.roots))
        level = self.roots
        while len(level := level[self.inner[level]]):
            owner[self.left[level]] = owner[self.right[level]] = owner[level]
            level = np.concatenate([self.left[level], self.right[level]])
        return owner

    def scores(self, x: Reals) -> Reals:
        """Return the scores of rows of x, [rows, scores], in floats."""
        x = x.astype(np.float32).astype(np.float64) if self.narrow else x
        at = np.broadcast_to(self.roots, (len(x), len(self.roots))).copy()
        rows = np.arange(len(x))[:, None]
        while (going := self.inner[at]).any():
            smaller = x[rows, self.feature[at]] <= self.threshold[at]
            at = np.where(going, np.where(smaller, self.left[at], self.right[at]), at)
        found = np.broadcast_to(self.base, (len(x), len(self.base))).copy()
        wide = self.values.shape[1]
        columns = self.first[:, None] + np.arange(wide)
        np.add.at(found, (rows[..., None], columns[None]), self.values[at])
        return found

    def certain(self, x: Reals, score_bits: int) -> NDArray[np.bool_]:
        """Return whether, for each row of x, the decision is the same when leaves are rounded to `score_bits` fraction
        bits, whichever way each leaf is rounded.

        With rounded leaves each score is off by at most half a unit for each tree and one for its base, so a decision
        whose lead is more than twice that is the same.
        """
        scores = self.scores(x)
        reach = (len(self.roots) + 1) * 2.0**-score_bits
        if self.decides in (ABOVE, AT_LEAST):
            sure: NDArray[np.bool_] = np.abs(scores[:, 0]) > reach
            return sure
        ordered = np.sort(scores, axis=1)
        lead: NDArray[np.bool_] = ordered[:, -1] - ordered[:, -2] > reach
        return lead
