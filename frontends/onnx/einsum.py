"""ONNX's Einsum: any number of operands, diagonals, and axes that an ellipsis stands for."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Sequence

import numpy as np

from circuitize.frontends.functions import einsum
from circuitize.frontends.tensor import Tensor

from .node import NUMBERS, Node, Result, operator
from .places import pick
from .whole import magnitude, product

TERM = re.compile(r"[a-zA-Z]*(\.\.\.)?[a-zA-Z]*")


@operator("Einsum", kinds=NUMBERS)
def _einsum(node: Node) -> Result:
    """Return the result of Einsum: diagonals are taken first, then sums over letters that only one operand has, then
    products of two operands from left to right.
    """
    terms, result = _terms(node)
    tensors, operands = [], []
    extents: dict[str, int] = {}
    for letters, tensor in zip(terms, node.tensors(), strict=True):
        letters, tensor = _without_units(letters, tensor, terms)
        for letter, extent in zip(letters, tensor.shape, strict=True):
            if extents.setdefault(letter, extent) != extent:
                raise node.fault(f"expected one extent of {letter!r}, found {extents[letter]} and {extent}; correct it")
        tensors.append(tensor)
        operands.append(letters)
    if not set(result) <= set(extents):
        extents |= {letter: 1 for letter in result if letter not in extents and letter in "".join(terms)}
    if len(set(result)) != len(result) or not set(result) <= set(extents):
        raise node.fault(f"expected letters of the operands once in the result, found {result!r}; correct it")
    made, letters = _single(tensors[0], operands[0], [*operands[1:], result])
    for place in range(1, len(tensors)):
        after = [*operands[place + 1 :], result]
        other, others = _single(tensors[place], operands[place], [letters, *after])
        made, letters = _single(made, letters, [others, *after])
        kept = "".join(x for x in dict.fromkeys(letters + others) if any(x in later for later in after))
        made, letters = einsum(f"{letters},{others}->{kept}", made, other), kept
    made = made.transpose(*[letters.index(letter) for letter in result if letter in letters]) if made.ndim > 1 else made
    made = made.reshape(*[extents[letter] for letter in result])
    if not node.whole:
        return made
    interval = node.interval()
    for index in range(1, len(terms)):
        interval = product(interval, node.interval(index))
    count = math.prod(extent for letter, extent in extents.items() if letter not in result)
    low, high = interval
    return node.kept(made, (low * count, high * count), magnitude(interval) * count)


def _terms(node: Node) -> tuple[list[str], str]:
    """Return the letters of each operand of an einsum and of the result, including those of an ellipsis, which are
    aligned on the right.
    """
    equation = node.attribute("equation", "").replace(" ", "")
    given, arrow, result = equation.partition("->")
    terms = given.split(",")
    ranks = [len(value.shape) for value in node.inputs if value is not None]
    if len(terms) != len(ranks) or not all(TERM.fullmatch(term) for term in [*terms, result]):
        raise node.fault(
            f"expected an equation like 'ij,jk->ik', of {len(ranks)} inputs, found {equation!r}; rewrite it"
        )
    own = [rank - len(term.replace(".", "")) for term, rank in zip(terms, ranks, strict=True)]
    for term, rank, more in zip(terms, ranks, own, strict=True):
        if more < 0 or (more and "..." not in term):
            raise node.fault(f"expected {rank} letters for an input of so many axes, found {term!r}; correct it")
    most = max((more for term, more in zip(terms, own, strict=True) if "..." in term), default=0)
    free = [letter for letter in string.ascii_letters if letter not in equation][:most]
    if len(free) < most:
        raise node.fault(f"expected letters for {most} axes, found all in use; merge axes")
    if not arrow:
        letters = given.replace(",", "").replace(".", "")
        result = "..." + "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    spread = [
        term.replace("...", "".join(free[most - more :]) if more else "") for term, more in zip(terms, own, strict=True)
    ]
    return spread, result.replace("...", "".join(free))


def _without_units(letters: str, x: Tensor, terms: Sequence[str]) -> tuple[str, Tensor]:
    """Return the operands of an einsum with the diagonals of letters that occur twice; axes of extent 1 are removed if
    another axis has the same letter.
    """
    place = 0
    while place < len(letters):
        other = letters.find(letters[place], place + 1)
        if other < 0:
            place += 1
            continue
        extent = x.shape[place]
        if x.shape[other] != extent:
            found = f"{extent} and {x.shape[other]}"
            raise ValueError(f"expected one extent of {letters[place]!r}, found {found}; correct it")
        rest = [axis for axis in range(x.ndim) if axis not in (place, other)]
        flat = x.transpose(place, other, *rest).reshape(extent * extent, *(x.shape[axis] for axis in rest))
        x = pick(flat, 0, np.arange(extent) * (extent + 1))
        letters = letters[place] + "".join(letters[axis] for axis in rest)
    units = [axis for axis, letter in enumerate(letters) if x.shape[axis] == 1 and sum(letter in t for t in terms) > 1]
    kept = [axis for axis in range(x.ndim) if axis not in units]
    return "".join(letters[axis] for axis in kept), x.reshape(*[x.shape[axis] for axis in kept])


def _single(x: Tensor, letters: str, others: Sequence[str]) -> tuple[Tensor, str]:
    """Return x summed over those letters of an einsum that neither another operand nor the result has."""
    alone = [axis for axis, letter in enumerate(letters) if not any(letter in other for other in others)]
    if not alone:
        return x, letters
    return x.sum(alone), "".join(letter for axis, letter in enumerate(letters) if axis not in alone)
