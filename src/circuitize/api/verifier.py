"""Verifiers: what one holds decides whether a proof does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.exact import units
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import Port, Program, Raw, Visibility, to_reals
from circuitize.provers import catalogue
from circuitize.provers.contract import Prover, VerifyingKey
from circuitize.provers.expectation import Expectation, port_named
from circuitize.provers.statement import Key, Statement, Unproved, read_statement, shown_names

from .exact import Exact, Reals, exact
from .proofs import Proof

ROOT = re.compile(r"0[xX][0-9a-fA-F]{1,64}")


@dataclass(frozen=True)
class Verdict:
    """Whether a proof holds, and what it says if it does; of one that does not, nothing that it states is here.

    `publics` are real numbers by name, `roots` commitments in hexadecimal. `unbound` are the ports about which the
    proof says only that there are such values; `hidden` are those whose values it does not tell.
    """

    valid: bool
    reason: str | None
    digest: str
    prover: str
    setup: str
    publics: Mapping[str, Reals] = field(default_factory=dict)
    roots: Mapping[str, str] = field(default_factory=dict)
    unbound: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    security_bits: float | None = None

    def __bool__(self) -> bool:
        return self.valid

    def __repr__(self) -> str:
        if not self.valid:
            return f"Verdict(NOT valid: {self.reason})"
        publics = ", ".join(f"{name} = {value}" for name, value in self.publics.items() if value.size == 1)
        said = f", {publics}" if publics else ""
        setup = ", development keys: INSECURE" if self.setup == "development" else ""
        hiding = "" if self.hidden else ", NOT zero-knowledge"
        return f"Verdict(valid, {self.prover}{hiding}{setup}, program {self.digest[:16]}...{said})"


@dataclass(frozen=True)
class Verifier:
    """What a verifier holds: its own program, its own key where the prover has keys, and what it expects."""

    exact: Exact
    prover: Prover
    key: VerifyingKey | None
    expectations: tuple[Expectation, ...]

    def check(self, proof: Proof | Path | str) -> Verdict:
        """The verdict on a proof, or on the folder that one was saved in.

        Raises CircuitizeError where there is no proof of this prover to check.
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
        statement = read_statement(folder, self.prover.bound(self.exact.integer))
        if statement.prover != self.prover.name:
            raise CircuitizeError(
                f"{folder}: expected a proof of {self.prover.name}, found one of {statement.prover}; verify it as such"
            )
        return self._verdict(statement, self._refusal(statement, folder))

    def _refusal(self, statement: Statement, folder: Path) -> str | None:
        reason = self.prover.refusal(self.exact.integer, self.exact.digest, statement, folder, self.key)
        if reason is not None:
            return reason
        try:
            for expectation in self.expectations:
                expectation.check(statement)
        except Unproved as error:
            return str(error)
        return None

    def _verdict(self, statement: Statement, reason: str | None) -> Verdict:
        program = self.exact.integer
        setup = "none" if self.key is None else self.key.setup
        if reason is not None:
            return Verdict(False, reason, self.exact.digest, self.prover.name, setup)
        bound = self.prover.bound(program)
        names = shown_names(program, bound)
        private = tuple(port.name for port in _ports(program) if port.visibility is Visibility.PRIVATE)
        told = tuple(port.name for port in _ports(program) if port.visibility is not Visibility.PUBLIC)
        return Verdict(
            True,
            None,
            self.exact.digest,
            self.prover.name,
            setup,
            {names[key]: _reals(port, statement.publics[key]) for key, port in bound if key in statement.publics},
            {names[key]: hex(statement.roots[key]) for key, _ in bound if key in statement.roots},
            private,
            told if self.prover.hides else (),
            self.prover.security_bits(program),
        )


def verifier(program: Program, key: VerifyingKey | None = None, *, expect: Mapping[str, Any] | None = None) -> Verifier:
    """A verifier of proofs of this program: by its key, or by the program alone where the prover has no keys.

    `expect` says what a proof must state, by name: a public value as a number or an array, exactly; a commitment as its
    root in hexadecimal. Raises CircuitizeError for other names, values that are none of the format, and the
    key of another program.
    """
    made = exact(program, Phases())
    if not (key is None or hasattr(key, "digest")):
        raise CircuitizeError(
            f"expected a verifying key, found {type(key).__name__}; give keys.verifying, or none for tensor"
        )
    prover = catalogue.prover("tensor" if key is None else key.prover)
    if key is not None and key.digest != made.digest:
        raise CircuitizeError(f"expected a key for program {made.digest}, found one for {key.digest}; make its keys")
    bound = prover.bound(made.integer)
    wanted = [_expectation(name, value, made.integer, bound) for name, value in (expect or {}).items()]
    twice = next((one.name for at, one in enumerate(wanted) if one.key in {other.key for other in wanted[:at]}), None)
    if twice is not None:
        raise CircuitizeError(f"expect: expected each port once, found {twice} by two names; give it once")
    return Verifier(made, prover, key, tuple(wanted))


def _ports(program: Program) -> tuple[Port, ...]:
    return (*program.inputs, *program.outputs)


def _reals(port: Port, values: tuple[int, ...]) -> Reals:
    assert port.format is not None
    return to_reals(port.format, np.array(values, np.int64).reshape(port.format.shape))


def _expectation(name: str, value: Any, program: Program, bound: Sequence[tuple[Key, Port]]) -> Expectation:
    key, port = port_named("expect", name, program, bound)
    if port.visibility is Visibility.COMMITTED:
        return Expectation(name, key, port, (_root(name, value),))
    assert port.format is not None
    raw = isinstance(value, Raw)
    try:
        numbers = np.asarray(value.array if isinstance(value, Raw) else value)
    except ValueError:
        raise CircuitizeError(
            f"expect {name}: expected an array, found rows of different lengths; even them out"
        ) from None
    found = units(f"expect {name}", port.format, numbers, raw)
    return Expectation(name, key, port, tuple(int(one) for one in found.reshape(-1)))


def _root(name: str, value: Any) -> int:
    if isinstance(value, str) and ROOT.fullmatch(value):
        return int(value, 16)
    raise CircuitizeError(
        f"expect {name}: expected a commitment's root such as '0x2f...', found {excerpt(value)}; give the verdict's"
    )
