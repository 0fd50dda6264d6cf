"""The places in clocked blocks of a folded design at which the blocks write to memories."""

from __future__ import annotations

from collections.abc import Iterator

from .closures import Compiler
from .compiled import Compiled, Values
from .elaboration import Scope, number
from .folded_circuit import Writing
from .refusal import Refused
from .syntax import Branch, Statement, Store, is_plain
from .word import UNKNOWN, Mixed, Word


class Port:
    """A place in a clocked block at which the block writes to a memory: the conditions of the write, the index of the
    entry, the bits of the entry, and the value.
    """

    def __init__(self, guards: list[tuple[Compiled, int]], index: Compiled, low: int, value: Compiled) -> None:
        self.guards, self.index, self.low = guards, index, low
        self.width, self.value = value.width, value.word
        self.reads = index.reads.union(value.reads, *(guard.reads for guard, _ in guards))

    def open(self, values: Values) -> Word:
        """Return 1 if the port writes, 0 if the port does not write, and an unknown word if the checker does not know
        which.
        """
        found: Word = 1
        for guard, wanted in self.guards:
            bit = guard.word(values)
            if bit.__class__ is int:
                if bit != wanted:
                    return 0
            else:
                found = UNKNOWN
        return found


def ports(compiler: Compiler, name: str, made: Writing) -> Iterator[Port]:
    """Return the places in a clocked block at which a memory is written, in the order in which the writes take
    effect.
    """
    return _stores(compiler, made.body, made.scope, name, [])


def _stores(
    compiler: Compiler, body: tuple[Statement, ...], scope: Scope, name: str, guards: list[tuple[Compiled, int]]
) -> Iterator[Port]:
    for part in body:
        if isinstance(part, Branch):
            condition = compiler.expression(part.condition, scope, 1)
            yield from _stores(compiler, part.yes, scope, name, [*guards, (condition, 1)])
            yield from _stores(compiler, part.no, scope, name, [*guards, (condition, 0)])
        elif isinstance(part, Store) and compiler.circuit.net(part.name, scope) == name:
            low, width = number(part.low, scope), number(part.width, scope)
            index = compiler.expression(part.index, scope)
            if not is_plain(part.index):
                raise Refused(f"{scope.module.name}: {part.name} has an index with an operator")
            if index.signed or low < 0 or width < 1 or low + width > compiler.circuit.nets[name].width:
                raise Refused(f"{scope.module.name}: {part.name} has an index with a sign, or is written past its end")
            yield Port(guards, index, low, compiler.expression(part.value, scope, width))


def compatible(index: Word, width: int, entries: int) -> Iterator[int]:
    """Return the numbers of all entries of a memory that agree with the known bits of an index."""
    known = value = start = 0
    for part, size in index.parts if isinstance(index, Mixed) else ((index, width),):
        if isinstance(part, int):
            known |= ((1 << size) - 1) << start
            value |= part << start
        start += size
    return (place for place in range(entries) if place & known == value)
