"""Laying out an integer program in columns and rows, from which the whole Plonkish system follows."""

from __future__ import annotations

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram

from ..terminal import Public, require_provable
from .assembly import Assembly
from .layout import BLINDING, Layout
from .lowering import Lowering
from .ports import Terminal, shown

SMALLEST, LARGEST = 4, 24
"""The least and the greatest k for which a program can be laid out in 2^k rows."""


def lay_out(program: IntegerProgram, k: int) -> tuple[Layout, tuple[Public, ...]]:
    """Return the layout of a program with 2^k rows and the meaning of its public values, which is everything that
    `emit` decides before it builds the system.
    """
    require_provable(program)
    if not SMALLEST <= k <= LARGEST:
        raise CircuitizeError(f"expected k from {SMALLEST} to {LARGEST}, found {k}; leave it to the search")
    assembly = Assembly(limb_bits=min(k - 2, 16), table_rows=(1 << k) - BLINDING)
    inputs, outputs = Terminal.of(program)
    entered = [terminal.enter(assembly) for terminal in inputs]
    results = Lowering(assembly, program.arrow).run(entered)
    publics, instance = shown(assembly, inputs, entered, outputs, results)
    assembly.require_room()
    return Layout(assembly, instance, k), publics
