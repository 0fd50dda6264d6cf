"""`circuitize prove-run`: prove N consecutive training steps, each on what the one before left; NOT zero-knowledge."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from circuitize.api.values import require_writable, write_outputs
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file, whole_file
from circuitize.circuits.memory import amount_of_bytes, require_memory

from .loading import load_program
from .output import Phases, print_json, print_table, remark, say, show
from .prove import peak_bytes
from .run_cost import require_room
from .run_values import dataset, from_step, initial_values, scalars, seed_bytes

if TYPE_CHECKING:
    from circuitize.provers.tensor.runs.proving import Proving
    from circuitize.provers.tensor.runs.setting import Run


def run(options: Namespace) -> int:
    """Write a run's folder, or go on with one that was interrupted; 0 when every step is proved."""
    from circuitize.provers.tensor.cost import sizes
    from circuitize.provers.tensor.prover import require_consent
    from circuitize.provers.tensor.runs.checking import security_bits
    from circuitize.provers.tensor.runs.continuing import earlier
    from circuitize.provers.tensor.runs.files import MANIFEST
    from circuitize.provers.tensor.runs.proving import prove_run, require_new
    from circuitize.provers.tensor.runs.setting import Run
    from circuitize.provers.tensor.runs.state import kept_beside

    kept = kept_beside(options.output)
    _require_one_beginning(options)
    if options.outputs is not None and options.outputs.resolve().is_relative_to(options.output.resolve()):
        raise CircuitizeError(f"{options.outputs}: expected a path outside {options.output}, which is for others")
    if options.outputs is not None and options.outputs.resolve() == kept.resolve():
        raise CircuitizeError(f"--outputs: expected another file than {kept}, with which an interrupted run goes on")
    for path in (kept, options.outputs):
        require_file(path)
    if not (options.output / MANIFEST).exists():
        require_new(options.output, kept)
    phases = Phases()
    with phases.phase("program", "reading the program"):
        loaded = load_program(options.program)
    require_consent(loaded.integer, options.not_zero_knowledge)
    held = [port for port in loaded.integer.inputs if port.held]
    require_writable(held, options.outputs, options.raw_outputs)
    before = None if options.after is None else earlier(options.after, kept_beside(options.after))
    seed = seed_bytes(options.seed) if before is None or options.seed is not None else before.manifest.seed
    data = dataset(loaded.integer, options.dataset)
    setting = Run(
        loaded.integer,
        next(iter(data.values())).shape[0],
        options.steps,
        seed,
        scalars(loaded.integer, options.schedule, options.scalar),
        options.per_proof,
        1 if before is None else before.next,
    )
    with phases.phase("plan", "planning the proofs"):
        assert setting.plan.native and setting.formats_plan.native
        predicted = sizes(setting.plan)
        needed = max(predicted["prover_bytes"], sizes(setting.formats_plan)["prover_bytes"])
        require_memory(needed, "prove fewer steps at once, a smaller batch, or on a larger machine")
    proof_bytes, seconds = predicted["proof_bytes"], predicted["prover_cpu_seconds"]
    require_room(options.output, setting.steps, setting.per_proof, proof_bytes, seconds)
    with phases.phase("prove", "proving"):
        found = prove_run(
            setting,
            before or initial_values(loaded.integer, options.inputs, options.raw_inputs),
            data,
            options.output,
            kept,
            lambda step: show(f"proved step {step} of {setting.last}"),
        )
    if options.outputs is not None:
        with whole_file(options.outputs) as path:
            write_outputs(path, held, found.held, options.raw_outputs)
    report = _report(setting, found, phases) | {"security_bits": round(security_bits(setting), 1)}
    remark("the proofs are NOT zero-knowledge: they tell whoever reads them about the values that they hide")
    if options.json:
        print_json(report)
    else:
        _print(options, report, kept)
    return 0


def _require_one_beginning(options: Namespace) -> None:
    """Raises CircuitizeError unless a run begins with values of its own and a seed, or where another one ended."""
    if options.after is None and options.seed is None:
        raise CircuitizeError("--seed: expected 1 to 64 bytes in hexadecimal, found none; take 32 from a beacon")
    if options.after is not None and (options.inputs is not None or options.raw_inputs):
        raise CircuitizeError("--inputs: expected none beside --after, whose run says what is begun with; give one")
    if options.after is not None and options.after.resolve() == options.output.resolve():
        raise CircuitizeError(f"--after: expected another folder than {options.output}; give each run its own")


def _report(setting: Run, found: Proving, phases: Phases) -> dict[str, Any]:
    proved = len(found.seconds) * setting.per_proof
    steady = sorted(found.seconds)[len(found.seconds) // 2] / setting.per_proof if found.seconds else 0.0
    return {
        "prover": "tensor",
        "digest": setting.digest,
        "run": found.identity.hex(),
        "first": setting.first,
        "steps": setting.steps,
        "per_proof": setting.per_proof,
        "resumed_after": found.resumed,
        "examples": setting.size,
        "seed": setting.seed.hex(),
        "roots": {name: f"0x{root.hex()}" for name, root in found.roots.items()},
        "final": {name: f"0x{root.hex()}" for name, root in found.final.items()},
        "seconds_per_step": round(steady, 5),
        "cpu_seconds_per_step": round(sum(found.cpu_seconds) / proved, 5) if proved else 0.0,
        "bytes_per_step": round(sum(found.proof_bytes) / proved) if proved else 0,
        "proof_bytes": sum(found.proof_bytes),
        "peak_bytes": peak_bytes(),
        "parts_seconds": {name: round(spent, 4) for name, spent in found.phases.items()},
        "phases": phases.as_json(),
        "zero_knowledge": False,
    }


def _print(options: Namespace, report: dict[str, Any], kept: Path) -> None:
    steps = f"{report['steps']:,} steps{from_step(report['first'])}"
    say(f"proved {steps} of {options.program} in {options.output}, NOT zero-knowledge")
    rows: list[tuple[str, object]] = [
        ("digest", report["digest"]),
        ("seed", report["seed"]),
        ("examples", report["examples"]),
        ("step", f"{report['seconds_per_step']:.4f} s (median), {report['cpu_seconds_per_step']:.4f} CPU-seconds"),
        ("bytes", f"{amount_of_bytes(report['bytes_per_step'])} a step, {amount_of_bytes(report['proof_bytes'])}"),
        ("security", f"{report['security_bits']:.1f} bits, all proofs together"),
        ("memory", amount_of_bytes(report["peak_bytes"])),
        *((name, f"begins as {root}") for name, root in report["roots"].items() if name in report["final"]),
        *((name, f"ends as {root}") for name, root in report["final"].items()),
        ("data", report["roots"]["data"]),
        ("kept", f"{kept} (secret: keep it, never send it)"),
    ]
    print_table(rows)
