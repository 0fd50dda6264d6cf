"""What proving whole training steps costs, from the program to the verified proof, for both kinds of circuit.

Usage: python benchmarks/proofs.py [PROGRAM ...] [--prover groth16|mirage|both] [--json]

Each line is one process: rows, CPU-seconds of emission, witness, development setup, proof and verification, the
greatest memory, the bytes of the proving key and of the compressed proof. Groth16 takes plain R1CS; Mirage is Groth16
with a commitment before the circuit's challenge, which takes a quarter of the rows. Times are those of all threads.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = (
    *("iris.py:step", "digits.py:step", "digits_xent.py:step", "digits_xent.py:momentum", "digits_xent.py:adam"),
    *("dense.py:small", "dense.py:large", "mnist_mlp.py:predict", "mnist_mlp.py:step", "mnist_mlp.py:step64"),
)
LARGE = {"mnist_mlp.py:step64"}
"""Only with a commitment, unless asked for by name: seven million rows in plain R1CS."""

PEERS = {
    "digits.py:step": "EZKL 23.0.5, best tuning: prove 9.6 s, setup 8.1 s, key 271 MB, 566 MiB",
    "digits_xent.py:step": "EZKL 23.0.5, default: prove 160 s, key 4.48 GB, 9.9 GiB",
    "mnist_mlp.py:predict": "EZKL 23.0.5: prove 10.3 s, key 277 MB, proof 3,072 bytes (one image; here a batch)",
    "mnist_mlp.py:step": "EZKL 23.0.5, tuned: prove 56.7 s, key 1.44 GB, 2.96 GiB",
}
COLUMNS = ("rows", "emit_s", "witness_s", "setup_s", "prove_s", "verify_s", "peak_gb", "key_mb", "proof_bytes")
T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help=f"default: {' '.join(PROGRAMS)}")
    parser.add_argument("--prover", choices=("groth16", "mirage", "both"), default="both")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.programs[0], options.prover)))
        return
    provers = ("groth16", "mirage") if options.prover == "both" else (options.prover,)
    found = []
    if not options.json:
        print(f"{'program':<26}{'prover':<9}" + "".join(f"{name:>12}" for name in COLUMNS))
    for program in options.programs or PROGRAMS:
        for prover in provers:
            if program in LARGE and prover == "groth16" and not options.programs:
                continue
            command = [sys.executable, __file__, program, "--prover", prover, "--one"]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode:
                sys.exit(f"{program} with {prover}: {run.stderr.strip().splitlines()[-1]}")
            found.append({"program": program, "prover": prover, **json.loads(run.stdout.splitlines()[-1])})
            if not options.json:
                print(f"{program:<26}{prover:<9}" + "".join(shown(found[-1][name]) for name in COLUMNS), flush=True)
        if program in PEERS and not options.json:
            print(f"{'':<26}{PEERS[program]}")
    if options.json:
        print(json.dumps(found))


def shown(value: float) -> str:
    return f"{value:>12,}" if isinstance(value, int) else f"{value:>12.2f}"


def seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def timed(work: Callable[[], T]) -> tuple[T, float]:
    start = seconds()
    return work(), seconds() - start


def measured(name: str, prover: str) -> dict[str, Any]:
    """Everything once, in this process."""
    from circuitize.backends.r1cs.challenge import Challenge
    from circuitize.backends.r1cs.emit import emit
    from circuitize.backends.r1cs.witness import random_salts, witness
    from circuitize.circuits.encode import program_digest
    from circuitize.circuits.quantize import quantize
    from circuitize.provers.groth16 import keys as plain_keys
    from circuitize.provers.groth16 import prover as plain_prover
    from circuitize.provers.groth16 import verifier as plain_verifier
    from circuitize.provers.mirage import keys as mirage_keys
    from circuitize.provers.mirage import prover as mirage_prover
    from circuitize.provers.mirage import verifier as mirage_verifier
    from circuitize.sims import integer

    sys.path.insert(0, str(EXAMPLES))
    file, _, function = name.partition(":")
    module = __import__(file.removesuffix(".py"))
    program = quantize(getattr(module, function)())
    committed = prover == "mirage"
    digest = program_digest(program)
    emission, emit_s = timed(lambda: emit(program, challenge=Challenge.COMMITTED if committed else Challenge.HASHED))
    trace = integer.trace(program, program.examples[0])
    salts = random_salts(emission.plan)
    with tempfile.TemporaryDirectory() as folder:
        setup = mirage_keys.setup if committed else plain_keys.setup
        key, setup_s = timed(lambda: setup(emission.system, digest, Path(folder)))
        key_bytes = (Path(folder) / "proving.key").stat().st_size
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
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "key_mb": key_bytes / 1e6,
        "proof_bytes": len(proof.compressed()),
    }


if __name__ == "__main__":
    main()
