"""Emitting the Plonkish system of an integer program: emission never looks at values, and records how cells are filled
in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.program import IntegerProgram

from ..field import Field, Limbs
from ..lowering import Scope
from ..terminal import Public
from ..values import Salt
from .cost import best
from .lay_out import lay_out
from .layout import Layout
from .lookup_sums import Summed, summed
from .system import PlonkishSystem
from .tasks import Hint
from .witness import Solver, Step


@dataclass(frozen=True, eq=False)
class WitnessPlan:
    """The plan by which a prover fills cells from an integer trace: the variables, task by task, and where each
    stands.
    """

    field: Field
    arrow: Arrow
    scopes: tuple[Scope, ...]
    variables: int
    wide: tuple[tuple[int, int], ...]
    constants: Mapping[int, int]
    tasks: tuple[Step, ...]
    layout: Layout

    @property
    def salts(self) -> tuple[str, ...]:
        """Return the salts a witness needs: `input NAME` or `output NAME` for each committed port."""
        hints = (task.content for task in self.tasks if isinstance(task, Hint))
        return tuple(content.name for content in hints if isinstance(content, Salt))


class Filling:
    """The cells of one run, in two steps: phase 0 at once, phase 1 when the challenges are known."""

    def __init__(self, plan: WitnessPlan, trace: Sequence[NDArray[np.int64]], salts: Mapping[str, int]) -> None:
        self.plan = plan
        self._solver = Solver(plan, trace, salts)
        self._solver.solve(0)

    def first(self) -> list[Limbs]:
        """Return the advice columns of phase 0, `uint64[rows, 4]` each."""
        return self.plan.layout.fill(self._solver, 0)

    def second(self, challenges: Sequence[int]) -> list[Limbs]:
        """Return the advice columns of phase 1, given the challenges."""
        self._solver.challenges = [challenge % self.plan.field.prime for challenge in challenges]
        self._solver.solve(1)
        return self.plan.layout.fill(self._solver, 1)

    def salt(self, name: str) -> int:
        """Return the salt of a committed port, by the name that `plan.salts` gives it."""
        return self._solver.number(name)

    def instance(self) -> list[Limbs]:
        """Return the instance columns of the run."""
        return [self._solver.elements(self._solver.read(self.plan.layout.instance))]


@dataclass(frozen=True, eq=False)
class Emission:
    """A program's system, what its instance holds (in order), the plan of its witnesses, and the error of its tests.

    Wrong sums of a contraction pass with a probability of at most challenge_degree / prime, for challenges drawn at
    random after phase 0.
    """

    system: PlonkishSystem
    publics: tuple[Public, ...]
    plan: WitnessPlan
    challenge_degree: int

    @cached_property
    def summed(self) -> Summed:
        """Return the system as provers take it: lookups as sums of fractions, `summed.degree` more for the
        probability.
        """
        return summed(self.system)

    def fill(self, trace: Sequence[NDArray[np.int64]], salts: Mapping[str, int]) -> Filling:
        """Return the cells of a run."""
        return Filling(self.plan, trace, salts)


def emit(program: IntegerProgram, k: int | None = None) -> Emission:
    """Return the Plonkish system of an integer program with 2^k rows, the meaning of its public values, and its witness
    plan.

    If k is not given, the k of the least estimated proving cost is taken (`cost.py`). The instance holds outputs in
    order (for a committed one its digest), digests of committed inputs, public inputs. Every input is range-checked to
    its format. If the program is undefined no witness exists; otherwise there is exactly one for each choice of salts
    and challenges, up to `Emission.challenge_degree`. Time and memory are linear in the cells.

    Raise CircuitizeError for a program of the real language, one that binds nothing, or one that does not fit 2^k rows.
    """
    layout, publics = lay_out(program, best(program) if k is None else k)
    assembly = layout.assembly
    plan = WitnessPlan(
        assembly.field,
        program.arrow,
        tuple(assembly.scopes),
        assembly.count,
        tuple(assembly.wide),
        dict(assembly.constants),
        tuple(assembly.tasks),
        layout,
    )
    return Emission(layout.system(), publics, plan, assembly.degree)
