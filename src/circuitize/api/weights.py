"""Frozen weights, which no step changes: they are committed to once and shown to be in format once, and many proofs
then read them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from circuitize.backends.tensor.groups import INPUT, format_program, frozen_groups
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_folder, whole_folder
from circuitize.circuits.phases import Phases, Progress, silent
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.values import Given
from circuitize.provers.contract import Prover
from circuitize.provers.openings import Opening, left_of, write_openings
from circuitize.provers.statement import FILE, Key
from circuitize.provers.tensor.descriptor import Tensor

from .circuits import ProvableCircuit
from .exact import Exact, Integers, exact, integers_of
from .proofs import openings_file, require_new_openings
from .verdict import Verdict
from .verifier import Verifier

BYTES = 32


@dataclass(frozen=True)
class Weights:
    """The roots of a program's groups of frozen inputs, each with a proof that its values are in format.

    The field `security_bits` of committed weights is the soundness of the proofs of formats, by group.
    """

    roots: Mapping[str, bytes]
    security_bits: Mapping[str, float]
    folder: Path

    @property
    def kept(self) -> Path:
        """Return the path of the file with the secrets of the roots and the number of openings that each root has left,
        which is for the prover alone.
        """
        return kept_file(self.folder)

    def reading(self, prover: Prover, program: Exact) -> Tensor:
        """Return the prover of tensor proofs that open the roots of the committed weights, as verifiers need it.

        Raise CircuitizeError for another prover than that of tensor proofs, and for a program with other groups of
        frozen inputs.
        """
        if prover.name != Tensor.name:
            raise CircuitizeError(f"expected tensor proofs with weights apart, found {prover.name}; give no weights")
        _require_groups(program.integer, self.roots)
        return Tensor(self.roots, shown=self.security_bits)

    def left(self) -> dict[str, int | None]:
        """Return how often each root may still be opened, by group; the number is None if the root hides nothing."""
        return {name: left for (_, name), left in left_of(self.kept).items()}

    def proving(self, program: Program | Exact, *, memory: int | None = None) -> ProvableCircuit:
        """Return the circuit of a program, for proofs that open the roots of the committed weights. Raise
        CircuitizeError if one of the roots may not be opened any more.

        If a proof needs more bytes than `memory`, which is by default the machine's memory, the CircuitizeError says
        what would fit.

        The program's frozen inputs must equal those of the committed program: other values, names or formats are
        refused when a proof is made.
        """
        spent = [name for name, left in self.left().items() if left == 0]
        if spent:
            raise CircuitizeError(
                f"{self.kept}: expected openings left of {', '.join(self.roots)}, found {spent[0]} opened as often as "
                "its root was made for; once more would tell of its values: commit to the weights again"
            )
        made = exact(program, Phases())
        _require_groups(made.integer, self.roots)
        prover = Tensor(self.roots, self.kept, memory)
        return ProvableCircuit(made, prover, prover.circuit(made.integer, made.digest, Phases()))


def kept_file(folder: Path) -> Path:
    """Return the path of the file of secrets beside a folder, however the folder's path is spelled: `.` and `..` are
    resolved first, because they are not names.
    """
    named = Path(os.path.normpath(folder))
    named = Path(os.path.abspath(folder)) if named.name in ("", "..") else named
    return named.with_name(f"{named.name}.openings.json")


def commit_weights(
    program: Program | Exact,
    folder: Path | str,
    inputs: Mapping[str, Given] | None = None,
    *,
    integers: Mapping[str, Integers] | None = None,
    not_zero_knowledge: bool = False,
    memory: int | None = None,
    progress: Progress = silent,
) -> Weights:
    """Commit to the frozen inputs of a program, and write for each group a proof that the committed values are in
    format.

    The folder `folder` is for verifiers; the file FOLDER.openings.json beside it contains the prover's secrets. The
    committed values are `inputs`, or `integers` of the inputs' formats, or by default the values of the first example.
    Raise CircuitizeError, before any work, for a program without frozen inputs, if either path exists already, and if a
    proof of formats needs more than `memory` bytes.
    """
    made, path = exact(program, Phases(progress)), Path(os.path.normpath(folder))
    require_new(path)
    wanted = frozen_program(made).inputs
    values = integers_of(made.integer, inputs, wanted) if integers is None else integers
    circuits = {group: _circuit(_formats(made.integer, group), memory) for group in frozen_groups(made.integer)}
    kept: dict[Key, Opening] = {}
    with ExitStack() as stack:
        whole = stack.enter_context(whole_folder(path, FILE, ()))
        secrets = stack.enter_context(openings_file(kept_file(path)))
        for group in circuits:
            proof = circuits[group].prove_integers(
                {port.name: values[port.name] for port in circuits[group].exact.integer.inputs},
                *(None, None, (), Phases(progress), silent, not_zero_knowledge),
            )
            (kept[INPUT, group],) = proof.openings.values()
            (whole / group).mkdir()
            proof.write(whole / group)
        write_openings(secrets, proof.scheme, made.digest, kept)
    return accept_weights(made, path)


def require_new(folder: Path) -> None:
    """Raise CircuitizeError if the files of roots or secrets cannot be written, or exist already."""
    whole = Path(os.path.normpath(folder))
    require_new_openings(kept_file(whole))
    require_folder(whole, FILE, ())


def accept_weights(program: Program | Exact, folder: Path | str) -> Weights:
    """Return the roots that the proofs in `folder` show to be commitments to this program's frozen inputs, with values
    in format.

    Soundness: the groups, programs and plans are those of the verifier's own program; only the proofs come from the
    folder, and they are checked. Raise CircuitizeError if a proof of a root is missing or does not hold.
    """
    made, path = exact(program, Phases()), Path(folder)
    found, verdicts = judged(made, path)
    for group, verdict in verdicts.items():
        if not verdict.valid:
            raise CircuitizeError(
                f"{path / group}: expected a proof that the weights of {group} are in format, found that "
                f"{verdict.reason}; commit to the weights of this program"
            )
    return found


def judged(made: Exact, folder: Path) -> tuple[Weights, Mapping[str, Verdict]]:
    """Return the roots that the proofs in `folder` show, and the verdict on the proof of each group: callers must look
    at all verdicts.
    """
    roots, verdicts = {}, {}
    frozen_program(made)
    for group in frozen_groups(made.integer):
        own = _formats(made.integer, group)
        verdict = verdicts[group] = Verifier(own, Tensor(), None).check(folder / group)
        if verdict.valid:
            (root,) = verdict.roots.values()
            roots[group] = int(root, 16).to_bytes(BYTES, "big")
    bits = {group: verdict.security_bits or 0.0 for group, verdict in verdicts.items()}
    return Weights(roots, bits, folder), verdicts


def _formats(program: IntegerProgram, group: str) -> Exact:
    """Return the program whose proof shows that a group's root commits to values in format."""
    own = replace(format_program(program, {group}), examples=())
    return Exact(own, own, program_digest(own))


def _circuit(own: Exact, memory: int | None) -> ProvableCircuit:
    prover = Tensor(memory=memory)
    return ProvableCircuit(own, prover, prover.circuit(own.integer, own.digest, Phases()))


def frozen_program(made: Exact) -> IntegerProgram:
    """Return the program that takes the frozen inputs of a program and has no outputs. Raise CircuitizeError if the
    program has no frozen inputs.
    """
    groups = frozen_groups(made.integer)
    if not groups:
        raise CircuitizeError(
            "expected a program with committed inputs that are frozen, found none; freeze its model: "
            "model.freeze(apart=True)"
        )
    return format_program(made.integer, groups)


def _require_groups(program: IntegerProgram, roots: Mapping[str, bytes]) -> None:
    found = frozen_groups(program)
    if set(found) != set(roots):
        raise CircuitizeError(
            f"expected a program whose frozen inputs are the groups {', '.join(roots)}, found "
            f"{', '.join(found) or 'none'}; commit to the weights of this program"
        )
