"""A program as the circuit of one prover: keys, and proofs of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_folder, whole_folder
from circuitize.circuits.phases import Phases, Progress, silent
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.saved import save
from circuitize.circuits.values import Given
from circuitize.provers.consent import require_consent
from circuitize.provers.contract import Circuit, Prover, ProvingKey, VerifyingKey
from circuitize.provers.keys import KEY_FILES, VERIFYING_FILE
from circuitize.sims.integer import trace

from .exact import Exact, Integers, integers_of
from .proofs import Proof

PROGRAM_FILE = "program.arrow"


@dataclass(frozen=True)
class Keys:
    """The keys of a circuit: a proving key, and the verifying key for verifiers."""

    proving: ProvingKey
    verifying: VerifyingKey

    @property
    def setup(self) -> str:
        """Return the kind of setup that made the keys: `development` (INSECURE: whoever made the keys can prove
        anything) or `ceremony`.
        """
        return self.verifying.setup

    def __repr__(self) -> str:
        insecure = ", INSECURE" if self.setup == "development" else ""
        return f"Keys({self.verifying.prover}, {self.setup}{insecure}, program {self.verifying.digest[:16]}...)"


@dataclass(frozen=True)
class ProvableCircuit:
    """An integer program as a circuit for one prover, which makes keys and proves runs."""

    exact: Exact
    prover: Prover
    circuit: Circuit

    @property
    def digest(self) -> str:
        """Return the program's digest, to which a proof and a key are bound."""
        return self.exact.digest

    @property
    def sizes(self) -> Mapping[str, int]:
        """Return the sizes of the circuit, by the names that its prover uses: constraints, rows, elements."""
        return self.circuit.sizes()

    def insecure_keys(self, folder: Path | str | None = None, *, progress: Progress = silent) -> Keys:
        """Make development keys, which are INSECURE by design: whoever makes them can prove anything.

        The new keys are kept in the folder `folder` if one is given. Raise CircuitizeError if the prover needs no keys.
        """
        if folder is not None:
            return self.setup(Path(folder), {}, Phases(progress))
        with TemporaryDirectory(prefix="circuitize-") as scratch:
            return self.setup(Path(scratch) / "keys", {}, Phases(progress))

    def ceremony_keys(
        self, folder: Path | str, *, ptau: Path | str, zkey: Path | str | None = None, progress: Progress = silent
    ) -> Keys:
        """Make keys from the files of a ceremony, and keep them in `folder`: from prepared powers of tau, and for
        Groth16 from the circuit's .zkey.

        Raise CircuitizeError for a prover that takes no files of a ceremony, and for files that do not fit the circuit.
        """
        files = {"ptau": Path(ptau)} if zkey is None else {"zkey": Path(zkey), "ptau": Path(ptau)}
        self.prover.require_ceremony(files)
        return self.setup(Path(folder), files, Phases(progress))

    def setup(self, folder: Path, ceremony: Mapping[str, Path], phases: Phases) -> Keys:
        """Write a folder that holds keys and the program for which they were made; the folder appears complete or not
        at all.
        """
        with whole_folder(folder, VERIFYING_FILE, KEY_FILES) as whole:
            key = self.circuit.setup(whole, phases, ceremony)
            save(self.exact.integer, whole / PROGRAM_FILE)
        return Keys(key, key.verifying_key)

    def prove(
        self,
        inputs: Mapping[str, Given] | None = None,
        *,
        keys: Keys | None = None,
        openings_from: Path | str | None = None,
        join: Sequence[str] = (),
        not_zero_knowledge: bool = False,
        progress: Progress = silent,
    ) -> Proof:
        """Prove a run on the given inputs, which are real values by name, or, without any, on the first example.

        The argument `openings_from` is a file that `save_openings` wrote: inputs that the file names, or only those
        that `join` names, are committed to with the same roots as in that file. The argument `not_zero_knowledge` asks
        for a proof that hides nothing, if the prover makes such proofs; if the prover makes no other proofs, the
        argument is required for a program that has values to hide. Raise Undefined if the program has no value on the
        inputs, KeyMismatch if the keys belong to another circuit, NotZeroKnowledge if a proof would hide nothing and
        the caller did not consent to that, CircuitizeError if no input joins the openings in the file.
        """
        if not not_zero_knowledge:
            require_consent_to(self.prover, self.exact.integer, "say not_zero_knowledge=True")
        if keys is not None and not isinstance(keys, Keys):
            raise CircuitizeError(
                f"expected keys as insecure_keys gives them, found {type(keys).__name__}; give circuit.insecure_keys()"
            )
        if join and openings_from is None:
            raise CircuitizeError("join: expected openings_from with it, found none; give the file of save_openings")
        if keys is not None and self.prover.ceremony is None:
            raise CircuitizeError(f"expected no keys, found some; {self.prover.name} proofs need no setup: give none")
        earlier = None if openings_from is None else Path(openings_from)
        key = None if keys is None else keys.proving
        # Integers are handed over, so that they are let go when nothing reads them.
        return self.prove_integers(
            integers_of(self.exact.integer, inputs),
            *(key, earlier, join, Phases(progress), progress, not_zero_knowledge),
        )

    def prove_integers(
        self,
        inputs: Mapping[str, Integers],
        key: ProvingKey | None,
        earlier: Path | None,
        only: Sequence[str],
        phases: Phases,
        say: Progress,
        not_zero_knowledge: bool = False,
    ) -> Proof:
        """Prove a run on integers in the formats of the inputs; `say` is called with the names of the inputs that join
        earlier openings.
        """
        circuit = self.circuit.plain() if not_zero_knowledge else self.circuit
        with phases.phase("trace", "running the program"):
            values = trace(circuit.executed, inputs)
        del inputs
        secrets = circuit.draw_secrets(values, earlier, only, say)
        proved = circuit.prove(values, secrets, phases, key)
        return Proof(self.exact, self.prover, proved, circuit.files(proved), circuit.scheme, phases)

    def __repr__(self) -> str:
        name, count = next(iter(self.sizes.items()))
        return f"ProvableCircuit({self.prover.name}, {count:,} {name}, program {self.digest[:16]}...)"


def require_key_folder(path: Path) -> None:
    """Raise CircuitizeError unless a folder of keys can be written at the given path."""
    require_folder(path, VERIFYING_FILE, KEY_FILES)


def require_consent_to(prover: Prover, program: IntegerProgram, consent: str) -> None:
    """Raise NotZeroKnowledge if the prover's proofs hide nothing although the program has values to hide; `consent` is
    the text that says how to allow such proofs.
    """
    if not prover.hides:
        require_consent(program, f"{prover.name} proofs", consent, "use --prover tensor")
