"""The operations of the integer language that have no value for some values of the types that they accept."""

from circuitize.circuits.operation import Operation

from .check import Check
from .indexing import Gather, ScatterAdd

PARTIAL: frozenset[type[Operation]] = frozenset({Check, Gather, ScatterAdd})
"""A program is undefined where one of these is, whether or not anything reads its result."""
