"""`circuitize verify`: whether a proof holds, decided by what the verifier holds, never by the proof's own folder."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.program import Program
from circuitize.circuits.saved import load
from circuitize.provers.expectation import Expectation
from circuitize.provers.names import KEYLESS
from circuitize.provers.statement import (
    FILE,
    Statement,
    Unproved,
    bound_ports,
    public_vector,
    read_statement,
    shown_names,
    stated_prover,
)

from . import tensor
from .expect import read_expectations, values_file
from .loading import PROGRAM_FILE, load_program, program_path
from .output import print_json, progress, remark, say, shown_number
from .provers import Prover, prover_of_key
from .screen import one_line
from .verdict import ASK_AGAIN, RUN_FILE, remedy, require_digest, require_files, require_kind, require_outside, verdict

if TYPE_CHECKING:
    from circuitize.provers.groth16.keys import VerifyingKey


def run(options: Namespace) -> int:
    """Print the verdict and what was proved; 0 where the proof holds, 1 where it does not."""
    start = time.perf_counter()
    require_files(options.proof)
    require_kind(options.proof, FILE, RUN_FILE, ("one proof", "a run of training steps"), "verify-run")
    verifier: Verifier | tensor.Verifier
    if options.prover in KEYLESS or (options.prover is options.keys is None and states_keyless(options.proof)):
        verifier = tensor.Verifier(options.proof, options.keys, options.program, options.digest)
    else:
        verifier = Verifier.gather(options.proof, options.keys, options.program, options.digest, options.prover)
    for path in filter(None, map(values_file, options.expect)):
        require_outside(path, options.proof)
    expectations = read_expectations(options.expect, verifier.program, verifier.bound)
    statement = read_statement(options.proof, verifier.bound)
    reason = verifier.refusal(statement, options.proof, expectations)
    report = verifier.report(statement, reason) | {"seconds": round(time.perf_counter() - start, 4)}
    if report["setup"] == "development":
        remark("the verifying key is a development key: INSECURE, whoever made it can prove anything")
    if options.json:
        print_json(report)
    elif reason is None:
        hiding = "" if report["zero_knowledge"] else ", NOT in zero knowledge"
        say(f"valid: {options.proof} proves a run of program {report['digest']}{hiding}")
        for name, public in report["publics"].items():
            say(f"  {name} = {shown_number(public['reals'])}")
        for name, root in report["roots"].items():
            say(f"  {name} is committed to by {root}")
        if "security_bits" in report:
            say(f"  {report['security_bits']:.1f} bits of soundness, all rounds together; without a setup")
    else:
        say(f"NOT valid: {one_line(reason)}")
    return 0 if reason is None else 1


def states_keyless(proof: Path) -> bool:
    """Whether a proof says that it needs no key. Believing it is safe: the verifier then needs its own program."""
    return stated_prover(proof) in KEYLESS


class Verifier:
    """What the verifier holds: a verifying key, the program it is for, and the digest that both must have.

    Soundness: only `key`, `program` and `digest` decide. They come from the verifier's own paths; a proof's folder
    supplies the claim (statement) and the proof, which are compared and checked against them. A key, or a program,
    found inside the proof's folder is refused, since a prover could have written both for an easier program.
    """

    def __init__(
        self, prover: Prover, key: VerifyingKey, program: Program, program_digest: str, expected: str | None
    ) -> None:
        self.prover = prover
        self.key = key
        self.program = program
        self.digest = program_digest
        self.expected = expected
        self.bound = tuple(bound_ports(program))

    @staticmethod
    def gather(
        proof: Path, keys: Path | None, program: str | None, digest: str | None, prover: str | None = None
    ) -> Verifier:
        """Read what the verifier gives. Raises CircuitizeError where it gives too little, or what the prover gave."""
        if keys is None:
            given = [name for name, value in (("--program", program), ("--digest", digest)) if value is not None]
            raise CircuitizeError(
                f"{proof}: expected the verifier's own key (--keys KEYS), found {' and '.join(given) or 'none'}; a "
                "proof is checked with the verifying key that you made, or that you trust, for this program"
            )
        if digest is not None:
            require_digest(digest)
        require_outside(keys, proof)
        if program is not None:
            require_outside(program_path(program), proof)
        from circuitize.provers.keys import VERIFYING_FILE

        with progress("reading the verifying key"):
            path = keys / VERIFYING_FILE if keys.is_dir() else keys
            require_outside(path, proof)
            checking = prover_of_key(path, prover)
            key = checking.verifying_key(path)
        if program is not None:
            loaded = load_program(program, integer=True)
            return Verifier(checking, key, loaded.integer, loaded.digest, digest)
        beside = path.parent / PROGRAM_FILE
        require_outside(beside, proof)
        own = load(beside, integer=True)
        found = program_digest(own)
        if found != key.digest:
            raise FormatError(
                f"{beside}: expected the program of {path.name}, {key.digest}, found {found}; make the keys again"
            )
        return Verifier(checking, key, own, found, digest)

    def refusal(self, statement: Statement, proof: Path, expectations: Sequence[Expectation] = ()) -> str | None:
        """Why the proof in a folder does not show the statement, or what is expected; None where it does."""
        if statement.prover != self.prover.name:
            keyless = statement.prover in KEYLESS
            other = "it with --program PROGRAM, without --keys" if keyless else "it with a key for that prover"
            raise FormatError(
                f"{proof / FILE}: expected a proof of {self.prover.name}, which the key is for, found one of "
                f"{excerpt(statement.prover)}; verify {other}"
            )
        try:
            self._check(statement, proof)
            for expectation in expectations:
                expectation.check(statement)
        except Unproved as error:
            return str(error)
        return None

    def _check(self, statement: Statement, proof: Path) -> None:
        from circuitize.provers.groth16.config import SCALAR_PRIME

        if self.expected is not None and self.expected.lower() != self.digest:
            raise Unproved(f"the key is for program {self.digest}, expected {self.expected.lower()}")
        if self.digest != self.key.digest:
            raise Unproved(f"the key is for program {self.key.digest}, expected {self.digest}")
        if statement.digest != self.digest:
            raise Unproved(f"the proof is for program {statement.digest}, expected {self.digest}")
        vector = public_vector(self.program, statement, SCALAR_PRIME)
        with remedy(ASK_AGAIN):
            found = self.prover.proof(proof / self.prover.proof_file, self.key)
        reason = self.prover.refusal(found, self.key, vector, self.digest)
        if reason is not None:
            raise Unproved(reason)

    def report(self, statement: Statement, reason: str | None) -> dict[str, Any]:
        """What --json prints."""
        names = shown_names(self.program)
        return verdict(self.digest, reason, statement, self.bound, names, setup=self.key.setup, zero_knowledge=True)
