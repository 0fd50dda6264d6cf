"""A program as one prover's circuit: keys, and proofs of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import whole_folder
from circuitize.circuits.phases import Phases, Progress, silent
from circuitize.circuits.program import Visibility
from circuitize.circuits.saved import save
from circuitize.provers.contract import Circuit, Prover, ProvingKey, VerifyingKey
from circuitize.provers.keys import KEY_FILES, VERIFYING_FILE
from circuitize.provers.tensor.errors import NotZeroKnowledge
from circuitize.sims.integer import trace

from .exact import Exact, integers_of
from .proofs import Proof

PROGRAM_FILE = "program.arrow"


@dataclass(frozen=True)
class Keys:
    """A proving key, and the verifying key that a verifier gets of it."""

    proving: ProvingKey
    verifying: VerifyingKey

    @property
    def setup(self) -> str:
        """`development` (INSECURE: whoever made them can prove anything) or `ceremony`."""
        return self.verifying.setup

    def __repr__(self) -> str:
        insecure = ", INSECURE" if self.setup == "development" else ""
        return f"Keys({self.verifying.prover}, {self.setup}{insecure}, program {self.verifying.digest[:16]}...)"


@dataclass(frozen=True)
class ProvableCircuit:
    """An integer program as the circuit of one prover."""

    exact: Exact
    prover: Prover
    circuit: Circuit

    @property
    def digest(self) -> str:
        """The program's: what a proof and a key are bound to."""
        return self.exact.digest

    @property
    def sizes(self) -> Mapping[str, int]:
        return self.circuit.sizes()

    def insecure_keys(self, folder: Path | str | None = None, *, progress: Progress = silent) -> Keys:
        """Development keys, INSECURE by design: whoever made them can prove anything. Kept in `folder` if one is given.

        Raises CircuitizeError where the prover has no keys.
        """
        phases = Phases(progress)
        if folder is not None:
            with whole_folder(Path(folder), VERIFYING_FILE, KEY_FILES) as whole:
                key = self.circuit.setup(whole, phases)
                save(self.exact.integer, whole / PROGRAM_FILE)
        else:
            with TemporaryDirectory(prefix="circuitize-") as scratch:
                key = self.circuit.setup(Path(scratch), phases)
        return Keys(key, key.verifying_key)

    def prove(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        keys: Keys | None = None,
        openings_from: Path | str | None = None,
        join: Sequence[str] = (),
        not_zero_knowledge: bool = False,
        progress: Progress = silent,
    ) -> Proof:
        """Prove a run on these inputs, real values by name; without any, on the first example.

        `openings_from` is a file that `save_openings` wrote: inputs that are named there, or those that `join` names,
        get the roots that they have there. A prover that hides nothing wants `not_zero_knowledge` for a program
        that hides something. Raises Undefined where the program has no value on the inputs, KeyMismatch where the keys
        are for another circuit, NotZeroKnowledge without that consent, CircuitizeError where nothing joins.
        """
        if not self.prover.hides and not not_zero_knowledge:
            hidden = [port.name for port in self.exact.integer.inputs if port.visibility is not Visibility.PUBLIC]
            if hidden:
                raise NotZeroKnowledge(
                    f"expected public inputs only, found {hidden[0]!r}: {self.prover.name} proofs tell others about "
                    "hidden values; say not_zero_knowledge=True if that is no harm, or take a prover that hides them"
                )
        if keys is not None and not isinstance(keys, Keys):
            raise CircuitizeError(
                f"expected keys as insecure_keys gives them, found {type(keys).__name__}; give circuit.insecure_keys()"
            )
        phases = Phases(progress)
        integers = integers_of(self.exact.integer, inputs)
        with phases.phase("trace", "running the program"):
            values = trace(self.circuit.executed, integers)
        earlier = None if openings_from is None else Path(openings_from)
        secrets = self.circuit.draw_secrets(values, earlier, join, progress)
        proved = self.circuit.prove(values, secrets, phases, None if keys is None else keys.proving)
        return Proof(self.exact, self.prover, proved, self.circuit.files(proved), phases)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{count:,} {name}" for name, count in self.sizes.items())
        return f"ProvableCircuit({self.prover.name}, {sizes}, program {self.digest[:16]}...)"
