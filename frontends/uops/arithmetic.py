"""Translation rules for arithmetic, reductions, casts and curves of UOps."""

from __future__ import annotations

import math

import numpy as np

from circuitize.circuits import arrays
from circuitize.frontends.functions import floor, relu

from .choices import chosen_by
from .graph import Node
from .known import FLOATS, Known
from .products import Factor, Product, product_of
from .rules import Made, rule
from .translate import Translation
from .writing import masked


@rule("ADD", "SUB")
def _add(t: Translation, node: Node) -> Made:
    """Translate the UOp to Add or Subtract; x - mean, x - maximum and log softmax are recognised."""
    x, y = t.products(node)
    for place in (0, 1):
        known = t.known(node.sources[place])
        if known is not None and node.name == "ADD" and node.dtype in FLOATS and masked(known).any():
            return _masked(t, node, np.broadcast_to(known, node.shape), (y, x)[place])
    if node.dtype == "bool":
        return t.raised.applied(arrays.Maximum(), x, y)
    return t.raised.add(x, y if node.name == "ADD" else y.scaled(-1.0), node.shape)


def _masked(t: Translation, node: Node, known: Known, x: Product) -> Product:
    """Return x + known, with -64 where the known number stands for minus infinity, which e^x makes 0."""
    keep = ~masked(known)
    if not keep.any():
        return t.raised.constant(known, node.shape)
    shifted = t.raised.add(x, t.raised.constant(np.where(keep, known, 0.0), node.shape), node.shape)
    return chosen_by(t, node, keep, shifted, t.raised.constant(np.asarray(-np.inf), node.shape))


@rule("MUL", "AND")
def _multiply(t: Translation, node: Node) -> Made:
    """Translate the UOp to Multiply or Scale, or to Einsum, Gather or ScatterAdd if a sum follows."""
    if node.name == "AND" and node.dtype != "bool":
        if t.bits(node):
            return None
        raise t.refused(node, "of truth values, found one of bits", "leave bit arithmetic out")
    x, y = t.products(node)
    for place in (0, 1):
        if t.uniform(node.sources[place]) == 0.0:
            return np.broadcast_to(np.zeros((), np.bool_ if node.dtype == "bool" else np.float64), node.shape)
    return t.raised.multiply(x, y, node.shape)


@rule("REDUCE")
def _reduce(t: Translation, node: Node) -> Made:
    """Translate the UOp to Sum, Mean, Max or Product, or to Einsum if products are summed."""
    operation, count = node.reduction
    product = t.product(node.sources[0])
    if operation == "ADD":
        return t.raised.sum(product, count)
    if operation == "MAX":
        return t.raised.greatest(product, count)
    whole = t.raised.whole(product)
    for _ in range(count):
        whole = whole.apply(arrays.Product(0))
    return product_of(whole)


@rule("CAST")
def _cast(t: Translation, node: Node) -> Made:
    """Translate the UOp to nothing; but a cast to bool becomes x != 0, and a cast to whole numbers truncates."""
    source = t.graph.nodes[node.sources[0]]
    if node.dtype == "bool" and source.dtype != "bool":
        x = t.product(node.sources[0])
        zero = t.raised.constant(np.zeros(()), node.shape)
        above, below = (t.raised.applied(arrays.Greater(), *pair) for pair in ((x, zero), (zero, x)))
        return t.raised.add(above, below, node.shape)
    if source.dtype in FLOATS and node.dtype not in FLOATS:
        return _truncated(t, node)
    return t.values[node.sources[0]]


@rule("TRUNC")
def _truncated(t: Translation, node: Node) -> Made:
    """Translate the UOp to the Floor of the magnitude of x, with the sign of x."""
    made = t.raised.single(t.product(node.sources[0]))
    x = t.raised.tensor(made, made.factor.axes)
    return Product(node.shape, (Factor(floor(relu(x)) - floor(relu(-x)), made.factor.axes),))


@rule("EXP2")
def _exp2(t: Translation, node: Node) -> Made:
    """Translate the UOp to Exp."""
    return t.raised.exp2(t.product(node.sources[0]))


@rule("LOG2")
def _log2(t: Translation, node: Node) -> Made:
    """Translate the UOp to Log."""
    return t.raised.log2(t.product(node.sources[0]))


@rule("SQRT")
def _square_root(t: Translation, node: Node) -> Made:
    """Translate the UOp to SquareRoot, or to ReciprocalSquareRoot if the reciprocal is taken."""
    return t.raised.square_root(t.product(node.sources[0]))


@rule("RECIPROCAL")
def _reciprocal(t: Translation, node: Node) -> Made:
    """Translate the UOp to Reciprocal or Divide, or to Sigmoid if the UOps compute a sigmoid."""
    return t.raised.reciprocal(t.product(node.sources[0]))


@rule("SIN")
def _sine(t: Translation, node: Node) -> Made:
    """Translate the UOp to Sin."""
    return t.raised.applied(arrays.Sin(), t.product(node.sources[0]))


@rule("NEG")
def _negated(t: Translation, node: Node) -> Made:
    """Translate the UOp to Negate."""
    return t.product(node.sources[0]).scaled(-1.0)


@rule("FDIV")
def _divided(t: Translation, node: Node) -> Made:
    """Translate the UOp to Divide."""
    x, y = t.products(node)
    return t.raised.multiply(x, t.raised.reciprocal(y), node.shape)


@rule("MULACC")
def _accumulated(t: Translation, node: Node) -> Made:
    """Translate the UOp to Multiply and Add."""
    x, y, z = t.products(node)
    return t.raised.add(t.raised.multiply(x, y, node.shape), z, node.shape)


@rule("POW")
def _power(t: Translation, node: Node) -> Made:
    """Translate the UOp to Square, Power or SquareRoot if the exponent is a known multiple of 1/2, else to Exp."""
    base, exponent = (t.uniform(source) for source in node.sources)
    x, y = t.products(node)
    if exponent is not None and (2 * exponent).is_integer():
        return t.raised.power(x, exponent)
    if base is not None and base > 0:
        return t.raised.exp2(y.scaled(math.log2(base)))
    raise t.refused(
        node, "of a known base above 0, or to a known multiple of 1/2, found neither", "write exp(y * log(x))"
    )


@rule("STACK")
def _stacked(t: Translation, node: Node) -> Made:
    """Translate the UOp to Concatenate, along a new first axis."""
    first, *others = [t.raised.whole(t.product(source)) for source in node.sources]
    parts = [part.reshape(1, *part.shape) for part in (first, *others)]
    return product_of(parts[0].apply(arrays.Concatenate(0), *parts[1:]) if others else parts[0])
