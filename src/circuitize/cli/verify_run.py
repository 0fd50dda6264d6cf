"""The command `circuitize verify-run` says whether N consecutive training steps are proved, by the verifier's own
program and seed.
"""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path

from circuitize.api.runs.named import model_named, schedule_named
from circuitize.api.runs.steps import from_step
from circuitize.api.runs.verdict import Course, RunVerdict
from circuitize.api.runs.verifying import verify_pinned, verify_run
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.exact import shown, written

from .loading import load_program, program_path
from .output import print_json, say, show, shown_number
from .run_values import OPTIONS, read_roots, read_scalars, said_of
from .screen import one_line
from .verdict import require_digest, require_outside

REQUIRED = (
    *("digest", "steps", "seed", "examples", "per_proof", "initial_seed", "model", "evaluate", "test", "test_examples"),
    *("schedule", "scalar", "expect"),
)


def run(options: Namespace) -> int:
    """Print the verdict and the statement of the run; return exit status 0 if the run holds, and 1 if it does not."""
    start = time.perf_counter()
    if options.pin is None:
        return told(options, start, *judged(options))
    for name in REQUIRED:
        if getattr(options, name) or options.first != 1:
            option = OPTIONS.option(name if getattr(options, name) else "first")
            raise CircuitizeError(f"{option}: expected none beside --pin, which says what the run must be; give one")
    require_outside(options.pin, options.run)
    return told(options, start, verify_pinned(options.run, options.pin, progress=show), 0.0)


def judged(options: Namespace, pin: Path | None = None) -> tuple[RunVerdict, float]:
    """Return the verdict on a run by the verifier's own program, and the seconds that loading the program took; if the
    run holds, a pin of it is written to the path `pin`.
    """
    start = time.perf_counter()
    require_outside(program_path(options.program), options.run)
    for own in (options.schedule, options.evaluate, options.model):
        if own is not None:
            require_outside(program_path(own), options.run)
    if options.digest is not None:
        require_digest(options.digest)
    program = load_program(options.program, integer=True).integer
    loaded = time.perf_counter() - start
    verdict = verify_run(
        program,
        options.run,
        steps=options.steps,
        first=options.first,
        seed=options.seed,
        examples=options.examples,
        per_proof=options.per_proof,
        evaluate=None if options.evaluate is None else load_program(options.evaluate, integer=True).integer,
        test=options.test,
        test_examples=options.test_examples,
        initial_seed=options.initial_seed,
        model=model_named(options.model, OPTIONS),
        scalars=read_scalars(program, options.scalar),
        schedule=schedule_named(options.schedule, OPTIONS),
        digest=options.digest,
        expect=read_roots(options.expect),
        pin=pin,
        progress=show,
        spelling=OPTIONS,
    )
    return verdict, loaded


def told(options: Namespace, start: float, verdict: RunVerdict, loaded: float) -> int:
    """Print the verdict on a run; return exit status 0 if the run holds, and 1 if it does not."""
    planned = loaded + verdict.plan_seconds if verdict.plan_seconds else 0.0
    taken = {"plan_seconds": round(planned, 4), "seconds": round(time.perf_counter() - start, 4)}
    if options.json:
        print_json(verdict.as_json() | taken)
    elif verdict.reason is None:
        _print(options, verdict, taken["seconds"])
    else:
        say(f"NOT valid: {one_line(verdict.reason)}")
    return 0 if verdict else 1


def _course(name: str, scalar: Course) -> str:
    """Return the line about a scalar of a run: its value, or its first and last values and their number, and whether
    the verifier required them or the run only states them.
    """
    integers, bits = scalar.integers.tolist(), scalar.fraction_bits
    first, last, different = shown(integers[0], bits), shown(integers[-1], bits), len(set(integers))
    same = different == 1
    course = f"is {first} in every step" if same else f"from {first} to {last}, {different:,} different values"
    if scalar.required:
        return f"{name} {course}, as required"
    remedy = f"--scalar {name}={written(integers[0], bits)}" if same else "--schedule FILE.py:NAME"
    return f"{name} {course}, as the run states: give {remedy} to require it"


def _print(options: Namespace, verdict: RunVerdict, seconds: float) -> None:
    *lines, last = lines_of(str(options.run), verdict)
    for line in lines:
        say(line)
    say(f"{last}; {seconds:.2f} s")


def lines_of(run: str, verdict: RunVerdict) -> list[str]:
    """Return the lines that report a run that holds, under the given name."""
    lines = [
        f"valid: {run} proves {verdict.steps:,} consecutive steps{from_step(verdict.first)} of program "
        f"{verdict.digest}, {verdict.kind}",
        f"  batches of {verdict.examples:,} examples by seed {verdict.seed}",
    ]
    if verdict.initial_seed is not None:
        lines.append(f"  begins with what the model draws by initial seed {verdict.initial_seed}")
    lines += [f"  {_course(name, scalar)}" for name, scalar in verdict.scalars.items()]
    for name, root in verdict.roots.items():
        lines.append(f"  {name} {'is' if root == verdict.final.get(name, root) else 'begins as'} {root}")
    lines += [f"  {name} ends as {root}" for name, root in verdict.final.items() if root != verdict.roots[name]]
    for name, public in verdict.publics.items():
        reals = public.tolist()
        lines.append(f"  {name} from {shown_number(reals[0])} to {shown_number(reals[-1])}")
    lines += [f"  {worth}" for worth in said_of(verdict.evaluation)]
    lines.append(f"  {verdict.security_bits:.1f} bits of soundness, all proofs together")
    return lines
