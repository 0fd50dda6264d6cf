"""The construction of held files from folders that were checked: a held file is what a verifier without Python holds to
check proofs.

Soundness: a held file is made from a folder that passed the check, and contains the items that were checked: the
statements behind the verdict, and the verifier's own key or plans. The entries of a held file cover all files of the
folder; a reader verifies each proof against its entry, and requires every other byte of the folder to be unchanged. The
proofs of a run are read again after the run was checked: a proof that was not checked is refused, so that a held file
requires only what was checked, even if the folder has changed since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from circuitize.backends.field import BN254
from circuitize.backends.tensor.groups import GroupName
from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.folder import require_plain_files
from circuitize.circuits.phases import Progress, silent
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import read_at_most
from circuitize.provers.contract import VerifyingKey
from circuitize.provers.held import SAME, Entry, encode
from circuitize.provers.keys import VERIFYING_FILE
from circuitize.provers.names import names
from circuitize.provers.statement import Statement, proof_files, public_vector, read_statement
from circuitize.provers.tensor import instance
from circuitize.provers.tensor import statement as stated
from circuitize.provers.tensor.descriptor import in_arrays
from circuitize.provers.tensor.plan import OPENINGS, Plan, plan
from circuitize.provers.tensor.proof import MOST_BYTES, Proof
from circuitize.provers.tensor.runs.files import MAGIC as STEP_MAGIC
from circuitize.provers.tensor.runs.files import MANIFEST, RENEWALS, STEPS, WARNING_FILE, StepProof
from circuitize.provers.tensor.verifier import refusal

from .runs.verdict import RunVerdict
from .runs.verifying import verify_pinned
from .verdict import Verdict
from .verifier import Verifier

READ = ("groth16", "mirage", "halo2", "tensor")
"""The provers whose proofs the Rust verifiers read."""


def hold_proof(verifier: Verifier, folder: Path | str, said: Callable[[Verdict], list[str]]) -> tuple[Verdict, bytes]:
    """Return the verdict on a proof's folder, and the content of its held file, which is empty if the proof does not
    hold.

    The function `said` turns the verdict into the lines of text that a reader of the held file shows if the folder's
    proofs hold. Raise CircuitizeError for a prover whose proofs only Python can read, and for a folder with files that
    `prove` did not write.
    """
    name = verifier.prover.name
    if name not in READ:
        raise CircuitizeError(f"expected a proof of {', '.join(READ)}, found {name}; only Python verifies that one")
    path = Path(folder)
    require_plain_files(path)
    others = {f"proof.{other}" for other in names()} - {verifier.prover.proof_file}
    with TemporaryDirectory(prefix="circuitize-") as scratch:
        # One reading of every file, so that what is checked is what is held.
        own = Path(scratch)
        for file in _files(path):
            if file not in proof_files(path) or file in others:
                raise CircuitizeError(f"{path}: expected a proof's folder, found {excerpt(file)} in it; take it out")
            (own / file).write_bytes(_content(path / file))
        verdict = verifier.check(own)
        if not verdict.valid:
            return verdict, b""
        statement = read_statement(own, verifier.bound)
        parts = _parts(verifier.exact.integer, statement, verifier.key)
        entries = [
            Entry(file, name, b"", parts)
            if file == verifier.prover.proof_file
            else Entry(file, SAME, (own / file).read_bytes())
            for file in _files(own)
        ]
    return verdict, encode(said(verdict), entries)


def hold_run(
    folder: Path | str, pin: Path | str, said: Callable[[RunVerdict], list[str]], *, progress: Progress = silent
) -> tuple[RunVerdict, bytes]:
    """Return the verdict on a run's folder according to a pin, and the content of the folder's held file, which is
    empty if the run does not hold.
    """
    path, judged = Path(folder), _Judged()
    verdict = verify_pinned(path, pin, progress=progress, judge=judged)
    if not verdict.valid:
        return verdict, b""
    entries = [judged.entry(path, file) for file in _files(path)]
    found = sum(entry.kind != SAME for entry in entries)
    if found != len(judged.instances):
        raise CircuitizeError(f"{path}: expected {len(judged.instances)} proofs, found {found} now; check it again")
    return verdict, encode(said(verdict), entries)


class _Judged:
    """A verifier of tensor proofs that keeps, for each proof that holds, the statement, plan and key against which the
    proof was checked.
    """

    def __init__(self) -> None:
        self.instances: dict[bytes, tuple[bytes, ...]] = {}
        self.plans: dict[int, tuple[Plan, bytes]] = {}

    def __call__(
        self,
        program: IntegerProgram,
        statement: stated.Statement,
        proof: Proof,
        made: Plan,
        context: bytes = b"",
        trusted: Mapping[GroupName, bytes] | None = None,
    ) -> str | None:
        reason = refusal(program, statement, proof, made, context, trusted)
        if reason is None:
            known = self.plans.get(id(made))
            given = (program, statement, made, context, trusted, None if known is None else known[1])
            parts = instance.parts(*given)
            # The plan is kept with its bytes, so that no other gets its id.
            self.plans[id(made)] = made, parts[1]
            self.instances[_name(proof)] = parts
        return reason

    def entry(self, folder: Path, file: str) -> Entry:
        """Return the entry of a held file that stands for a file of the run's folder. Raise CircuitizeError for a file
        of the folder that was not checked.
        """
        if file not in (MANIFEST, WARNING_FILE) and not file.endswith(".proof"):
            raise CircuitizeError(f"{folder}: expected a run's folder, found {excerpt(file)} in it; take it out")
        content = _content(folder / file)
        if not file.endswith(".proof"):
            return Entry(file, SAME, content)
        proof = StepProof.decode(content).proof if content.startswith(STEP_MAGIC[:16]) else Proof.decode(content)
        parts = self.instances.get(_name(proof))
        if parts is None:
            raise CircuitizeError(f"{folder / file}: expected a proof of the run, found another; take it out")
        return Entry(file, "tensor", content.removesuffix(proof.encode()), [parts])


def _name(proof: Proof) -> bytes:
    """Return a name by which a held file distinguishes a proof from all others."""
    return hashlib.sha256(proof.encode()).digest()


def _content(path: Path) -> bytes:
    return read_at_most(path, MOST_BYTES, "a file of a proof", "ask for it again")


def _parts(program: IntegerProgram, statement: Statement, key: VerifyingKey | None) -> list[tuple[bytes, ...]]:
    """Return the arguments that the verifier of a prover takes to check that a proof shows a statement."""
    if key is None:
        made = plan(program)
        made = made.hiding(OPENINGS) if statement.zero_knowledge else made
        return [instance.parts(program, in_arrays(program, statement), made)]
    with TemporaryDirectory(prefix="circuitize-") as scratch:
        path = Path(scratch) / VERIFYING_FILE
        key.write(path)
        written = path.read_bytes()
    publics = BN254.from_integers(public_vector(program, statement, BN254.prime)).tobytes()
    return [(written,), (publics,)]


def _files(folder: Path) -> list[str]:
    """Return the paths of all files in a folder, and in the folders that a run has in it. Raise CircuitizeError for a
    file that belongs neither to a run nor to a proof.
    """
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name not in (STEPS, RENEWALS):
                raise CircuitizeError(f"{folder}: expected no folder {excerpt(path.name)} in it; take it out")
            found += [f"{path.name}/{inner.name}" for inner in sorted(path.iterdir())]
        else:
            found.append(path.name)
    return found
