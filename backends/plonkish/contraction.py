"""Lowering contractions to Plonkish rows: as sums of products row by row, or as sums that are tested at a random point,
which is drawn after the sums are fixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import TypingError
from circuitize.circuits.types import Fixed

from ..forms import zeros
from ..values import Value
from .assembly import Assembly, Handle, single_forms
from .tasks import Dot, Fold, Variables

COLUMNS, ROWS = 0, 1
"""The challenges that fold the columns and the rows of a contraction's sums."""


@dataclass(frozen=True, slots=True, eq=False)
class Operands:
    """The operands of a contraction as two matrices of variables, rows x depth and depth x columns, for each of `both`
    places that both operands share.

    The field `order` gives the place in the target of each element of the products `[both, rows, columns]`.
    """

    left: Variables
    right: Variables
    order: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Return the four extents `both`, `rows`, `depth` and `columns` of a contraction's operands."""
        both, rows, depth = self.left.shape
        return both, rows, depth, self.right.shape[2]

    @property
    def plain(self) -> int:
        """Return the number of cells that a contraction takes if each of its products has a row."""
        both, rows, depth, columns = self.shape
        return 3 * both * rows * depth * columns

    @property
    def tested(self) -> int:
        """Return the number of cells that a tested contraction takes: for folding the operands and the sums, and for
        one product for each place that is summed over.
        """
        both, rows, depth, columns = self.shape
        folded = depth * columns + rows * columns + (rows * depth + rows if rows > 1 else 0)
        return both * (folded * 5 // 4 + 3 * depth + 2 * (rows + depth))


def contract(assembly: Assembly, equation: str, x: Handle, y: Handle, type: Fixed, value: Value) -> Handle:
    """Return the einsum of two operands as variables, computed by `accumulate` or by `test`, whichever takes fewer
    cells. The argument `type` is the type of the contraction's result.
    """
    if x.magnitude == 0 or y.magnitude == 0:
        return Handle(zeros(type.size), value, type)
    if bool(x.forms.constant_mask().all()) and bool(y.forms.constant_mask().all()):
        x.forms = single_forms(assembly.single(x.forms))
    found = operands(assembly, equation, x, y)
    use_test = assembly.projects and found.tested < found.plain
    made = test(assembly, found, value, type) if use_test else accumulate(assembly, found)
    return Handle(single_forms(made), value, type)


def accumulate(assembly: Assembly, found: Operands) -> Variables:
    """Return the sums of a contraction, computed with a row for each product.

    Soundness: the row total = (total above) + a * b determines each total.
    """
    both, rows, depth, columns = found.shape
    shape = (depth, both, rows, columns)
    left = np.broadcast_to(found.left.transpose(2, 0, 1)[:, :, :, None], shape).reshape(depth, -1)
    right = np.broadcast_to(found.right.transpose(1, 0, 2)[:, :, None, :], shape).reshape(depth, -1)
    targets = assembly.fresh(left.shape[1])
    assembly.tasks.append(Dot(assembly.edge, "product", targets, left, right))
    made = np.empty(len(targets), np.int32)
    made[found.order] = targets
    return made


def test(assembly: Assembly, found: Operands, value: Value, type: Fixed) -> Variables:
    """Return the sums of a contraction as variables that the prover chooses, and test them with two challenges r and s
    that are drawn after all of phase 0.

    For each index that both operands and the target share, the sum over rows i and columns g of s^i r^g C[i, g] must
    equal the sum over k of (sum over i of s^i A[i, k]) * (sum over g of r^g B[k, g]). In a tested contraction, each
    fold and each product is a row that determines its total, and the last totals of the two sides of the equation are
    the same variable.

    Soundness: the operands A and B and the sums C of a tested contraction are variables of phase 0, so that the prover
    has fixed them when r and s are drawn. If some C[i, g] is not the sum over k of A[i, k] B[k, g] modulo p, the
    difference of the two sides is a non-zero polynomial in r and s of degree at most rows - 1 + columns - 1, which is 0
    at a share of at most degree / p of all points (Schwartz and Zippel). The field `Assembly.degree` is the sum of the
    degrees of all tests of contractions. Sums that pass the test are right modulo p, and by their type they are below
    p/2 in magnitude as integers.
    """
    both, rows, depth, columns = found.shape
    content = assembly.hint(value, type.size)
    sums = content[found.order].reshape(both, rows, columns)
    assembly.degree += both * (rows - 1 + columns - 1)
    folded_left = _fold(assembly, found.left.transpose(1, 0, 2).reshape(rows, -1), ROWS, 0, "folded operand")
    right = found.right.transpose(2, 0, 1).reshape(columns, -1)
    folded_right = _fold(assembly, right, COLUMNS, 0, "folded operand")
    lines = _fold(assembly, sums.transpose(2, 0, 1).reshape(columns, -1), COLUMNS, 0, "folded sums")
    totals = _fold(assembly, lines.reshape(both, rows).T, ROWS, 1, "folded sums")
    left_rows, right_rows = (folded.reshape(both, depth).T for folded in (folded_left, folded_right))
    assembly.tasks.append(Dot(assembly.edge, "tested product", totals, left_rows, right_rows, 1))
    return content


def _fold(assembly: Assembly, values: Variables, challenge: int, phase: int, role: str) -> Variables:
    """Return the fold of each column of values by powers of a challenge, or the value itself if a column has only
    one.
    """
    if len(values) == 1:
        return values.reshape(-1)
    assembly.constant(0)
    targets = assembly.fresh(values.shape[1], wide=True)
    assembly.tasks.append(Fold(assembly.edge, role, targets, values, challenge, phase))
    return targets


def operands(assembly: Assembly, equation: str, x: Handle, y: Handle) -> Operands:
    """Return the operands of a contraction as matrices; an axis that only one operand has, and not the target, is
    summed over first.
    """
    left, right, target = letters(equation)
    for letter in sorted((set(left) ^ set(right)) - set(target)):
        if letter in left:
            x, left = _sum_out(assembly, x, left, letter)
        else:
            y, right = _sum_out(assembly, y, right, letter)
    extents = dict(zip(left, x.type.shape, strict=True)) | dict(zip(right, y.type.shape, strict=True))
    both = [letter for letter in target if letter in left and letter in right]
    rows = [letter for letter in target if letter not in right]
    columns = [letter for letter in target if letter not in left]
    depth = [letter for letter in left if letter not in target]

    def size(names: list[str]) -> int:
        return math.prod(extents[name] for name in names)

    for handle in (x, y):
        handle.forms = single_forms(assembly.single(handle.forms))
    a = _ordered(x.forms.wires, left, x.type.shape, both + rows + depth)
    b = _ordered(y.forms.wires, right, y.type.shape, both + depth + columns)
    shape = tuple(extents[letter] for letter in target)
    flat = np.arange(math.prod(shape)).reshape(shape)
    order = flat.transpose([target.index(letter) for letter in both + rows + columns]).reshape(-1)
    return Operands(
        a.reshape(size(both), size(rows), size(depth)), b.reshape(size(both), size(depth), size(columns)), order
    )


def letters(equation: str) -> tuple[str, str, str]:
    """Return the letters of an einsum equation for the axes of both operands and of the target."""
    sources, _, target = equation.replace(" ", "").partition("->")
    first, _, second = sources.partition(",")
    if not second and "," not in sources:
        raise TypingError(f"expected an einsum of two operands, found {equation!r}")
    return first, second, target


def _ordered(variables: Variables, own: str, shape: tuple[int, ...], order: list[str]) -> Variables:
    return variables.reshape(shape).transpose([own.index(letter) for letter in order])


def _sum_out(assembly: Assembly, handle: Handle, own: str, letter: str) -> tuple[Handle, str]:
    """Return an operand of a contraction after summing it over one axis."""
    axis, shape = own.index(letter), handle.type.shape
    kept = shape[:axis] + shape[axis + 1 :]
    order = np.moveaxis(np.arange(handle.type.size).reshape(shape), axis, -1).reshape(-1)
    offsets = np.arange(math.prod(kept) + 1, dtype=np.int64) * shape[axis]
    forms = handle.forms.gather(order).sum_groups(offsets)
    type = Fixed(kept, handle.type.fraction_bits, handle.type.low * shape[axis], handle.type.high * shape[axis])
    return Handle(forms, handle.value, type), own[:axis] + own[axis + 1 :]
