"""The circuits of provers, as targets that can prove and make keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from circuitize.circuits.phases import Phases

from .contract import PLAIN, Buildable, Request, Target

if TYPE_CHECKING:
    from circuitize.api.circuits import ProvableCircuit
    from circuitize.api.exact import Exact


class ProverTarget(Buildable["ProvableCircuit"]):
    """A target whose circuit a prover can prove."""

    name: str = ""

    def __init__(self, name: str) -> None:
        self.name = name

    def build(
        self, program: Exact, phases: Phases, request: Request = PLAIN, memory: int | None = None
    ) -> ProvableCircuit:
        """Return the provable circuit of a program; for a tensor proof, `memory` is the greatest number of bytes that
        the prover may use.
        """
        from circuitize.api.circuits import ProvableCircuit
        from circuitize.provers import catalogue

        prover = catalogue.prover(self.name)
        if memory is not None:
            from circuitize.provers.tensor.descriptor import Tensor

            prover = Tensor(memory=memory)
        return ProvableCircuit(program, prover, prover.circuit(program.integer, program.digest, phases))


class OwnCircuit(ProverTarget, Target["ProvableCircuit"]):
    """A target whose circuit only one prover takes; some programs have no such circuit."""

    optional = True


groth16, halo2 = ProverTarget("groth16"), ProverTarget("halo2")
"""The provers that take the circuits of the targets `r1cs` and `plonkish`."""
