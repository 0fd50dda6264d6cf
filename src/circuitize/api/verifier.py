"""Verifiers of single proofs: the verifier's own program and key decide whether a proof holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.folder import require_plain_files
from circuitize.circuits.phases import Phases
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.saved import load
from circuitize.circuits.values import Given
from circuitize.provers import catalogue, names
from circuitize.provers.contract import Prover, VerifyingKey
from circuitize.provers.expectation import Expectation
from circuitize.provers.statement import (
    FILE,
    Bound,
    Statement,
    Unproved,
    bound_ports,
    read_statement,
    shown_names,
    stated_prover,
)

from .exact import Exact, exact
from .expectations import expectations
from .proofs import Proof
from .verdict import Public, Verdict

if TYPE_CHECKING:
    from .weights import Weights


@dataclass(frozen=True)
class Verifier:
    """A verifier of proofs, with all that it brings: its own program, its own key if the prover needs keys, and the
    statements that it expects.

    The field `expected_digest` is the digest that the program must have, if the verifier was given a digest as well as
    a program.

    Soundness: only the verifier's own inputs decide what a valid proof shows. The folder of a proof supplies the
    statement, which is only a claim, and the proof; both are checked against the verifier's own inputs.
    """

    exact: Exact
    prover: Prover
    key: VerifyingKey | None
    expectations: tuple[Expectation, ...] = ()
    expected_digest: str | None = None

    @property
    def bound(self) -> tuple[Bound, ...]:
        """Return the ports and other items about which a proof of the program makes statements."""
        return self.prover.bound(self.exact.integer)

    def check(self, proof: Proof | Path | str) -> Verdict:
        """Return the verdict on a proof, or on the folder in which a proof was saved.

        Raise CircuitizeError if there is no proof of this prover at the path.
        """
        if isinstance(proof, Proof):
            with TemporaryDirectory(prefix="circuitize-") as scratch:
                proof.write(Path(scratch))
                return self.check(scratch)
        if not isinstance(proof, (str, Path)):
            raise CircuitizeError(
                f"expected a proof, or the folder of one, found {type(proof).__name__}; give what prove made"
            )
        folder = Path(proof)
        require_plain_files(folder)
        statement = read_statement(folder, self.bound)
        if statement.prover != self.prover.name:
            remedy = "give the key of that prover" if self.key is None else _remedy(statement.prover)
            holder = "" if self.key is None else ", which the key is for"
            raise FormatError(
                f"{folder / FILE}: expected a proof of {self.prover.name}{holder}, found one of "
                f"{excerpt(statement.prover)}; {remedy}"
            )
        return self._verdict(statement, self._refusal(statement, folder))

    def _refusal(self, statement: Statement, folder: Path) -> str | None:
        digest, what = self.exact.digest, "program is" if self.key is None else "key is for program"
        if self.expected_digest is not None and self.expected_digest.lower() != digest:
            return f"the {what} {digest}, expected {self.expected_digest.lower()}"
        reason = self.prover.refusal(self.exact.integer, digest, statement, folder, self.key)
        if reason is not None:
            return reason
        try:
            for expectation in self.expectations:
                expectation.check(statement)
        except Unproved as error:
            return str(error)
        return None

    def _verdict(self, statement: Statement, reason: str | None) -> Verdict:
        setup, hides = "none" if self.key is None else self.key.setup, statement.zero_knowledge
        if reason is not None:
            return Verdict(False, reason, self.exact.digest, self.prover.name, setup, hides)
        program, bound = self.exact.integer, self.bound
        public = bound_ports(program)
        named = shown_names(program, bound)
        untold = _names_of(program, Visibility.PRIVATE, Visibility.COMMITTED)
        return Verdict(
            True,
            None,
            self.exact.digest,
            self.prover.name,
            setup,
            hides,
            {named[key]: Public.of(port, statement.publics[key]) for key, port in public if key in statement.publics},
            {named[key]: hex(statement.roots[key]) for key, _ in bound if key in statement.roots},
            _names_of(program, Visibility.PRIVATE),
            untold if hides else (),
            self.prover.security_bits(program, hides),
        )


def verifier(
    program: Program | Exact,
    key: VerifyingKey | None = None,
    *,
    prover: str = "tensor",
    expect: Mapping[str, Given] | None = None,
    weights: Weights | None = None,
) -> Verifier:
    """Return a verifier of proofs of a program: it uses a key, or the program alone if the prover needs no keys.

    The argument `prover` names the prover whose proofs are checked without a key; a key itself says to which prover it
    belongs. The argument `expect` gives statements that a proof must make, by name: for a public value a number or an
    array, to be equalled exactly, and for a commitment its root in hexadecimal. The argument `weights` holds roots that
    `accept_weights` found to be in format: a proof must open these roots. Raise CircuitizeError for unknown names, for
    values that their port's format cannot represent, and for a key of another program.
    """
    made = exact(program, Phases())
    if not (key is None or hasattr(key, "digest")):
        raise CircuitizeError(
            f"expected a verifying key, found {type(key).__name__}; give keys.verifying, or none for tensor"
        )
    checking: Prover = catalogue.prover(prover if key is None else key.prover)
    if weights is not None:
        checking = weights.reading(checking, made)
    if key is not None and key.digest != made.digest:
        raise CircuitizeError(f"expected a key for program {made.digest}, found one for {key.digest}; make its keys")
    if key is None and checking.ceremony is not None:
        raise CircuitizeError(f"expected a verifying key of {checking.name}, found none; give keys.verifying")
    return Verifier(made, checking, key, expectations(expect or {}, made.integer, checking.bound(made.integer)))


def program_of_key(path: Path, key: VerifyingKey, file: str) -> Exact:
    """Return the program that setup saved beside the file of a key.

    Raise FormatError if no program lies beside the key, or if the program belongs to other keys.
    """
    own = load(path, integer=True)
    found = program_digest(own)
    if found != key.digest:
        raise FormatError(f"{path}: expected the program of {file}, {key.digest}, found {found}; make the keys again")
    return Exact(own, own, found)


def _names_of(program: IntegerProgram, *visibilities: Visibility) -> tuple[str, ...]:
    """Return the names of the ports that have one of the given visibilities, outputs first."""
    sides = (("output", program.outputs), ("input", program.inputs))
    ports = [((side, port.name), port) for side, ports in sides for port in ports]
    names = shown_names(program, ports)
    return tuple(names[key] for key, port in ports if port.visibility in visibilities)


def keyless_prover(proof: Path) -> str | None:
    """Return the name of the prover that a proof states, if this prover needs no keys and comes with the package.

    Trusting the prover's name in a proof is safe: the verifier has the program, and the package's provers are sound. A
    registered prover may be weaker than the package's own, so the verifier must name it. Raise FormatError if there is
    no proof at the path.
    """
    found = stated_prover(proof)
    return found if found in names.SHIPPED and found not in names.keyed() else None


def _remedy(prover: str) -> str:
    keyless = prover in names.names() and prover not in names.keyed()
    return f"verify it with {'--program PROGRAM, without --keys' if keyless else 'a key for that prover'}"
