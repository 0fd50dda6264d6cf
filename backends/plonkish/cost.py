"""The sizes of a program's Plonkish system, counted by laying the system out without building it, and the choice of the
number of rows, 2^k, by the cost of proving.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json

from .expressions import ExpressionBuilder, Kind
from .lay_out import LARGEST, SMALLEST, lay_out
from .layout import DoesNotFit, Layout
from .lookup_sums import DEGREE

POLYNOMIAL, ROW, MULTIPLICATION = 3.7e-3, 3.9e-6, 5.5e-8
"""The CPU-seconds of a polynomial, of each of its rows, and of a field multiplication of a gate at one point."""


@dataclass(frozen=True, eq=False)
class Sizes:
    """The size of a Plonkish layout, and the expected cost of proving it with halo2.

    The rows, columns, lookups, copies and the degree of a layout are counted exactly. The CPU-`seconds` and the `bytes`
    of memory for proving are predicted from the number of polynomials and gates, by a model whose constants are
    measured (docs/plonkish.md).
    """

    layout: Layout

    @property
    def advice(self) -> int:
        """Return the number of advice columns in the layout."""
        return len(self.layout.phases)

    @property
    def fixed(self) -> int:
        """Return the number of fixed columns: those of units, those of tables, and one column of constants."""
        tables = 2 * bool(self.layout.limb_rows) + 3 * bool(self.layout.entry_rows)
        return sum(placed.unit.fixed for placed in self.layout.units) + tables + 1

    @cached_property
    def _gates(self) -> tuple[int, int, int]:
        """Return the number of lookups and the number of multiplications in gates, over all lanes of the layout, and
        the greatest degree of a gate.
        """
        lookups = multiplications = degree = 0
        for placed in self.layout.units:
            make = ExpressionBuilder()
            advice, fixed = range(len(placed.unit.phases)), range(placed.unit.fixed)
            roots = [node for _, node in placed.unit.gates(make, advice, fixed)]
            lookups += placed.lanes * len(placed.unit.lookups(make, advice, fixed))
            nodes = make.build()
            multiplications += placed.lanes * int((nodes.rows[:, 0] == Kind.MULTIPLY).sum())
            degree = max([degree, *nodes.degrees()[roots].tolist()])
        return lookups, multiplications, degree

    @property
    def lookups(self) -> int:
        """Return the number of lookups on each row, over all lanes of the layout."""
        return self._gates[0]

    @property
    def degree(self) -> int:
        """Return the greatest degree of a gate, if lookups become gates by sums of fractions."""
        return max(self._gates[2], DEGREE if self.lookups else 3)

    @property
    def permuted(self) -> int:
        """Return the greatest number of columns that can occur in a copy: the columns of variables, of constants and of
        the instance.
        """
        units = self.layout.units
        lanes = ((p.lanes, len(p.unit.phases) if p.unit.copied is None else p.unit.copied) for p in units)
        return sum(count * own for count, own in lanes) + 2

    @property
    def sums(self) -> int:
        """Return the number of columns that the sums of fractions for lookups take: three for each table, and one for
        every three lookups.
        """
        entries = sum(placed.lanes for placed in self.layout.units if placed.unit.name == "entry")
        each = DEGREE - 2
        return sum(3 + -(-count // each) for count in (entries, self.lookups - entries) if count)

    @property
    def products(self) -> int:
        """Return the number of columns of products by which a proof shows that copied cells are equal."""
        return -(-self.permuted // (self.degree - 2))

    @property
    def polynomials(self) -> int:
        """Return the number of committed polynomials: those of advice, of lookup sums, of the products for copies and
        of the quotient, and one for blinding.
        """
        return self.advice + self.sums + self.products + self.degree

    @property
    def extended(self) -> int:
        """Return the number of points at which gates are evaluated, as a multiple of the number of rows."""
        return 1 << (self.degree - 2).bit_length()

    @property
    def seconds(self) -> float:
        """Return the CPU-seconds of proving that the model predicts: a cost per polynomial, per cell, and per
        multiplication in gates.
        """
        rows = 1 << self.layout.k
        multiplications = self._gates[1] + 6 * self.lookups + 6 * self.permuted
        gates = multiplications * rows * self.extended * MULTIPLICATION
        return self.polynomials * (POLYNOMIAL + rows * ROW) + gates

    @property
    def bytes(self) -> int:
        """Return the bytes of memory that proving takes: for every polynomial, including those of fixed columns, its
        coefficients and its values on the extended domain.
        """
        return (self.polynomials + self.fixed + self.permuted) * (32 << self.layout.k) * (2 + self.extended)

    def as_json(self) -> Json:
        """Return the exact counts, and the seconds and bytes that the model predicts, as `estimate` writes them."""
        return {
            "k": self.layout.k,
            "rows": self.layout.rows,
            "advice_columns": self.advice,
            "fixed_columns": self.fixed,
            "instance_columns": 1,
            "public": len(self.layout.instance),
            "lookups": self.lookups,
            "degree": self.degree,
            "challenge_degree": self.layout.assembly.degree,
            "polynomials": self.polynomials,
            "prove_seconds": round(self.seconds, 2),
            "prove_bytes": self.bytes,
        }


def search(program: IntegerProgram, memory: int | None = None) -> list[Sizes]:
    """Return the layouts of a program for every k such that 2^k rows suffice, the layout with the least proving cost
    first.

    A layout with a smaller k has fewer rows and more columns. Layouts for which proving would take more than `memory`
    bytes are left out. Raise CircuitizeError if no layout is left, and for the same reasons as `emit`.
    """
    found: list[Sizes] = []
    for k in range(SMALLEST, LARGEST + 1):
        try:
            sizes = Sizes(lay_out(program, k)[0])
        except DoesNotFit:
            continue
        found.append(sizes)
        if k - found[0].layout.k > 2 and sizes.seconds > 1.5 * min(other.seconds for other in found):
            break
    fitting = [sizes for sizes in found if memory is None or sizes.bytes <= memory]
    if not fitting:
        least = min((sizes.bytes for sizes in found), default=0)
        raise CircuitizeError(
            f"expected a layout that is proved in {memory} bytes, found at least {least}; "
            "give more memory or lower the batch size"
            if found
            else f"expected a program of at most 2^{LARGEST} rows, found a larger one; lower the batch size"
        )
    return sorted(fitting, key=lambda sizes: sizes.seconds)


def best(program: IntegerProgram, memory: int | None = None) -> int:
    """Return the k of the layout with 2^k rows that has the least proving cost."""
    return search(program, memory)[0].layout.k


def estimate(program: IntegerProgram, memory: int | None = None) -> Json:
    """Return the sizes of the system that `emit(program)` makes, in total and by part and operation; these sizes are
    equal by construction, but no system is built.

    The entries of the estimate are those of `Sizes.as_json`, and the entry `cells` with the cells that each part of the
    program and each operation takes.
    """
    sizes = search(program, memory)[0]
    arrow = program.arrow
    parts: dict[str, int] = {}
    operations: dict[str, int] = {}
    for placed in sizes.layout.units:
        for task in placed.tasks:
            cells = placed.unit.elements(task) * placed.unit.height(task) * len(placed.unit.phases)
            if task.edge < 0:
                part = operation = "inputs and outputs"
            else:
                edge = arrow.edge(task.edge)
                part, operation = edge.provenance.part or "unnamed part", edge.operation.name
            parts[part] = parts.get(part, 0) + cells
            operations[operation] = operations.get(operation, 0) + cells
    return {**sizes.as_json(), "parts": parts, "operations": operations}
