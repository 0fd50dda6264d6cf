"""The target of the prover Mirage: rank-one constraint systems whose challenge is drawn after a commitment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.reading import Json

from .contract import LeftOut, Shown
from .options import Options
from .provers import OwnCircuit
from .r1cs import sizes_and_soundness

if TYPE_CHECKING:
    from circuitize.circuits.program import IntegerProgram
    from circuitize.sims import agree


class Mirage(OwnCircuit):
    """The circuit of the prover Mirage: it has the same constraints as the R1CS target's, but its range checks are
    lookups; a program without range checks has no such circuit.
    """

    title = "r1cs with a commitment before its challenge: prover mirage"
    measure = "constraints"
    rules_in = "circuitize.backends.r1cs.operations"

    def estimate(self, program: IntegerProgram, options: Options) -> Json:
        from circuitize.backends.r1cs.challenge import Challenge
        from circuitize.backends.r1cs.cost import estimate

        try:
            return estimate(program, challenge=Challenge.COMMITTED)
        except CircuitizeError as error:
            raise LeftOut(str(error)) from None

    def shown(self, sizes: Json) -> Iterator[Shown]:
        yield from sizes_and_soundness(self.title, sizes, "SHA-256", 1 << 253)

    def check(self, program: IntegerProgram) -> agree.Target:
        from circuitize.backends.r1cs.challenge import Challenge
        from circuitize.sims.agree import R1CS

        return R1CS(program, challenge=Challenge.COMMITTED)


mirage = Mirage("mirage")
