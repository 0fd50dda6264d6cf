"""The command `circuitize train` trains without proofs, with checkpoints, metrics and the roots of a run that proves
the training later.
"""

from __future__ import annotations

import shlex
from argparse import Namespace
from fractions import Fraction

import numpy as np

from circuitize.api.exact import Exact
from circuitize.api.runs.named import dataset_named, model_named, schedule_named
from circuitize.api.training.folder import DATASET, INITIAL, PROGRAM
from circuitize.api.training.pictures import draw_metrics
from circuitize.api.training.promised import RUN
from circuitize.api.training.train import Trained, train
from circuitize.api.values import write_npz
from circuitize.circuits.folder import require_file
from circuitize.circuits.port import Role

from .loading import load_program
from .output import print_json, print_table, remark, say, show
from .run_values import OPTIONS, read_scalars


def run(options: Namespace) -> int:
    """Train, or resume an interrupted training; return exit status 0 when every step is done."""
    require_file(options.outputs)
    program = load_program(options.program, options=options)
    made = train(
        program,
        options.output,
        seed=options.seed,
        steps=options.steps,
        epochs=options.epochs,
        dataset=dataset_named(options.dataset, options.target, options.unscaled, spelling=OPTIONS),
        inputs=None if options.initial_seed else options.inputs or [],
        raw_inputs=options.raw_inputs,
        scalars=read_scalars(program.integer, options.scalar),
        schedule=schedule_named(options.schedule, OPTIONS),
        executor=options.executor,
        device=options.device,
        evaluate=None if options.evaluate is None else load_program(options.evaluate).given,
        test=dataset_named(options.test, spelling=OPTIONS),
        every=options.every,
        initial_seed=options.initial_seed,
        model=model_named(options.model, OPTIONS),
        record=options.record,
        roots=not options.no_roots,
        per_proof=options.per_proof,
        not_zero_knowledge=options.not_zero_knowledge,
        progress=show,
        say=remark,
        spelling=OPTIONS,
    )
    if options.outputs is not None:
        write_npz(options.outputs, made.outputs)
    picture = draw_metrics(made.folder, remark)
    proving = _proving(options, program, made) if made.roots else None
    if options.json:
        print_json(made.as_json() | {"prove": proving, "picture": None if picture is None else str(picture)})
        return 0
    say(f"trained {made.steps:,} steps of {options.program} in {options.output}")
    rows: list[tuple[str, object]] = [
        ("digest", made.digest),
        ("seed", made.seed),
        ("examples", made.examples),
        *((name, f"{value:.6g}") for name, value in made.last.items() if name not in ("step", "epoch")),
        *((name, f"begins as {root}") for name, root in made.roots.items()),
        *((name, f"ends as {root}") for name, root in made.final.items()),
        *([("curves", picture)] if picture is not None else []),
    ]
    print_table(rows)
    if proving is not None:
        say(f"  prove it: {proving}")
    return 0


def _proving(options: Namespace, program: Exact, made: Trained) -> str:
    """Return the command line that proves the training as a run."""
    folder = options.output
    said = {text.partition("=")[0]: text.partition("=")[2] for text in options.scalar}
    if options.schedule is None:
        for port in program.integer.inputs:
            if port.role is Role.SCALAR and port.name not in said:
                number = Fraction(float(np.asarray(program.integer.examples[0][port.name])))
                said[port.name] = str(number)
    words = ["circuitize", "prove-run", folder / PROGRAM, "--steps", made.steps, "--seed", made.seed]
    words += ["--dataset", folder / DATASET]
    if options.initial_seed is not None:
        words += ["--initial-seed", options.initial_seed, "--model", options.model]
    else:
        words += ["--inputs", folder / INITIAL, "--raw-inputs"]
    words += [] if options.schedule is None else ["--schedule", options.schedule]
    words += [word for name, value in said.items() for word in ("--scalar", f"{name}={value}")]
    words += [] if options.per_proof is None else ["--per-proof", options.per_proof]
    words += ["--not-zero-knowledge"] if options.not_zero_knowledge else []
    return shlex.join(map(str, [*words, "-o", folder / RUN]))
