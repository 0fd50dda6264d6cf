"""The renewal of roots: in zero knowledge a root may be opened only a limited number of times, after which its values
need a new root.
"""

from __future__ import annotations

from collections.abc import Collection

from circuitize.backends.tensor.groups import renewal_program
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import IntegerProgram, Program

from .exact import exact


def renewal(program: Program, groups: Collection[str]) -> IntegerProgram:
    """Return an integer program that takes the committed inputs in the given groups of a program and returns them
    unchanged.

    A tensor proof of the returned program shows that two roots hold the same values: an old root, whose openings an
    earlier proof saved, and a new root, which may be opened as often as any new root. The names of groups are
    `parameters`, `optimizer`, `state` and `data`; a port without such a role is a group under its own name. Raise
    CircuitizeError for a group that the program does not have.
    """
    return renewal_program(exact(program, Phases()).integer, groups)
