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
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = (
    *("digits.py:step", "digits_xent.py:step", "mnist_mlp.py:predict", "mnist_mlp.py:predict,private"),
    *("mnist_mlp.py:step", "matmul.py:product"),
)
PEERS = {
    "digits.py:step": "EZKL 23.0.5, best tuning: prove 9.6 s, setup 8.1 s, key 271 MB, 566 MiB",
    "digits_xent.py:step": "EZKL 23.0.5, default: prove 160 s, key 4.48 GB, 9.9 GiB",
    "mnist_mlp.py:predict": "EZKL 23.0.5: prove 10.3 s, key 277 MB, proof 3,072 bytes",
    "mnist_mlp.py:step": "EZKL 23.0.5, tuned: prove 56.7 s, key 1.44 GB, 2.96 GiB",
    "matmul.py:product": "EZKL 23.0.5: prove 35 s",
}
COLUMNS = ("k", "advice", "emit_s", "witness_s", "setup_s", "prove_s", "verify_s", "peak_gb", "key_mb", "proof_bytes")
T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help=f"default: {' '.join(PROGRAMS)}")
    parser.add_argument("--k", type=int, help="rows: 2^k (default: the least estimated cost)")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.programs[0], options.k)))
        return
    found = []
    if not options.json:
        print(f"{'program':<30}" + "".join(f"{name:>12}" for name in COLUMNS))
    for program in options.programs or PROGRAMS:
        chosen = [] if options.k is None else ["--k", str(options.k)]
        command = [sys.executable, __file__, program, *chosen, "--one"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            sys.exit(f"{program}: {run.stderr.strip().splitlines()[-1]}")
        found.append({"program": program, **json.loads(run.stdout.splitlines()[-1])})
        if not options.json:
            print(f"{program:<30}" + "".join(shown(found[-1][name]) for name in COLUMNS), flush=True)
            peer = PEERS.get(program.partition(",")[0])
            if peer:
                print(f"{'':<30}{peer}")
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


def measured(name: str, k: int | None) -> dict[str, Any]:
    """Everything once, in this process."""
    from circuitize.backends.plonkish.emit import Filling, emit
    from circuitize.backends.plonkish.witness import random_salts
    from circuitize.circuits.encode import program_digest
    from circuitize.circuits.program import Visibility
    from circuitize.circuits.quantize import quantize
    from circuitize.provers.halo2 import keys, prover, verifier
    from circuitize.sims import integer

    sys.path.insert(0, str(EXAMPLES))
    named, _, private = name.partition(",")
    file, _, function = named.partition(":")
    made = getattr(__import__(file.removesuffix(".py")), function)()
    if private:
        held, fed = Visibility.PRIVATE, Visibility.PUBLIC
        made = made.with_visibility(**{port.name: held if port.held else fed for port in made.inputs})
    program = made if made.is_integer else quantize(made)
    digest = program_digest(program)
    emission, emit_s = timed(lambda: emit(program, k))
    summed, sums_s = timed(lambda: emission.summed)
    trace = integer.trace(program, program.examples[0])
    filling, witness_s = timed(lambda: summed.fill(Filling(emission.plan, trace, random_salts(emission.plan))))
    with tempfile.TemporaryDirectory() as folder:
        key, setup_s = timed(lambda: keys.setup(summed.system, digest, Path(folder)))
        key_bytes = (Path(folder) / keys.PROVING_FILE).stat().st_size
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
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "key_mb": key_bytes / 1e6,
        "proof_bytes": len(proof.encode()),
    }


if __name__ == "__main__":
    main()
