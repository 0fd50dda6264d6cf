"""Linear forms grouped by what they share: the same factors, over different variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..forms import LinearForms
from .tasks import Variables

MANY = 16
"""The least number of forms that must share their factors to make a fixed row of factors worthwhile."""


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A group of linear forms: the forms with the numbers `places` are offset + sum over t of factors[t] * terms[t, e];
    if their factors differ, coefficients[t, e] replaces factors[t].

    If the forms have different coefficients, the constant is a term too, of variable 0, and `factors` says only how
    many terms there are.
    """

    places: NDArray[np.int64]
    terms: Variables
    factors: tuple[int, ...]
    offset: int
    coefficients: NDArray[np.int64] | None


def patterns(forms: LinearForms) -> list[Pattern]:
    """Return linear forms in groups that share the same factors."""
    found = []
    lengths = forms.lengths
    for length in np.unique(lengths).tolist():
        places = np.flatnonzero(lengths == length)
        at = forms.offsets[places][:, None] + np.arange(length)
        found += _of_length(places, forms.wires[at], forms.coefficients[at])
    return found


def _of_length(places: NDArray[np.int64], variables: Variables, coefficients: NDArray[np.int64]) -> list[Pattern]:
    """Return the groups of forms that all have the same number of terms, given their variables and coefficients as `[n,
    length]`.
    """
    if not coefficients.shape[1]:
        return [Pattern(places, np.zeros((0, len(places)), np.int32), (), 0, None)]
    keys = np.column_stack([coefficients, variables[:, 0] == 0])
    if (keys == keys[0]).all():
        return [_alike(places, variables, coefficients)]
    distinct, kinds = np.unique(keys, axis=0, return_inverse=True)
    kinds = kinds.reshape(-1)
    counts = np.bincount(kinds)
    if len(distinct) > 4 and len(places) < MANY * len(distinct):
        single = variables.shape[1] == 1 and bool((variables == 0).all())
        if not single:
            factors = (0,) * coefficients.shape[1]
            return [Pattern(places, variables.T.copy(), factors, 0, coefficients.T.copy())]
    order = np.argsort(kinds, kind="stable")
    ends = np.cumsum(counts)
    return [
        _alike(places[part], variables[part], coefficients[part])
        for part in (order[end - count : end] for end, count in zip(ends, counts, strict=True))
    ]


def _alike(places: NDArray[np.int64], variables: Variables, coefficients: NDArray[np.int64]) -> Pattern:
    first = int(variables[0, 0] == 0)
    offset = int(coefficients[0, 0]) if first else 0
    factors = tuple(coefficients[0, first:].tolist())
    return Pattern(places, variables[:, first:].T.copy(), factors, offset, None)
