"""What a program is compiled to: a descriptor for each target, whose type says what can be done with the circuit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases, Progress, silent
from circuitize.circuits.program import Program
from circuitize.provers import catalogue
from circuitize.provers.names import keyed

from .circuits import ProvableCircuit
from .exact import Exact, exact

C = TypeVar("C", covariant=True)
Made = TypeVar("Made")


class Target(Protocol[C]):
    """Something that programs are compiled to."""

    @property
    def name(self) -> str: ...

    def build(self, program: Exact, phases: Phases) -> C: ...


@dataclass(frozen=True)
class ProverTarget:
    """The circuit of a prover."""

    name: str

    def build(self, program: Exact, phases: Phases) -> ProvableCircuit:
        prover = catalogue.prover(self.name)
        return ProvableCircuit(program, prover, prover.circuit(program.integer, program.digest, phases))


groth16, mirage, halo2, tensor_proof = (ProverTarget(name) for name in ("groth16", "mirage", "halo2", "tensor"))


def compile(program: Program, target: Target[Made], *, progress: Progress = silent) -> Made:
    """Quantize a program and lower it to a target: to a prover's circuit, which has `prove`.

    Raises CircuitizeError for a program that the target cannot hold, naming operation, source line and remedy.
    """
    if not hasattr(target, "build"):
        known = ", ".join(f"cz.{name}" for name in (*keyed(), "tensor_proof"))
        raise CircuitizeError(f"expected a target ({known}), found {target!r}; import circuitize as cz, and name one")
    phases = Phases(progress)
    return target.build(exact(program, phases), phases)
