"""Polynomials over the cells near a row, as an array of nodes in which each common subexpression occurs once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ..field import BN254, Field


class Kind(IntEnum):
    """The kind of a node in an expression over cells. The numbers a and b of a node are, depending on its kind, an
    index into the constants, a column and a rotation, the number of a challenge, or the indices of other nodes.
    """

    CONSTANT = 0
    ADVICE = 1
    FIXED = 2
    INSTANCE = 3
    CHALLENGE = 4
    ADD = 5
    MULTIPLY = 6
    NEGATE = 7


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Expressions over cells, with their constants: `int32[count, 3]` of (kind, a, b), where each node comes after the
    nodes that it reads.
    """

    rows: NDArray[np.int32]
    constants: tuple[int, ...]

    def degrees(self) -> NDArray[np.int64]:
        """Return the degree of each node as a polynomial in the cells."""
        degrees = np.zeros(len(self.rows), np.int64)
        for at, (kind, a, b) in enumerate(self.rows.tolist()):
            if kind in (Kind.ADVICE, Kind.FIXED, Kind.INSTANCE):
                degrees[at] = 1
            elif kind == Kind.ADD:
                degrees[at] = max(degrees[a], degrees[b])
            elif kind == Kind.MULTIPLY:
                degrees[at] = degrees[a] + degrees[b]
            elif kind == Kind.NEGATE:
                degrees[at] = degrees[a]
        return degrees


class ExpressionBuilder:
    """A builder of expressions; a node that is requested twice is made only once. An expression builder keeps the
    constants of expressions as integers in [0, prime).
    """

    def __init__(self, field: Field = BN254) -> None:
        self.field = field
        self._nodes: dict[tuple[int, int, int], int] = {}
        self._constants: dict[int, int] = {}

    def constant(self, value: int) -> int:
        """Return the node of a constant, an integer modulo the prime."""
        index = self._constants.setdefault(value % self.field.prime, len(self._constants))
        return self._node(Kind.CONSTANT, index, 0)

    def advice(self, column: int, rotation: int = 0) -> int:
        """Return the node of an advice cell that is `rotation` rows below the row of the gate."""
        return self._node(Kind.ADVICE, column, rotation)

    def fixed(self, column: int, rotation: int = 0) -> int:
        """Return the node of a fixed cell that is `rotation` rows below the row of the gate."""
        return self._node(Kind.FIXED, column, rotation)

    def instance(self, column: int, rotation: int = 0) -> int:
        """Return the node of an instance cell that is `rotation` rows below the row of the gate."""
        return self._node(Kind.INSTANCE, column, rotation)

    def challenge(self, index: int = 0) -> int:
        """Return the node of a challenge, which is drawn after the prover has committed to phase 0."""
        return self._node(Kind.CHALLENGE, index, 0)

    def add(self, a: int, b: int) -> int:
        """Return the node of the sum of the nodes a and b."""
        return self._node(Kind.ADD, a, b)

    def multiply(self, a: int, b: int) -> int:
        """Return the node of the product of the nodes a and b, whose degree is the sum of their degrees."""
        return self._node(Kind.MULTIPLY, a, b)

    def negate(self, a: int) -> int:
        """Return the node of the negative of the node a."""
        return self._node(Kind.NEGATE, a, 0)

    def subtract(self, a: int, b: int) -> int:
        """Return the node of the difference a - b of two nodes."""
        return self.add(a, self.negate(b))

    def sum(self, terms: Iterable[int]) -> int:
        """Return the node of the sum of one or more nodes."""
        first, *others = terms
        for term in others:
            first = self.add(first, term)
        return first

    def scale(self, factor: int, a: int) -> int:
        """Return the node of factor times the node a, which is a itself if the factor is 1 modulo the prime."""
        return a if factor % self.field.prime == 1 else self.multiply(self.constant(factor), a)

    def combination(self, factors: Sequence[int], terms: Sequence[int]) -> int:
        """Return the node of the sum of factors times terms, leaving out terms with factor 0; at least one factor must
        not be 0.
        """
        return self.sum(self.scale(c, t) for c, t in zip(factors, terms, strict=True) if c % self.field.prime)

    def build(self) -> Nodes:
        """Return all nodes made so far, in an order in which operands come before the nodes that read them."""
        rows = np.array(list(self._nodes), np.int32).reshape(-1, 3)
        return Nodes(rows, tuple(self._constants))

    def _node(self, kind: Kind, a: int, b: int) -> int:
        return self._nodes.setdefault((int(kind), a, b), len(self._nodes))
