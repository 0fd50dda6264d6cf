"""New roots for values that have one, since a root in zero knowledge is made for a number of openings."""

from __future__ import annotations

from collections.abc import Collection

from circuitize.backends.tensor.groups import renewal_program
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import IntegerProgram, Program

from .exact import exact


def renewal(program: Program, groups: Collection[str]) -> IntegerProgram:
    """The integer program that takes the committed inputs of the given groups of a program and returns them.

    A tensor proof of the renewing program shows that two roots hold the same values: one that joins an earlier proof's
    openings, and a new one, which may be opened as often as any new root. The names of groups are `parameters`,
    `optimizer`, `state`, `data`, and ports without such a role by their names. Raise CircuitizeError for a group that
    the program does not have.
    """
    return renewal_program(exact(program, Phases()).integer, groups)
