"""`cz.plan`: fronts are all that is minimal, counts are those of what is built, and conflicts of limits are minimal."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import planned_digits
import planned_programs
import pytest
from every_case import every_case
from planned_programs import BITS, everything, prediction, step
from tiers import count, seeds

import circuitize as cz
from circuitize.api.planning.antichain import minimal
from circuitize.api.planning.circuits import Plonkish, RankOne
from circuitize.api.planning.conflicts import conflicts
from circuitize.api.planning.design import Design
from circuitize.api.planning.explore import vector
from circuitize.api.planning.formats import APART, Formats, errors, exact_outputs, widths
from circuitize.api.planning.front import Planned
from circuitize.api.planning.hardware import Hardware
from circuitize.api.planning.point import Point
from circuitize.api.planning.quantities import QUANTITIES, TAKEN
from circuitize.api.planning.sumchecks import Sumchecks
from circuitize.circuits.accuracy import report
from circuitize.circuits.program import IntegerProgram

PROGRAM = cz.quantize(step())
STEPS = 5


@cache
def rows_and_errors() -> Planned:
    """A front of Mirage's circuits of a step."""
    return cz.plan(step(), ("rows", "error", "seconds"), targets="mirage", bits=BITS)


@every_case(seeds(20, deep=2000))
def test_the_minimal_vectors_are_those_that_no_other_is_below(seed: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.integers(0, 4, size=(generator.integers(0, 25), generator.integers(1, 4))).astype(float)
    found = minimal(vectors)
    below = [[(u <= v).all() and (u < v).any() for u in vectors] for v in vectors]
    wanted = {tuple(v) for v, under in zip(vectors, below, strict=True) if not any(under)}
    assert [tuple(vectors[place]) for place in found] == sorted(wanted)
    assert all(not (vectors[:place] == vectors[place]).all(axis=1).any() for place in found)


def tried(target: str) -> tuple[int, ...]:
    """Fewer formats where there is more to choose in each."""
    return BITS[:1] if target == "tensor" else BITS


@cache
def designs(target: str) -> tuple[Any, list[Design]]:
    """A query's options, and all designs that it is about, each sized by itself, with nothing known of others."""
    program = prediction() if target == "verilog" else step()
    formats = list(Formats(program, tried(target), program.examples))
    if target == "verilog":
        hardware = Hardware({})
        return ("cycles", "luts", "error"), everything([hardware.schedules, hardware.laid_out], iter(formats))
    if target == "tensor":
        alone = []
        for design, per_proof in itertools.product(formats, (1, 2, 4, STEPS)):
            chosen = design.decided({"per_proof": per_proof}, {})
            alone += everything([Sumchecks(STEPS, None).planned], iter([chosen]))
        return ("seconds", "bytes", "error"), alone
    if target == "plonkish":
        laid_out = Plonkish(1, False)
        emitted = Plonkish(1, True)
        return ("seconds", "bytes", "memory"), everything([laid_out.laid_out, emitted.emitted], iter(formats[:2]))
    system = RankOne(target, 1)
    return ("rows", "error"), everything([system.counted], iter(formats))


@pytest.mark.parametrize("target", ["mirage", "tensor", "verilog", pytest.param("r1cs", marks=pytest.mark.deep)])
def test_a_front_is_all_that_is_minimal(target: str) -> None:
    """What is let go would not have been on it; what is known of a design before it is decided is a lower bound."""
    objectives, every = designs(target)
    program = prediction() if target == "verilog" else step()
    steps = STEPS if target == "tensor" else 1
    found = cz.plan(program, objectives, targets=[target], steps=steps, bits=tried(target))
    vectors = np.array([vector(design, objectives) for design in every])
    wanted = vectors[minimal(vectors)]
    assert found.complete and len(wanted) > 1
    assert np.array_equal([vector(point.design, objectives) for point in found.points], wanted)
    assert found.sized + found.let_go == len(every) and (found.let_go > 0) == (target in ("tensor", "verilog"))


@pytest.mark.parametrize(("target", "names"), [("mirage", ("rows", "error")), ("tensor", ("memory", "error"))])
def test_limits_leave_of_a_front_what_is_within(target: str, names: tuple[str, ...]) -> None:
    """Also where memory has a limit, which proofs of more steps are beyond before they are planned."""
    objectives, every = designs(target)
    most = np.median([vector(design, names) for design in every], axis=0)
    options: dict[str, Any] = {"targets": target, "bits": tried(target), "steps": STEPS if target == "tensor" else 1}
    found = cz.plan(step(), objectives, dict(zip(names, most.tolist(), strict=True)), **options)
    within = np.array([vector(one, objectives) for one in every if (np.array(vector(one, names)) <= most).all()])
    assert len(within)
    assert [vector(point.design, objectives) for point in found.points] == within[minimal(within)].tolist()


@pytest.mark.parametrize("limits", [(), ("memory",)])
def test_what_is_known_of_longer_proofs_is_a_lower_bound(limits: tuple[str, ...]) -> None:
    """Also where each of fewer proofs costs less than one of more proofs, since the dataset is opened less often."""
    proofs = Sumchecks(64, None, limits)
    for known in proofs.divided(Design(PROGRAM)):
        (exact,) = proofs.planned(replace(known, takes={}))
        assert all(least <= exact.takes[name] for name, least in known.takes.items()), known.choices
        assert known.takes.keys() == ({"seconds", "bytes", "memory"} if known.choices["per_proof"] != 1 else set())


def test_a_limit_that_longer_proofs_alone_are_within() -> None:
    each = {
        count: everything([Sumchecks(4, None).planned], iter([Design(PROGRAM, choices={"per_proof": count})]))
        for count in (1, 4)
    }
    ((short,), (long,)) = each.values()
    assert long.takes["memory"] < short.takes["memory"]
    found = cz.plan(PROGRAM, "seconds", {"memory": long.takes["memory"]}, targets="tensor", steps=4)
    assert [point.choices["per_proof"] for point in found.points] == [4]


def test_bytes_of_a_layout_are_at_least_those_of_its_columns() -> None:
    design = Design(PROGRAM)
    laid_out = Plonkish(1, True)
    for bounded in everything([laid_out.laid_out], iter([design])):
        exact = everything([Plonkish(1, True).emitted], iter([replace(bounded, takes={})]))
        assert 0 < bounded.takes["bytes"] < exact[0].takes["bytes"]


@pytest.mark.parametrize("target", [*TAKEN])
def test_counts_are_those_of_what_is_built(target: str) -> None:
    steps = STEPS if target == "tensor" else 1
    program = prediction() if target == "verilog" else PROGRAM
    objectives = ("cycles", "luts") if target == "verilog" else ("seconds", "bytes")
    found = cz.plan(program, objectives, targets=[target], steps=steps, bits=BITS[:1])
    assert found
    for point in found.points[: count(1, deep=3)]:
        assert point.recount().keys() & TAKEN[target]
        point.require_counts()
    name = next(iter(point.recount()))
    wrong = replace(point, design=replace(point.design, takes={**point.takes, name: point.takes[name] + 1}))
    with pytest.raises(cz.CircuitizeError, match=f"{name} of Point.*bug in circuitize"):
        wrong.require_counts()


def test_errors_are_those_of_accuracy() -> None:
    """The greatest is what `error_report` measures; nine in ten examples stay within the other."""
    program = step()
    told = report(program)
    exact = exact_outputs(program, program.examples)
    found = errors(PROGRAM, program.examples, exact)
    for name, output in told.outputs.items():
        assert found[f"worst:{name}"] == output.measured
    each = [errors(PROGRAM, [batch], [wanted])["worst"] for batch, wanted in zip(program.examples, exact, strict=True)]
    assert found["worst"] == max(each)
    assert sum(error <= found["error"] for error in each) >= 0.9 * len(each)
    assert found["error"] in each


def test_widths_are_each_tried_once() -> None:
    assert sorted(widths(range(4, 9))) == sorted((b, b + a) for b in range(4, 9) for a in APART if b + a > 0)
    assert [bits for bits, _ in widths(range(4, 9))][:2] == [6, 5]


@every_case(seeds(20, deep=2000))
def test_conflicts_are_the_minimal_sets_of_limits_that_nothing_meets(seed: int) -> None:
    generator = np.random.default_rng(seed)
    names = [f"q{place}" for place in range(generator.integers(1, 5))]
    values = generator.integers(0, 6, size=(generator.integers(1, 9), len(names))).astype(float)
    limits = {name: float(generator.integers(0, 5)) for name in names}
    made = [Design(PROGRAM, takes=dict(zip(names, row, strict=True))) for row in values.tolist()]

    def met(some: frozenset[str], other: dict[str, float]) -> bool:
        return any(all(design.takes[name] <= {**limits, **other}[name] for name in some) for design in made)

    every = [frozenset(some) for count in range(1, 5) for some in itertools.combinations(names, count)]
    failing = [some for some in every if not met(some, {})]
    wanted = [some for some in failing if not any(other < some for other in failing)]
    found = conflicts(made, limits)
    assert sorted(map(sorted, (one.limits for one in found))) == sorted(map(sorted, wanted))
    for one in found:
        for name, least in one.nearest.items():
            some = frozenset(one.limits)
            assert met(some, {name: least}) and not met(some, {name: least - 1})
            assert one.enough[name] == met(frozenset(names), {name: least})


def test_a_query_that_cannot_be_met_is_explained() -> None:
    """No circuit of few rows has a small error; more rows, or a greater error, would do, as the plan says."""
    every = rows_and_errors()
    rows, error = every[1].takes["rows"], every[len(every.points)].takes["error"]
    found = cz.plan(step(), "seconds", {"rows": rows, "error": error}, targets="mirage", bits=BITS)
    assert not found and not found.points
    (conflict,) = found.conflicts
    assert conflict.limits == {"rows": rows, "error": error} and all(conflict.enough.values())
    assert conflict.nearest == {"rows": every[len(every.points)].takes["rows"], "error": every[1].takes["error"]}
    for name, least in conflict.nearest.items():
        other = next(limit for limit in conflict.limits if limit != name)
        assert any(p.takes[name] <= least and p.takes[other] <= conflict.limits[other] for p in every.points)
    alone = cz.plan(step(), "bytes", {"memory": 1, "seconds": 100}, targets="mirage", bits=BITS)
    assert [dict(one.limits) for one in alone.conflicts] == [{"memory": 1}]


def test_examples_that_calibration_did_not_see_may_have_no_value() -> None:
    """Then a format is none; the plan says of how many, and why."""
    batch = {**step().examples[0]}
    far = {name: np.full_like(value, 3.9) for name, value in batch.items() if name != "learning_rate"}
    far["learning_rate"] = batch["learning_rate"]
    with pytest.raises(cz.CircuitizeError, match="expected a design, found none; formats: "):
        cz.plan(step(), ("rows", "error"), targets="mirage", bits=BITS, held_out=[far])
    found = cz.plan(step(), ("rows", "error"), targets="mirage", bits=BITS, held_out=[batch])
    assert found.held_out and found.examples == 1 and found[1].takes["error"] == found[1].takes["worst"]


def test_a_search_ends_in_time() -> None:
    with pytest.raises(cz.CircuitizeError, match="found none among 0; give more time"):
        cz.plan(step(), "rows", within=0)


@every_case(
    [
        ({"objectives": ["joules"]}, "expected a quantity among"),
        ({"objectives": []}, "at least one objective"),
        ({"objectives": ["luts", "rows"]}, "found luts, which verilog has, and rows"),
        ({"objectives": "rows", "targets": "tensor"}, "quantities that tensor has"),
        ({"objectives": "rows", "targets": "vhdl"}, "expected targets among"),
        ({"objectives": "error:nothing"}, "expected an output among"),
        ({"objectives": "rows:loss"}, "expected a quantity"),
        ({"objectives": "rows", "limits": {"rows": float("nan")}}, "a number of at least 0"),
        ({"objectives": "rows", "limits": dict.fromkeys(QUANTITIES, 1)}, "expected at most 12 limits, found 14"),
        ({"objectives": "rows", "within": float("nan")}, "within: expected seconds"),
        ({"objectives": "rows", "steps": 0}, "steps: expected a whole number"),
        ({"objectives": "rows", "dataset_size": 2.5}, "dataset_size: expected a whole number"),
        ({"objectives": "rows", "bits": range(8, 50)}, "expected fraction bits from 0 to 40, found 41;"),
        ({"objectives": "rows", "bits": []}, "expected fraction bits from 0 to 40, found none;"),
        ({"program": PROGRAM, "objectives": "error"}, "expected a program of reals"),
        ({"program": 3, "objectives": "rows"}, "expected a Program, found int"),
    ]
)
def test_bad_use_is_told(given: dict[str, Any], words: str) -> None:
    with pytest.raises(cz.CircuitizeError, match=words):
        cz.plan(given.pop("program", step()), **given)


def test_a_point_has_a_number() -> None:
    found = cz.plan(PROGRAM, "rows", targets="mirage")
    assert "1 mirage " in found._repr_html_() and "<pre>counted: rows" not in found._repr_html_()
    assert isinstance(found[1], Point) and isinstance(found[1].program, IntegerProgram)
    for wrong in (0, 2, True):
        with pytest.raises(cz.CircuitizeError, match="expected a point from 1 to 1"):
            found[wrong]


def test_a_picture_is_of_every_point(tmp_path: Path) -> None:
    found = rows_and_errors()
    for name in "ab":
        found.plot(tmp_path / f"{name}.svg")
    svg = (tmp_path / "a.svg").read_text()
    assert svg == (tmp_path / "b.svg").read_text() and "<script" not in svg
    marks = re.findall(r'<g clip-path="[^"]*">(.*?)</g>', svg, re.DOTALL)
    assert sum(group.count("<use ") for group in marks) == 2 * len(found.points)
    assert len(re.findall(r'<text style="font-size: 7px[^>]*>1</text>', svg)) == 2
    assert ">6,800</text>" in svg and "error of nine in ten examples, predicted" in svg
    with pytest.raises(cz.CircuitizeError, match="expected a front to draw"):
        replace(found, points=()).plot(tmp_path / "c.svg")


@pytest.mark.deep
@pytest.mark.proof
@pytest.mark.parametrize("name", ["verilog", "tensor", "mirage"])
def test_fronts_of_the_digits_network(name: str) -> None:
    """Counts are equal in what is built of each point; what is predicted is within 1.5 of what is measured on three."""
    found: Planned = planned_digits.queries()[name].answer()
    assert found.complete and len(found.points) >= 8
    for point in found.points:
        point.require_counts()
    for point in planned_digits.spread(found):
        assert planned_digits.near(point.takes["error"], planned_digits.error_elsewhere(name, point))
        if name != "verilog":
            seconds, bytes = planned_digits.measured(point)
            assert planned_digits.near(point.takes["seconds"], seconds)
            assert planned_digits.near(point.takes["bytes"], bytes)


def test_programs_are_what_their_names_say() -> None:
    assert not isinstance(step(), IntegerProgram) and len(prediction().examples) == 20
    assert planned_programs.model().parameters
