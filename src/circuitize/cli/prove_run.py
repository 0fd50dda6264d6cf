"""The command `circuitize prove-run` proves N consecutive training steps, each on the values that the previous step
left.
"""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.runs.data import held
from circuitize.api.runs.named import dataset_named, model_named, schedule_named
from circuitize.api.runs.proving import ProvedRun, kept_file, prove_run, require_beginning
from circuitize.api.values import require_writable, write_outputs
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file, whole_file
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.reading import Json

from .loading import load_program
from .output import Phases, print_json, print_table, remark, say, show
from .prove import peak_bytes
from .run_values import OPTIONS, read_scalars, said_of


def run(options: Namespace) -> int:
    """Write the folder of a run, or continue an interrupted run; return exit status 0 when every step is proved."""
    kept = kept_file(options.output)
    begun = options.inputs or options.raw_inputs or None
    require_beginning(options.output, options.seed, begun, options.after, OPTIONS)
    if options.outputs is not None and options.outputs.resolve().is_relative_to(options.output.resolve()):
        raise CircuitizeError(f"{options.outputs}: expected a path outside {options.output}, which is for others")
    if options.outputs is not None and options.outputs.resolve() == kept.resolve():
        raise CircuitizeError(f"--outputs: expected another file than {kept}, with which an interrupted run goes on")
    require_file(options.outputs)
    phases = Phases()
    with phases.phase("program", "reading the program"):
        program = load_program(options.program, options=options).integer
    require_writable(held(program), options.outputs, options.raw_outputs)
    # Without files as an empty list: what is said of the first example is then said as of --inputs.
    made = prove_run(
        program,
        options.output,
        steps=options.steps,
        seed=options.seed,
        dataset=dataset_named(options.dataset, options.target, options.unscaled, spelling=OPTIONS),
        inputs=None if options.after or options.initial_seed else options.inputs or [],
        raw_inputs=options.raw_inputs,
        scalars=read_scalars(program, options.scalar),
        schedule=schedule_named(options.schedule, OPTIONS),
        per_proof=options.per_proof,
        memory=options.memory,
        losses=options.losses,
        evaluate=None if options.evaluate is None else load_program(options.evaluate).integer,
        test=options.test,
        public_test=options.public_test,
        initial_seed=options.initial_seed,
        model=model_named(options.model, OPTIONS),
        after=options.after,
        not_zero_knowledge=options.not_zero_knowledge,
        ray=options.ray,
        progress=show,
        say=remark,
        spelling=OPTIONS,
    )
    if options.outputs is not None:
        with whole_file(options.outputs) as path:
            write_outputs(path, held(program), made.held, options.raw_outputs)
    report = _report(made) | {"phases": phases.as_json() | made.phases.as_json()}
    if not made.zero_knowledge:
        remark("the proofs are NOT zero-knowledge: they tell whoever reads them about the values that they hide")
    if options.json:
        print_json(report)
    else:
        _print(options, report, made)
    return 0


def _report(made: ProvedRun) -> Json:
    proved = made.steps - made.resumed
    steady = sorted(made.seconds)[len(made.seconds) // 2] / made.per_proof if made.seconds else 0.0
    judged = {} if made.evaluation is None else {"evaluation": made.evaluation.as_json()}
    return judged | {
        "prover": "tensor",
        "digest": made.digest,
        **made.as_json(),
        "resumed_after": made.resumed,
        "seconds_per_step": round(steady, 5),
        "cpu_seconds_per_step": round(sum(made.cpu_seconds) / proved, 5) if proved else 0.0,
        "bytes_per_step": round(sum(made.proof_bytes) / proved) if proved else 0,
        "proof_bytes": sum(made.proof_bytes),
        "peak_bytes": peak_bytes(),
        "parts_seconds": {name: round(spent, 4) for name, spent in made.parts_seconds.items()},
        "zero_knowledge": made.zero_knowledge,
        "security_bits": round(made.security_bits, 1),
    }


def _print(options: Namespace, report: Json, made: ProvedRun) -> None:
    say(f"proved {made.extent} of {options.program} in {options.output}, {made.kind}")
    rows: list[tuple[str, object]] = [
        ("digest", made.digest),
        ("seed", made.seed),
        ("examples", made.examples),
        ("step", f"{report['seconds_per_step']:.4f} s (median), {report['cpu_seconds_per_step']:.4f} CPU-seconds"),
        ("bytes", f"{amount_of_bytes(report['bytes_per_step'])} a step, {amount_of_bytes(report['proof_bytes'])}"),
        ("security", f"{made.security_bits:.1f} bits, all proofs together"),
        ("memory", amount_of_bytes(report["peak_bytes"])),
        *((name, f"begins as {root}") for name, root in made.roots.items() if root != made.final.get(name)),
        *((name, f"ends as {root}") for name, root in made.final.items() if root != made.roots[name]),
        *(("worth", worth) for worth in said_of(made.evaluation)),
        *([("data", made.roots["data"])] if made.roots["data"] == made.final["data"] else []),
        ("kept", f"{made.kept} (secret: keep it, never send it)"),
    ]
    print_table(rows)
