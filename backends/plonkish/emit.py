"""Emitting the Plonkish system of an integer program: emission does not look at any values, and records how the cells
of a run are filled.
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
    """The plan by which a prover fills the cells of a Plonkish system from an integer trace: the variables, task by
    task, and the cells of each.
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
        """Return the names of the salts that a witness needs: `input NAME` or `output NAME` for each committed port."""
        hints = (task.content for task in self.tasks if isinstance(task, Hint))
        return tuple(content.name for content in hints if isinstance(content, Salt))


class Filling:
    """The cells of one run, filled in two steps: phase 0 at once, and phase 1 when the challenges are known."""

    def __init__(self, plan: WitnessPlan, trace: Sequence[NDArray[np.int64]], salts: Mapping[str, int]) -> None:
        self.plan = plan
        self._solver = Solver(plan, trace, salts)
        self._solver.solve(0)

    def first(self) -> list[Limbs]:
        """Return the advice columns of phase 0, each as `uint64[rows, 4]`."""
        return self.plan.layout.fill(self._solver, 0)

    def second(self, challenges: Sequence[int]) -> list[Limbs]:
        """Return the advice columns of phase 1 of the run, given the challenges."""
        self._solver.challenges = [challenge % self.plan.field.prime for challenge in challenges]
        self._solver.solve(1)
        return self.plan.layout.fill(self._solver, 1)

    def salt(self, name: str) -> int:
        """Return the salt of a committed port, by its name in `plan.salts`."""
        return self._solver.number(name)

    def instance(self) -> list[Limbs]:
        """Return the instance columns of the run."""
        return [self._solver.elements(self._solver.read(self.plan.layout.instance))]


@dataclass(frozen=True, eq=False)
class Emission:
    """The Plonkish system of a program, the meaning of its instance values (in order), the plan of its witnesses, and
    the error of its random tests.

    Wrong sums of a contraction pass the tests with a probability of at most challenge_degree / prime, for challenges
    that are drawn at random after phase 0.
    """

    system: PlonkishSystem
    publics: tuple[Public, ...]
    plan: WitnessPlan
    challenge_degree: int

    @cached_property
    def summed(self) -> Summed:
        """Return the system in the form that provers take: lookups become sums of fractions, which adds `summed.degree`
        to the degree of the error.
        """
        return summed(self.system)

    def fill(self, trace: Sequence[NDArray[np.int64]], salts: Mapping[str, int]) -> Filling:
        """Return the cells of a run, given the values of its wires and the salts of its commitments."""
        return Filling(self.plan, trace, salts)


def emit(program: IntegerProgram, k: int | None = None) -> Emission:
    """Return the Plonkish system of an integer program with 2^k rows, the meaning of its public values, and the plan of
    its witnesses.

    If k is not given, it is chosen for the least estimated proving cost (`cost.py`). The instance of a program's
    circuit consists of the outputs in order (for a committed output its digest), the digests of committed inputs, and
    the public inputs. Every input is range-checked to the interval of its format. If the program is undefined on some
    inputs, they have no witness; otherwise they have exactly one for each choice of salts and challenges, except for
    the error that `Emission.challenge_degree` bounds. Emitting a system takes time and memory linear in the number of
    its cells.

    Raise CircuitizeError for a program of the real language, for a program without ports that a proof binds, and for a
    program that does not fit into 2^k rows.
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
