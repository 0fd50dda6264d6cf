"""ONNX's Einsum: equations of one or two operands, with the result's letters or without."""

from __future__ import annotations

import math
import re
from collections import Counter

from circuitize.frontends.functions import einsum
from circuitize.frontends.tensor import Tensor

from .linear import sums
from .node import NUMBERS, Node, Result, operator
from .whole import magnitude

EQUATION = re.compile(r"[a-zA-Z]*(,[a-zA-Z]*)?(->[a-zA-Z]*)?")


@operator("Einsum", kinds=NUMBERS)
def _einsum(node: Node) -> Result:
    """Each letter once in an operand: no diagonals, and no axes without a letter."""
    equation = node.attribute("equation", "").replace(" ", "")
    given, arrow, result = equation.partition("->")
    operands = given.split(",")
    if not EQUATION.fullmatch(equation) or len(operands) != len(node.inputs):
        raise node.fault(f"expected an equation like 'ij,jk->ik', of one or two inputs, found {equation!r}; rewrite it")
    times = Counter(given.replace(",", ""))
    if not arrow:
        result = "".join(sorted(letter for letter, count in times.items() if count == 1))
    tensors = node.tensors()
    extents: dict[str, int] = {}
    for letters, tensor in zip(operands, tensors, strict=True):
        if len(letters) != tensor.ndim or len(set(letters)) != tensor.ndim:
            raise node.fault(
                f"expected {tensor.ndim} distinct letters for {list(tensor.shape)}, found {letters!r}; correct it"
            )
        for letter, extent in zip(letters, tensor.shape, strict=True):
            if extents.setdefault(letter, extent) != extent:
                raise node.fault(f"expected one extent of {letter!r}, found {extents[letter]} and {extent}; correct it")
    if len(set(result)) != len(result) or not set(result) <= set(extents):
        raise node.fault(f"expected letters of the operands once in the result, found {result!r}; correct it")
    count = math.prod(extent for letter, extent in extents.items() if letter not in result)
    for place, letters in enumerate(operands):
        # A letter that stands nowhere else is summed first.
        alone = [axis for axis, letter in enumerate(letters) if times[letter] == 1 and letter not in result]
        tensors[place] = tensors[place].sum(alone) if alone else tensors[place]
        operands[place] = "".join(letter for axis, letter in enumerate(letters) if axis not in alone)
    if len(tensors) == 1:
        low, high = node.interval()
        made = _ordered(tensors[0], operands[0], result)
        return node.kept(made, (low * count, high * count), magnitude((low, high)) * count)
    return node.kept(einsum(f"{operands[0]},{operands[1]}->{result}", *tensors), *sums(node, count))


def _ordered(x: Tensor, letters: str, result: str) -> Tensor:
    return x.transpose(*map(letters.index, result)) if x.ndim > 1 else x
