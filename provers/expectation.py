"""Expectations: what a verifier requires a proof to state, which is a root, or the integers of a public port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.exact import shown
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

from .statement import Bound, Key, Statement, Unproved, key_text, shown_names


@dataclass(frozen=True)
class Expectation:
    """An expectation of a verifier about a port: its root, or its integers in row-major order, that a proof must
    state.
    """

    name: str
    key: Key
    port: Port[Fixed | None]
    values: tuple[int, ...]

    def check(self, statement: Statement) -> None:
        """Raise Unproved if the statement, which is of the same program, contradicts the expectation."""
        if self.port.visibility is Visibility.COMMITTED:
            (root,) = self.values
            if statement.roots[self.key] != root:
                found = hex(statement.roots[self.key])
                raise Unproved(f"expected {self.name} committed to by {hex(root)}, the proof states {found}")
            return
        stated = statement.publics[self.key]
        differing = [place for place, (a, b) in enumerate(zip(self.values, stated, strict=True)) if a != b]
        if differing:
            place, bits = differing[0], self.port.format.fraction_bits if self.port.format else 0
            element = f" at element {place}" if len(stated) > 1 else ""
            raise Unproved(
                f"expected {self.name} = {shown(self.values[place], bits)}{element}, "
                f"the proof states {shown(stated[place], bits)}"
            )


def port_named(where: str, name: str, program: IntegerProgram, bound: Sequence[Bound]) -> Bound:
    """Return the port that a name denotes, among the ports that a proof binds. Raise CircuitizeError if the name
    denotes no port, or two ports.
    """
    names = shown_names(program, bound)
    named = [(key, port) for key, port in bound if name in (names[key], key_text(key))]
    if len(named) > 1:
        whole = " or ".join(key_text(key) for key, _ in named)
        raise CircuitizeError(f"{where}: expected the name of one port, found {name!r} for two; say {whole}")
    if not named:
        known = ", ".join(names.values())
        raise CircuitizeError(
            f"{where}: expected a public or a committed name among {known}, found {excerpt(name)}; give one of them"
        )
    return named[0]
