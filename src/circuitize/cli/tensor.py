"""`prove` and `verify` for tensor proofs: no keys, the verifier holds the program; succinct, NOT zero-knowledge."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from circuitize.api.exact import Exact
from circuitize.api.values import program_inputs, require_writable, write_outputs
from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.files import write_whole
from circuitize.circuits.folder import whole_file, whole_folder
from circuitize.circuits.memory import amount_of_bytes, require_memory
from circuitize.provers.expectation import Expectation
from circuitize.provers.openings import KEPT, TENSOR, join, opened, write_openings
from circuitize.provers.statement import FILE, PROOF_FILES, Key, Statement, Unproved, shown_names

from .loading import load_program, program_path
from .output import Phases, print_json, print_table, remark, say
from .prove import kept_rows, openings_path, report_of
from .verdict import ASK_AGAIN, remedy, require_digest, require_outside, verdict

if TYPE_CHECKING:
    from circuitize import _native
    from circuitize.provers.tensor.forms import Trace
    from circuitize.provers.tensor.plan import Plan
    from circuitize.provers.tensor.prover import Proved

NAME = "tensor"
PROOF_FILE = "proof.tensor"
WARNING_FILE = "NOT-ZERO-KNOWLEDGE.txt"
WARNING = "This proof is NOT zero-knowledge: it tells whoever reads it about the values that the statement hides.\n"
BYTES = 32


def prove(options: Namespace) -> int:
    """Write a proof's folder, and what the prover keeps: outputs and the secrets of its commitments."""
    from circuitize.provers.tensor.cost import sizes
    from circuitize.provers.tensor.plan import plan
    from circuitize.provers.tensor.prover import draw_secrets, prove_values, require_consent
    from circuitize.provers.tensor.security import bounds, union

    if options.keys is not None:
        raise CircuitizeError(f"--keys: expected none, found {options.keys}; tensor proofs need no setup")
    openings = openings_path(options)
    phases = Phases()
    with phases.phase("program", "reading the program"):
        loaded = load_program(options.program)
    require_consent(loaded.integer, options.not_zero_knowledge)
    require_writable(loaded.integer.outputs, options.outputs, options.raw_outputs)
    inputs = program_inputs(loaded.integer, options.inputs, remark, options.raw_inputs)
    with ExitStack() as stack:
        folder = stack.enter_context(whole_folder(options.output, FILE, PROOF_FILES))
        with phases.phase("plan", "planning the proof"):
            made = plan(loaded.integer)
            require_memory(sizes(made)["prover_bytes"], "prove a smaller batch, or on a larger machine")
        with phases.phase("witness", "running the program"):
            trace = made.trace(inputs)
            values = made.values(trace)
        known, kept = _joined(made, trace, options)
        salts = draw_secrets(made, known)
        with phases.phase("prove", "proving"):
            proved = prove_values(loaded.integer, made, trace, values, salts=salts, kept=kept)
        _write(folder, loaded, proved)
        if salts:
            drawn, roots = (
                {key: int.from_bytes(content, "big") for key, content in found.items()}
                for found in (salts, proved.statement.roots)
            )
            lists = dict(zip(made.groups, made.lists, strict=True))
            path = stack.enter_context(whole_file(openings, KEPT))
            write_openings(path, TENSOR, loaded.digest, opened(drawn, roots, lists))
        if options.outputs is not None:
            path = stack.enter_context(whole_file(options.outputs))
            write_outputs(path, loaded.integer.outputs, proved.outputs, options.raw_outputs)
    report = report_of(NAME, loaded, proved.proof, phases) | {
        "security_bits": round(union(bounds(made)), 1),
        "extension_degree": made.degree,
        "committed": made.committed,
        "lookups": made.looked_up,
    }
    remark("the proof is NOT zero-knowledge: it tells whoever reads it about the values that it hides")
    if options.json:
        print_json(report)
    else:
        _print(options, report, openings if salts else None)
    return 0


def _joined(
    made: Plan, trace: Trace, options: Namespace
) -> tuple[dict[Key, bytes], dict[Key, _native.TensorCommitment]]:
    """The secrets and the commitments that input groups have from an earlier proof; none without one. See `join`."""
    from circuitize.provers.tensor.prover import commit

    if options.openings_from is None:
        return {}, {}
    commitments: dict[Key, _native.TensorCommitment] = {}

    def root_of(key: Key, salt: int) -> int:
        commitments[key] = commit(made, trace, key, salt.to_bytes(BYTES, "big"))
        return int.from_bytes(commitments[key].root, "big")

    lists = dict(zip(made.groups, made.lists, strict=True))
    joined = join(options.openings_from, TENSOR, lists, root_of, options.join, remark)
    return {key: salt.to_bytes(BYTES, "big") for key, salt in joined.items()}, {key: commitments[key] for key in joined}


def _write(folder: Path, loaded: Exact, proved: Proved) -> None:
    publics = {key: tuple(values.reshape(-1).tolist()) for key, values in proved.statement.publics.items()}
    roots = {key: int.from_bytes(root, "big") for key, root in proved.statement.roots.items()}
    Statement(NAME, loaded.digest, publics, roots).write(folder)
    proved.proof.write(folder / PROOF_FILE)
    write_whole(folder / WARNING_FILE, [WARNING.encode()])


def _print(options: Namespace, report: dict[str, Any], openings: Path | None) -> None:
    say(f"proved {options.program} in {options.output}, NOT zero-knowledge")
    rows = [
        ("digest", report["digest"]),
        ("witness", f"{report['witness_seconds']:.2f} s"),
        ("proof", f"{report['prove_seconds']:.2f} s, {report['cpu_seconds']:.2f} CPU-seconds"),
        ("proof size", amount_of_bytes(report["proof_bytes"])),
        ("security", f"{report['security_bits']:.1f} bits, all rounds together"),
        ("committed", report["committed"]),
        ("lookups", report["lookups"]),
        ("memory", amount_of_bytes(report["peak_bytes"])),
    ]
    print_table([*rows, *kept_rows(options, openings)])


class Verifier:
    """What the verifier of a tensor proof holds: its own program, and the digest that it expects of it.

    Soundness: plan, parameters and the length of every message follow from the program; a proof's folder supplies the
    claim and the messages, which are checked against them. A program inside the proof's folder is refused.
    """

    def __init__(self, proof: Path, keys: Path | None, program: str | None, digest: str | None) -> None:
        from circuitize.provers.tensor.descriptor import PROVER

        if keys is not None:
            raise CircuitizeError(f"--keys: expected none, found {keys}; a tensor proof is checked without a key")
        if digest is not None:
            require_digest(digest)
        if program is None:
            raise CircuitizeError(
                f"{proof}: expected the verifier's own program (--program PROGRAM), found none; a tensor proof is "
                "checked against the program that you made, or that you trust"
            )
        require_outside(program_path(program), proof)
        loaded = load_program(program, integer=True)
        self.program, self.digest = loaded.integer, loaded.digest
        self.expected = digest
        self.bound = PROVER.bound(self.program)
        self.security_bits = 0.0

    def refusal(self, statement: Statement, proof: Path, expectations: Sequence[Expectation] = ()) -> str | None:
        """Why the proof in a folder does not show the statement, or what is expected; None where it does."""
        from circuitize.provers.tensor.cost import most_bytes
        from circuitize.provers.tensor.descriptor import in_arrays
        from circuitize.provers.tensor.plan import plan
        from circuitize.provers.tensor.proof import Proof
        from circuitize.provers.tensor.security import bounds, union
        from circuitize.provers.tensor.verifier import refusal

        if statement.prover != NAME:
            raise FormatError(
                f"{proof / FILE}: expected a proof of {NAME}, found {excerpt(statement.prover)}; give the key of that "
                "prover"
            )
        try:
            if self.expected is not None and self.expected.lower() != self.digest:
                raise Unproved(f"the program is {self.digest}, expected {self.expected.lower()}")
            if statement.digest != self.digest:
                raise Unproved(f"the proof is for program {statement.digest}, expected {self.digest}")
            stated = in_arrays(self.program, statement)
            made = plan(self.program)
            with remedy(ASK_AGAIN):
                found = Proof.read(proof / PROOF_FILE, most_bytes(made))
            self.security_bits = round(union(bounds(made)), 1)
            reason = refusal(self.program, stated, found, made)
            if reason is not None:
                raise Unproved(reason)
            for expectation in expectations:
                expectation.check(statement)
        except Unproved as error:
            return str(error)
        return None

    def report(self, statement: Statement, reason: str | None) -> dict[str, Any]:
        """What --json prints; of a valid proof also the bits of soundness, all rounds together."""
        names = shown_names(self.program, self.bound)
        told = verdict(self.digest, reason, statement, self.bound, names, setup="none", zero_knowledge=False)
        return told if reason is not None else told | {"security_bits": self.security_bits}
