"""The Verilog of a design as nets with their drivers, in the order in which they settle after a clock edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from circuitize.circuits.errors import CircuitizeError

from ..certificate.checker.elaboration import Scope
from ..certificate.checker.folded_circuit import FoldedCircuit
from ..certificate.checker.folded_reading import read_folded
from ..certificate.checker.refusal import Refused
from ..certificate.checker.syntax import Branch, Clocked, Expression, Module, Number, Statement


class Circuit(FoldedCircuit):
    """The nets of a design; unlike those of a certified design, its modules may have numbers of some width as
    parameters, such as a digest.
    """

    def _parameter(self, name: str, value: Expression, scope: Scope, numbers: dict[str, int]) -> None:
        if isinstance(value, Number):
            numbers[name] = value.value
        else:
            super()._parameter(name, value, scope, numbers)


def circuit_of(files: Mapping[str, str], top: str) -> Circuit:
    """Return the nets of a design's Verilog files. Raise CircuitizeError for Verilog outside the subset that the
    checker of certificates reads.
    """
    try:
        modules = [_module(text, name) for name, text in files.items() if name.endswith(".v")]
        return Circuit({module.name: module for module in modules}, top)
    except Refused as error:
        raise CircuitizeError(f"the clock of {top} cannot be estimated: {error}; name no ECP5") from None


SMALL = 1 << 14
"""The most characters of a module that is kept: those that designs have in common are smaller."""


def _module(text: str, name: str) -> Module:
    return _kept(text, name) if len(text) <= SMALL else read_folded(text, name)


@lru_cache(maxsize=256)
def _kept(text: str, name: str) -> Module:
    return read_folded(text, name)


def ordered(circuit: Circuit) -> list[str]:
    """Return the names of all nets, each after the nets that it depends on within a clock."""
    done: dict[str, None] = {}
    for first in circuit.nets:
        front = [(first, False)]
        while front:
            name, left = front.pop()
            if left:
                done[name] = None
            elif name not in done:
                front.append((name, True))
                front += [(read, False) for driver in circuit.nets[name].drivers for read in driver.sources]
    return list(done)


def clocked_blocks(circuit: Circuit) -> Iterator[tuple[tuple[Statement, ...], Scope]]:
    """Yield the statements of each clocked block once, with the scope of their names."""
    found: dict[int, tuple[tuple[Statement, ...], Scope]] = {}
    blocks: Iterable[tuple[Clocked, Scope] | None] = (net.clocked for net in circuit.nets.values())
    for block in blocks:
        if block is not None:
            found.setdefault(id(block[0].body), (block[0].body, block[1]))
    for writing in circuit.written.values():
        found.setdefault(id(writing.body), (writing.body, writing.scope))
    yield from found.values()


def within_branches(body: Iterable[Statement]) -> Iterator[Statement]:
    """Yield the statements of a block, and those of both sides of each branch in its place."""
    for part in body:
        if isinstance(part, Branch):
            yield from within_branches((*part.yes, *part.no))
        else:
            yield part
