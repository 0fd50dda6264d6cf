"""What halo2 proofs of whole programs cost, beside the peer's best figures.

Usage: python benchmarks/halo2.py [PROGRAM ...] [--k K] [--json]

PROGRAM,private is a program whose weights are private and all else public, as the peer proves inference; otherwise
visibilities are the program's own. Each line is one process: rows and columns, CPU-seconds of emission, witness,
development setup, proof (the second phase of the witness included) and verification, the greatest memory, the bytes of
the proving key and of the proof. Times are those of all threads.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from measuring import Measurement, example, peak, table, timed

PROGRAMS = (
    *("digits.py:step", "digits_xent.py:step", "mnist_mlp.py:predict", "mnist_mlp.py:predict,private"),
    *("mnist_mlp.py:step", "matmul.py:product"),
)
COLUMNS = ("k", "advice", "emit_s", "witness_s", "setup_s", "prove_s", "verify_s", "peak_gb", "key_mb", "proof_bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help=f"default: {' '.join(PROGRAMS)}")
    parser.add_argument("--k", type=int, help="rows: 2^k (default: the least estimated cost)")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(figures(options.programs[0], options.k)))
        return
    rows = [] if options.k is None else ["--k", str(options.k)]
    runs = [Measurement(program, rows) for program in options.programs or PROGRAMS]
    table(__file__, runs, COLUMNS, options.json)


def figures(name: str, k: int | None) -> dict[str, Any]:
    """Everything once, in this process."""
    from circuitize.backends.plonkish.emit import Filling, emit
    from circuitize.backends.plonkish.witness import random_salts
    from circuitize.circuits.encode import program_digest
    from circuitize.circuits.port import Visibility
    from circuitize.circuits.quantize import quantize
    from circuitize.provers.halo2 import keys, prover, verifier
    from circuitize.provers.keys import PROVING_FILE
    from circuitize.sims import integer

    named, _, private = name.partition(",")
    made = example(named)
    if private:
        held, fed = Visibility.PRIVATE, Visibility.PUBLIC
        made = made.with_visibility(**{port.name: held if port.held else fed for port in made.inputs})
    program = quantize(made)
    digest = program_digest(program)
    emission, emit_s = timed(lambda: emit(program, k))
    summed, sums_s = timed(lambda: emission.summed)
    trace = integer.trace(program, integer.rounded(program, program.examples[0]))
    filling, witness_s = timed(lambda: summed.fill(Filling(emission.plan, trace, random_salts(emission.plan))))
    with tempfile.TemporaryDirectory() as folder:
        key, setup_s = timed(lambda: keys.setup(summed.system, digest, Path(folder)))
        key_bytes = (Path(folder) / PROVING_FILE).stat().st_size
    proof, prove_s = timed(lambda: prover.prove(summed.system, filling, key, digest))
    publics = prover.public_values(filling)
    refusal, verify_s = timed(lambda: verifier.refusal(proof, key.verifying_key, publics, digest))
    assert refusal is None, refusal
    return {
        "k": key.verifying_key.native.k,
        "rows": summed.system.rows,
        "advice": summed.system.advice,
        "lookups": len(emission.system.lookups),
        "degree": key.verifying_key.native.degree,
        "emit_s": emit_s + sums_s,
        "witness_s": witness_s,
        "setup_s": setup_s,
        "prove_s": prove_s,
        "verify_s": verify_s,
        "peak_gb": peak() / 1e9,
        "key_mb": key_bytes / 1e6,
        "proof_bytes": len(proof.encode()),
    }


if __name__ == "__main__":
    main()
