"""Reverse derivatives: f : A -> B becomes R[f] : A x dB -> dA, by rewriting one arrow into another."""

from __future__ import annotations

from .arrays.composite import expand_composites
from .arrays.reverse import reverse
from .hypergraph import Arrow


def reverse_derivative(arrow: Arrow) -> Arrow:
    """Return R[f] of an arrow f : A -> B in the real array language.

    The inputs of the reverse derivative are f's inputs, then one cotangent per output of f; its outputs are one
    cotangent per input of f. If a wire has several readers, its cotangents are added, and a wire without readers has
    the cotangent zero: copying and adding are dual, and so are discarding and zero. The equations of reverse
    derivatives are those of reverse derivative categories (Cockett et al., arXiv 1910.07065). Differentiating takes
    linear time: each operation's reverse derivative is computed once per choice of source types, then replayed.
    """
    return reverse(expand_composites(arrow, keep_derivatives=True))
