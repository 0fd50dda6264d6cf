"""What tensor proofs cost, in tests/golden/tensor.csv so that changes show in review; estimates equal the plan's."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from cli_programs import run
from example_programs import example
from golden_files import GOLDEN
from tensor_proofs import entering, example_inputs, planned, refusals
from tiers import TIER

from circuitize.backends.tensor.forms import Column
from circuitize.backends.tensor.groups import INPUT, input_groups
from circuitize.provers.tensor import cost
from circuitize.provers.tensor.config import DEGREES
from circuitize.provers.tensor.cost import HELD, estimate, proof_bytes, sizes, work
from circuitize.provers.tensor.plan import OPENINGS, plan
from circuitize.provers.tensor.prover import commit, prove_values

PROGRAMS = [
    *("iris.py:step", "digits.py:step", "digits_xent.py:step", "digits_xent.py:momentum", "digits_xent.py:adam"),
    *("cnn.py:step", "mnist_mlp.py:step", "mnist_mlp.py:step64"),
]
TRIED = ("iris.py:step", "digits.py:step")
"""In `make test`; the others have another loss, optimiser or layer, or more elements."""
FIELDS = ("committed", "lookups", "proof_bytes")


def test_costs_are_golden(golden: Callable[[str, str | bytes], None], request: pytest.FixtureRequest) -> None:
    """Each program by itself, and as a step of a run."""
    lines = ["program," + ",".join([*FIELDS, *(f"run_{field}" for field in FIELDS)])]
    kept = (GOLDEN / "tensor.csv").read_text().splitlines()
    everything = TIER == "deep" or request.config.getoption("--update-golden")
    for place, name in enumerate(PROGRAMS, 1):
        if not everything and name not in TRIED:
            lines.append(kept[place])
            continue
        program = example(name).integer
        alone, step = plan(program), plan(program, assumed=HELD.intersection(input_groups(program)))
        assert step.looked_up + step.committed < alone.looked_up + alone.committed
        found = [sizes(alone)[field] for field in FIELDS] + [sizes(step)[field] for field in FIELDS]
        lines.append(",".join([f"examples/{name}", *map(str, found)]))
    golden("tensor.csv", "\n".join(lines) + "\n")


def test_parts_add_up() -> None:
    """Every committed element and every lookup belongs to a port, to an operation at its place, or to the tables."""
    program, made = planned("digits.py:step")
    found = estimate(program)
    for field in ("committed", "lookups"):
        assert sum(part[field] for part in found["parts"].values()) == found[field]
    ports = {f"{side} {port.name}" for side in ("input", "output") for port in getattr(program, f"{side}s")}
    others = set(found["parts"]) - ports - {"tables"}
    assert all(part.startswith("integer.") and "digits.py" in part for part in others)
    assert found["parts"]["tables"] == {"committed": sum(table.size for table in made.tables), "lookups": 0}
    assert "" not in found["parts"] and all(base.part for base in made.bases if isinstance(base, Column))


def test_an_update_costs_the_limbs_of_a_weight_and_of_a_remainder() -> None:
    """W' = W - shift(G): the new weight and the remainder, in two limbs each, and nothing for the change itself."""
    program = example("mnist_mlp.py:step64").integer
    made = plan(program, assumed={"parameters", "data"})
    (committed, looked_up), = [part for name, part in made.parts.items() if "output dense1.weight" in name]  # fmt: skip
    weights = 784 * 128
    assert committed <= 3 * weights and looked_up <= 4 * weights
    assert not any("dense1.weight update" in name for name in made.parts)


@pytest.mark.parametrize("mode", ["alone", "run"])
def test_what_is_kept_is_not_work(mode: str) -> None:
    """The proof that takes its inputs' commitments from before has the size of the estimate, and less work."""
    program, _ = planned("iris.py:step")
    assumed = HELD.intersection(input_groups(program)) if mode == "run" else frozenset()
    made = plan(program, assumed=assumed)
    trace = made.trace(example_inputs(program))
    kept = {(INPUT, name): commit(made, trace, (INPUT, name), bytes(32)) for name in assumed}
    found = prove_values(program, made, trace, made.values(trace), kept=kept)
    known = entering(found.statement)
    assert refusals(program, found.statement, found.proof, made, trusted=known) == (None, None)
    assert abs(len(found.proof.encode()) / proof_bytes(made) - 1) < 0.05
    _, leaves, committed, opened, *_ = work(made, assumed)
    assert (committed < opened) == (mode == "run") and leaves >= made.looked_up


def test_the_command_line_shows_parts_and_steps_of_runs() -> None:
    found = run("estimate", "examples/iris.py:step", "--target", "tensor", "--json")
    report = json.loads(found.out)["targets"]["tensor"]
    assert report["step_of_a_run"]["lookups"] < report["lookups"] and report["parts"]["tables"]["committed"] > 0
    assert report["prover_cpu_seconds"] > 0 and report["prover_bytes"] > 0
    shown = run("estimate", "examples/iris.py:step", "--target", "tensor").out
    assert "tensor proof of a step of a run" in shown and "tensor proof by part" in shown


def test_plans_of_one_system_share_what_follows_from_it() -> None:
    """What is handed on is what a plan without it finds, and the statement is the same to the byte."""
    program = example("digits.py:step").integer
    shared = plan(program).hiding(OPENINGS)
    apart = plan(program, openings=OPENINGS)
    assert vars(shared).keys() >= {"records", "claimed"}
    for degree in DEGREES:
        other = replace(apart, degree=degree)
        assert not vars(other).keys() & {"records", "claimed", "fractions"}
        handed = shared.over(degree)
        assert (handed.digest, handed.claimed, handed.fractions) == (other.digest, other.claimed, other.fractions)


def test_another_system_takes_over_nothing() -> None:
    """A plan that is changed by hand, as a forger would, is not judged by what the honest one claims."""
    _, made = planned("digits.py:step")
    assert made.claimed.claims and made.fractions
    forged = replace(made, lookups=made.lookups[:1], zeros=())
    assert forged.claimed.claims < made.claimed.claims and forged.fractions < made.fractions
    assert forged.digest != made.digest


def test_what_is_multiplied_is_the_operands_of_products() -> None:
    """A layer of 20 numbers to 10 multiplies 20 numbers and 200 weights, and its rectifier 10 bits and 10 numbers."""
    assert work(planned("dense.py:small")[1])[-1] == (20 + 20 * 10) + (10 + 10)


def test_what_is_made_again_takes_more_time_and_less_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    _, made = planned("mnist_mlp.py:step")
    held = sizes(made)
    monkeypatch.setattr(cost, "LARGE", 1)
    again = sizes(made)
    assert again["prover_cpu_seconds"] > held["prover_cpu_seconds"] and again["prover_bytes"] < held["prover_bytes"]
    assert again["proof_bytes"] == held["proof_bytes"]
