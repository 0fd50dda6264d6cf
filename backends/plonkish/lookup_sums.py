"""Lookups as sums of fractions: gates, and a few columns that are filled after the challenge, in place of a prover's
own lookup argument.

Every lookup input is in the table exactly if this identity of rational functions in b holds for some multiplicities m:
the sum of 1 / (b + input) over all inputs equals the sum of m / (b + entry) over the table's rows (Haböck,
"Multivariate lookups based on logarithmic derivatives", 2022). The identity of rational functions in b, by which
lookups are shown, is tested at a random point b. Each tuple of inputs or entries is first turned into a single number:
the sum of a^i times its i-th component, for a random a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits.errors import CircuitizeError

from .expressions import Kind
from .lookup_cells import Cells, SummedCells
from .system import Column, Gate, Lookup, PlonkishSystem, Provenance, column_of

DEGREE = 5
"""The greatest degree of a gate."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The lookups of one table, divided into parts; the lookups of a part share a column of fractions, and each part
    has as many lookups as the degree allows.
    """

    table: tuple[int, ...]
    parts: tuple[tuple[Lookup, ...], ...]


@dataclass(frozen=True, eq=False)
class Summed:
    """A Plonkish system without lookups whose cells exist exactly if those of the system `plain` with lookups do,
    except with a small probability over the challenges.

    After the advice columns of phase 0 come the multiplicities, a column for each table; after those of phase 1 come,
    for each table, a column of fractions for each part of its lookups, a column of the table's own fractions, and a
    column of running sums. The system with sums of fractions has two more challenges, b and a, than the system with
    lookups, and one more row.

    Soundness: on every used row, the column h of a part of the lookups is the sum of 1 / D over the part's inputs,
    where D = b + (the input folded by a), if no D is 0; the table's own column is m / (b + entry). The running sums of
    a table begin at 0, grow on each row by the fractions of the inputs minus the fraction of the table, and end at 0,
    so that the identity of rational functions holds at b. All lookup inputs, table entries and multiplicities are of
    phase 0, and therefore fixed before a and b are drawn. A lookup input that is not in the table still differs from
    all table entries after it is folded by a random a, except with probability (width - 1) * rows / p; a single such
    input suffices for the argument. A lookup input that is not in the table gives the left side of the identity a pole
    that the right side lacks (since it occurs fewer than p times); with the denominators cleared, the identity is one
    of polynomials of degree below inputs + entries, and therefore holds for at most inputs + entries of the p values of
    b. For at most inputs + entries values of the challenge b, some denominator D is zero. The field `degree`, the
    numerator of the error, is the sum of the numbers of bad values of the two challenges.
    """

    plain: PlonkishSystem
    system: PlonkishSystem
    groups: tuple[Group, ...]

    @property
    def degree(self) -> int:
        """Return the numerator of the error of the sums of fractions: false lookups pass with a probability of at most
        degree / p.
        """
        rows, inputs = self.plain.rows, len(self.plain.lookups)
        width = max((len(group.table) for group in self.groups), default=1)
        return 2 * rows * (inputs + len(self.groups)) + (width - 1) * rows

    def fill(self, cells: Cells) -> SummedCells:
        """Return the cells of the system with sums of fractions, from the cells of a run of the system with lookups."""
        return SummedCells(self, cells)


def summed(system: PlonkishSystem) -> Summed:
    """Return the system with its lookups turned into gates by sums of fractions.

    Raise CircuitizeError for a lookup that reads a cell of phase 1 or a challenge, since its inputs would not be fixed
    before a and b are drawn.
    """
    _require_early(system)
    groups = tuple(_groups(system))
    build = _Builder(system, len(groups))
    for number, group in enumerate(groups):
        build.add(number, group)
    return Summed(system, build.system(), groups)


def _require_early(system: PlonkishSystem) -> None:
    late = np.zeros(len(system.nodes), np.bool_)
    for at, (kind, a, b) in enumerate(system.nodes.tolist()):
        if kind == Kind.ADVICE:
            late[at] = system.advice_phases[a] > 0
        elif kind == Kind.CHALLENGE:
            late[at] = True
        elif kind == Kind.NEGATE:
            late[at] = late[a]
        elif kind in (Kind.ADD, Kind.MULTIPLY):
            late[at] = late[a] or late[b]
    for lookup in system.lookups:
        if late[[*lookup.inputs, *lookup.table]].any():
            raise CircuitizeError(
                f"expected lookup {lookup.name} to read cells of phase 0, found later ones or a challenge; "
                "prove its lookups another way"
            )


def _groups(system: PlonkishSystem) -> list[Group]:
    tables: dict[tuple[int, ...], list[Lookup]] = {}
    for lookup in system.lookups:
        tables.setdefault(lookup.table, []).append(lookup)
    found = []
    for table, lookups in tables.items():
        degree = max(1, *(int(system.degrees[node]) for lookup in lookups for node in lookup.inputs))
        each = max(1, (DEGREE - 2) // degree)
        parts = tuple(tuple(lookups[at : at + each]) for at in range(0, len(lookups), each))
        found.append(Group(table, parts))
    return found


class _Builder:
    """The columns and gates of the system with sums of fractions; the nodes of the system with lookups keep their
    numbers.
    """

    def __init__(self, plain: PlonkishSystem, groups: int) -> None:
        self.plain, self.groups = plain, groups
        self.early = sum(phase == 0 for phase in plain.advice_phases)
        nodes = plain.nodes.astype(np.int32)
        moved = (nodes[:, 0] == Kind.ADVICE) & (nodes[:, 1] >= self.early)
        nodes[moved, 1] += groups
        self.nodes: list[tuple[int, int, int]] = [(k, a, b) for k, a, b in nodes.tolist()]
        self._places = {node: at for at, node in enumerate(self.nodes)}
        self.gates = list(plain.gates)
        self.columns = plain.advice + groups
        self.used, self.first, self.last = range(len(plain.fixed), len(plain.fixed) + 3)
        self.places = list(plain.provenance.gates)

    def node(self, kind: Kind, a: int, b: int = 0) -> int:
        key = (int(kind), a, b)
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = len(self.nodes)
            self.nodes.append(key)
        return found

    def sum(self, terms: Sequence[int]) -> int:
        total = terms[0]
        for term in terms[1:]:
            total = self.node(Kind.ADD, total, term)
        return total

    def product(self, factors: Sequence[int]) -> int:
        total = factors[0]
        for factor in factors[1:]:
            total = self.node(Kind.MULTIPLY, total, factor)
        return total

    def less(self, a: int, b: int) -> int:
        return self.node(Kind.ADD, a, self.node(Kind.NEGATE, b))

    def require(self, name: str, mark: int, zero: int) -> None:
        self.gates.append(Gate(name, self.node(Kind.MULTIPLY, self.node(Kind.FIXED, mark), zero)))
        self.places.append(("lookup sums", 0))

    def shifted(self, inputs: Sequence[int]) -> int:
        """Return the node of b + the sum of a^j input_j, built by Horner's rule."""
        b = self.node(Kind.CHALLENGE, self.plain.challenges)
        a = self.node(Kind.CHALLENGE, self.plain.challenges + 1)
        folded = inputs[-1]
        for node in reversed(inputs[:-1]):
            folded = self.node(Kind.ADD, node, self.node(Kind.MULTIPLY, a, folded))
        return self.node(Kind.ADD, b, folded)

    def add(self, number: int, group: Group) -> None:
        fractions = []
        for part in group.parts:
            column = self.node(Kind.ADVICE, self.columns)
            self.columns += 1
            below = [self.shifted(lookup.inputs) for lookup in part]
            others = [self.product([*below[:i], *below[i + 1 :]]) for i in range(len(below)) if len(below) > 1]
            above = self.sum(others) if others else self._one()
            self.require(f"lookups of {part[0].name}", self.used, self.less(self.product([column, *below]), above))
            fractions.append(column)
        entry, total = self.node(Kind.ADVICE, self.columns), self.node(Kind.ADVICE, self.columns + 1)
        following = self.node(Kind.ADVICE, self.columns + 1, 1)
        self.columns += 2
        count = self.node(Kind.ADVICE, self.early + number)
        self.require("entries", self.used, self.less(self.product([entry, self.shifted(group.table)]), count))
        step = self.less(self.sum(fractions), entry)
        self.require("lookup sum", self.used, self.less(following, self.node(Kind.ADD, total, step)))
        self.require("first lookup sum", self.first, total)
        self.require("last lookup sum", self.last, total)

    def _one(self) -> int:
        constants = self.plain.constants
        return self.node(Kind.CONSTANT, constants.index(1) if 1 in constants else len(constants))

    def system(self) -> PlonkishSystem:
        plain, rows = self.plain, self.plain.rows
        late = self.columns - plain.advice - self.groups
        phases = (0,) * (self.early + self.groups) + (1,) * (plain.advice - self.early + late)
        marks: list[Column] = [
            column_of(np.ones(rows, np.int64)),
            column_of(np.ones(1, np.int64)),
            column_of(np.eye(1, rows + 1, rows, dtype=np.int64)[0]),
        ]
        copies = plain.copies.copy()
        for side in (0, 2):
            column = copies[:, side]
            after = (column >= plain.advice).astype(np.int32) * late + (column >= self.early) * self.groups
            instance = column >= plain.advice + len(plain.fixed)
            copies[:, side] = column + after + instance * len(marks)
        told = plain.provenance
        names = list(told.columns)
        if names:
            own = [("lookup sums", 0)]
            names = [*names[: self.early], *own * self.groups, *names[self.early :], *own * late]
        return PlonkishSystem(
            plain.field,
            rows + 1,
            phases,
            (*plain.fixed, *marks),
            plain.instance,
            plain.challenges + 2,
            np.array(self.nodes, np.int32),
            plain.constants if 1 in plain.constants else (*plain.constants, 1),
            tuple(self.gates),
            (),
            copies,
            Provenance(told.blocks, tuple(self.places), (), tuple(names)),
        )
