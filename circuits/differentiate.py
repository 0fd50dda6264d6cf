"""Reverse derivatives: f : A -> B becomes R[f] : A x dB -> dA, by rewriting one arrow into another."""

from __future__ import annotations

from .arrays.composite import expand_composites
from .arrays.reverse import reverse
from .hypergraph import Arrow


def reverse_derivative(arrow: Arrow) -> Arrow:
    """R[f] of an arrow f : A -> B in the real array language.

    Inputs of the result: f's inputs, then one cotangent per output; outputs: one cotangent per input. Several readers
    of a wire add their cotangents and an unread wire has cotangent zero: copying and adding, discarding and zero are
    dual. The equations are those of reverse derivative categories (Cockett et al., arXiv 1910.07065). Differentiating
    takes linear time: each operation's reverse derivative is computed once per choice of source types, then replayed.
    """
    return reverse(expand_composites(arrow, keep_derivatives=True))
