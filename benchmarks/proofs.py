"""What proving whole training steps costs, from the program to the verified proof, for both kinds of circuit.

Usage: python benchmarks/proofs.py [PROGRAM ...] [--prover groth16|mirage|both] [--json]

Each line is one process: rows, CPU-seconds of emission, witness, development setup, proof and verification, the
greatest memory, the bytes of the proving key and of the compressed proof. Groth16 takes plain R1CS; Mirage is Groth16
with a commitment before the circuit's challenge, which takes a quarter of the rows. Times are those of all threads.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import Measurement, example, peak, table, timed

PROGRAMS = (
    *("iris.py:step", "digits.py:step", "digits_xent.py:step", "digits_xent.py:momentum", "digits_xent.py:adam"),
    *("dense.py:small", "dense.py:large", "mnist_mlp.py:predict", "mnist_mlp.py:step", "mnist_mlp.py:step64"),
)
LARGE = {"mnist_mlp.py:step64"}
"""Only with a commitment, unless asked for by name: seven million rows in plain R1CS."""

COLUMNS = ("rows", "emit_s", "witness_s", "setup_s", "prove_s", "verify_s", "peak_gb", "key_mb", "proof_bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help=f"default: {' '.join(PROGRAMS)}")
    parser.add_argument("--prover", choices=("groth16", "mirage", "both"), default="both")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(figures(options.programs[0], options.prover)))
        return
    provers = ("groth16", "mirage") if options.prover == "both" else (options.prover,)
    runs = [
        Measurement(program, ["--prover", prover], prover)
        for program in options.programs or PROGRAMS
        for prover in provers
        if options.programs or prover == "mirage" or program not in LARGE
    ]
    table(__file__, runs, COLUMNS, options.json)


def figures(name: str, prover: str) -> dict[str, Any]:
    """Everything once, in this process."""
    from circuitize.backends.r1cs.challenge import Challenge
    from circuitize.backends.r1cs.emit import emit
    from circuitize.backends.r1cs.witness import random_salts, witness
    from circuitize.circuits.encode import program_digest
    from circuitize.circuits.quantize import quantize
    from circuitize.provers.groth16 import keys as plain_keys
    from circuitize.provers.groth16 import prover as plain_prover
    from circuitize.provers.groth16 import verifier as plain_verifier
    from circuitize.provers.keys import PROVING_FILE
    from circuitize.provers.mirage import keys as mirage_keys
    from circuitize.provers.mirage import prover as mirage_prover
    from circuitize.provers.mirage import verifier as mirage_verifier
    from circuitize.sims import integer

    program = quantize(example(name))
    committed = prover == "mirage"
    digest = program_digest(program)
    emission, emit_s = timed(lambda: emit(program, challenge=Challenge.COMMITTED if committed else Challenge.HASHED))
    trace = integer.trace(program, integer.rounded(program, program.examples[0]))
    salts = random_salts(emission.plan)
    key: Any
    proof: Any
    with tempfile.TemporaryDirectory() as folder:
        setup = mirage_keys.setup if committed else plain_keys.setup
        key, setup_s = timed(lambda: setup(emission.system, digest, Path(folder)))
        key_bytes = (Path(folder) / PROVING_FILE).stat().st_size
    made: list[Any] = []
    spent: list[float] = []

    def fill(draw: Callable[[Any], int]) -> Any:
        drawing: list[float] = []

        def timed_draw(first: Any) -> int:
            value, cost = timed(lambda: draw(first))
            drawing.append(cost)
            return value

        found, cost = timed(lambda: witness(emission.plan, trace, salts, timed_draw))
        made.append(found)
        spent.append(cost - sum(drawing))
        return found

    if committed:
        proof, prove_s = timed(lambda: mirage_prover.prove(emission.system, fill, key, digest))
        prove_s -= spent[0]
        publics = mirage_prover.public_values(emission.system, made[0])
        refusal, verify_s = timed(lambda: mirage_verifier.refusal(proof, key.verifying_key, publics, digest))
    else:
        fill(lambda first: 0)
        proof, prove_s = timed(lambda: plain_prover.prove(emission.system, made[0], key, digest))
        publics = plain_prover.public_values(emission.system, made[0])
        refusal, verify_s = timed(lambda: plain_verifier.refusal(proof, key.verifying_key, publics, digest))
    assert refusal is None, refusal
    return {
        "rows": emission.system.constraints,
        "emit_s": emit_s,
        "witness_s": spent[0],
        "setup_s": setup_s,
        "prove_s": prove_s,
        "verify_s": verify_s,
        "peak_gb": peak() / 1e9,
        "key_mb": key_bytes / 1e6,
        "proof_bytes": len(proof.compressed()),
    }


if __name__ == "__main__":
    main()
