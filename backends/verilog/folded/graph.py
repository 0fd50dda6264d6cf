"""The stages of a folded design: loop nests with at most one reduction each, with the operations around it fused in."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.integers import Check
from circuitize.circuits.operation import Operation, Provenance
from circuitize.circuits.types import Fixed, Shape

from .terms import At, Terms

Indices = NDArray[np.int64]

REDUCED = "reduced"
"""The name, in a stage, of what its reduction comes to."""


@dataclass(eq=False)
class Operand:
    """An operand of a stage: what it reads of `wire` for each element of the target or, in a reduction, for each term;
    0 is read where the flat index is -1.

    `amounts` holds the elements of a constant as a flat array, and is None if the wire is in memory.
    """

    name: str
    wire: int
    at: At
    format: Fixed
    low: int
    high: int
    amounts: Indices | None = None

    @property
    def in_reduction(self) -> bool:
        """Return whether each term of the reduction reads a different element of the operand."""
        return isinstance(self.at, Terms)


@dataclass(frozen=True)
class Node:
    """An elementwise operation in a stage; its sources are names of operands, names of nodes, or `reduced`."""

    name: str
    operation: Operation
    sources: tuple[str, ...]
    low: int
    high: int
    in_reduction: bool = False
    provenance: Provenance = field(default_factory=Provenance)


@dataclass(eq=False)
class Stage:
    """A loop nest over the elements of the wire that it writes: terms are reduced over k, then operations are applied
    to the result.

    If `apart` is true, the parts of a wide product are added in a separate clock; if `lends` is true, products leave
    for multipliers that other stages use as well.
    """

    wire: int
    format: Fixed
    provenance: Provenance
    name: str = ""
    reduction: str = ""
    terms: int = 1
    term: str = ""
    reduced: tuple[int, int] = (0, 0)
    result: str = ""
    operands: list[Operand] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    apart: bool = False
    lends: bool = False

    @property
    def shape(self) -> Shape:
        """Return the shape of the tensor that the stage writes."""
        return self.format.shape

    @property
    def size(self) -> int:
        """Return the number of elements that the stage writes."""
        return math.prod(self.shape)

    @property
    def checks(self) -> bool:
        """Return whether the stage holds a Check, which can find a frame undefined."""
        return any(isinstance(node.operation, Check) for node in self.nodes)

    def interval(self, name: str) -> tuple[int, int]:
        """Return the least and the greatest value of an operand, of a node or of the reduction."""
        if name == REDUCED:
            return self.reduced
        values: list[Operand | Node] = [*self.operands, *self.nodes]
        (found,) = [value for value in values if value.name == name]
        return found.low, found.high


@dataclass
class Graph:
    """The stages of an arrow, with writers before readers, and for each output the wire that holds it and the indices
    of its elements.
    """

    stages: list[Stage]
    outputs: list[tuple[int, Indices]]
