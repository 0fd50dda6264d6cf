"""Plans of the digits network beside what is built: fronts, counts, seconds, bytes, and errors on data held out.

python tests/support/planned_digits.py proves three points of each prover's front, and prints what is told and measured.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from example_modules import example

import circuitize as cz
from circuitize.api.planning.formats import errors, exact_outputs
from circuitize.api.planning.front import Planned
from circuitize.api.planning.point import Point
from circuitize.circuits.program import Program
from circuitize.frontends.datasets import digits as digits_split
from circuitize.sims import real

digits = example("digits")

STEPS = 256
LEARNING_RATE = 0.1
WITHIN = 1.5
"""What is predicted is off by this factor at most."""


@dataclass(frozen=True)
class Asked:
    """A query, and the program it is of."""

    program: Program
    objectives: tuple[str, ...]
    options: Mapping[str, Any]

    def answer(self) -> Planned:
        return cz.plan(self.program, self.objectives, **self.options)


@cache
def queries() -> dict[str, Asked]:
    """The queries of docs/plan.md: hardware of a prediction; tensor proofs of a run, and Mirage's, of a step.

    Each takes about ten processor seconds; on a busy machine the clock allows more.
    """
    given: dict[str, Any] = {"within": 600}
    step, predict, size = digits.step(), digits.predict(), len(digits_split(seed=0).train_labels)
    return {
        "verilog": Asked(predict, ("cycles", "luts", "error"), {**given, "targets": ["verilog"]}),
        "tensor": Asked(
            step, ("seconds", "bytes", "error"), {**given, "targets": ["tensor"], "steps": STEPS, "dataset_size": size}
        ),
        "mirage": Asked(step, ("seconds", "rows", "error"), {**given, "targets": ["mirage"]}),
    }


def held_out(name: str) -> tuple[Program, list[dict[str, Any]]]:
    """The program, and inputs on which it was not calibrated: training images, and other moments of the training."""
    split = digits_split(seed=0)
    if name == "verilog":
        program = digits.predict()
        weights = {port.name: program.examples[0][port.name] for port in program.inputs if port.held}
        return program, [{**weights, "inputs": image[None]} for image in split.train_inputs[::4]]
    program = digits.step()
    recipe = replace(digits.RECIPE, epochs=30)
    moments = real.record(program, cz.start(program, digits.MODEL, seed=0), recipe.batches(split), count=241)
    return program, [dict(moment) for moment in moments[7::15]]


def spread(planned: Planned) -> list[Point]:
    """Three points of a front: its ends and its middle."""
    return [planned.points[place] for place in (0, len(planned.points) // 2, -1)]


def measured(point: Point) -> tuple[float, int]:
    """The processor seconds and the bytes of all proofs of a point, made."""
    if point.target == "tensor":
        return _run(point)
    circuit = cz.compile(point.program, cz.mirage)
    keys = circuit.insecure_keys()
    proofs = [circuit.prove(keys=keys) for _ in range(3)]
    return min(proof.phases.cpu_seconds["prove"] for proof in proofs), proofs[0].size


def _run(point: Point) -> tuple[float, int]:
    split, program = digits_split(seed=0), point.program
    with TemporaryDirectory() as folder:
        made = cz.prove_run(
            program,
            Path(folder) / "run",
            steps=point.steps,
            seed="5eed",
            dataset={"inputs": split.train_inputs, "targets": split.train_targets},
            inputs=cz.start(program, digits.MODEL, seed=0),
            scalars={"learning_rate": LEARNING_RATE},
            per_proof=int(point.choices["per_proof"]),
        )
        bytes = sum(path.stat().st_size for path in made.folder.rglob("*") if path.is_file())
    return made.phases.cpu_seconds["prove"], bytes


def error_elsewhere(name: str, point: Point) -> float:
    """A point's error on inputs on which nothing was calibrated."""
    program, examples = held_out(name)
    return errors(point.program, examples, exact_outputs(program, examples))["error"]


def near(told: float, found: float) -> bool:
    """Whether a prediction is within the factor."""
    return told == found or (min(told, found) > 0 and max(told, found) / min(told, found) <= WITHIN)


def main() -> None:
    for name, asked in queries().items():
        began = time.monotonic(), time.process_time()
        planned = asked.answer()
        wall, cpu = time.monotonic() - began[0], time.process_time() - began[1]
        print(f"{name}: {planned!r}, {planned.let_go} let go, {cpu:.1f} CPU-seconds, {wall:.1f} by the clock")
        for line in planned.shown():
            print(f"  {line}")
        for point in spread(planned):
            print(f"  {point}: error {point.takes['error']:.4g}, held out {error_elsewhere(name, point):.4g}")
            if name != "verilog":
                seconds, bytes = measured(point)
                told = point.takes
                print(f"    {told['seconds']:.3f} s, measured {seconds:.3f}; {told['bytes']:,.0f} bytes, {bytes:,}")


if __name__ == "__main__":
    main()
