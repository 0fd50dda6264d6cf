"""The errors that occur if a Plonkish system, a key and a proof do not fit together."""

from __future__ import annotations

from circuitize.backends.plonkish.system import PlonkishSystem
from circuitize.circuits.errors import CircuitizeError


class Unsatisfied(CircuitizeError):
    """The error raised for a witness that breaks a Plonkish system: it names the gate, lookup or copy by its number
    `place`, and the first broken row `row`.
    """

    def __init__(self, system: PlonkishSystem, what: str, place: int, row: int) -> None:
        named = {"gate": [gate.name for gate in system.gates], "lookup": [lookup.name for lookup in system.lookups]}
        name = f"{what} {place}" + (f" ({named[what][place]})" if what in named else "")
        super().__init__(f"the witness does not satisfy {name} on row {row} (from 0); no proof was made")
        self.what, self.place, self.row = what, place, row
