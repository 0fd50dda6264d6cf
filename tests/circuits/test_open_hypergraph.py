"""Open hypergraphs in JSON: every example comes back with its digest, and what is no such file ends in one line."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import STEP, refused, run, step
from every_case import every_case
from example_names import FEW, OTHERS
from example_programs import example
from mutated_json import mutated
from tiers import seeds

import circuitize as cz
from circuitize.circuits import arrays
from circuitize.circuits.encode import digest, program_digest
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.hypergraph import Arrow, evaluate
from circuitize.circuits.open_hypergraph import (
    from_json,
    load_open_hypergraph,
    save_open_hypergraph,
    to_json,
)
from circuitize.circuits.program import IntegerProgram, Program

DEEP = pytest.mark.deep


@pytest.mark.parametrize("name", [*FEW, *(pytest.param(name, marks=DEEP) for name in OTHERS)])
def test_every_example_comes_back_with_its_digest(name: str, tmp_path: Path) -> None:
    """Its program of reals and that of integers; the text, too, is the same when it is written again."""
    loaded = example(name)
    for program in (loaded.given, loaded.integer):
        path = tmp_path / "program.json"
        save_open_hypergraph(program, path)
        found = load_open_hypergraph(path)
        assert isinstance(found, Program) and isinstance(found, IntegerProgram) is isinstance(program, IntegerProgram)
        assert program_digest(found) == program_digest(program)
        assert (found.inputs, found.outputs, found.precision) == (program.inputs, program.outputs, program.precision)
        assert found.arrow.provenances == program.arrow.provenances and not found.examples
        content = path.read_bytes()
        save_open_hypergraph(found, path)
        assert path.read_bytes() == content


def constants() -> Arrow:
    """Arrays of all kinds of numbers, some of them alike everywhere, and zeros of either sign."""
    random = np.random.default_rng(0)
    kept = [random.normal(size=(2, 3)), np.full((2, 3), -0.0), np.array([[0.0, -0.0, 1e-320], [5e-324, 1e308, 1 / 3]])]
    return cz.trace(lambda x: sum((x * values for values in kept), x + 0.1), (2, 3))


def test_an_arrow_alone_comes_back_and_gives_the_same_numbers(tmp_path: Path) -> None:
    arrow, x = constants(), np.random.default_rng(1).normal(size=(2, 3))
    save_open_hypergraph(arrow, tmp_path / "arrow.json")
    found = load_open_hypergraph(tmp_path / "arrow.json")
    assert isinstance(found, Arrow) and digest(found) == digest(arrow)
    np.testing.assert_array_equal(evaluate(found, [x]), evaluate(arrow, [x]))
    save_open_hypergraph(cz.quantize(step()).arrow, tmp_path / "integer.json")
    with pytest.raises(FormatError, match="expected a program, found an arrow without ports; save the program"):
        load_open_hypergraph(tmp_path / "integer.json", integer=True)
    with pytest.raises(FormatError, match=r"expected a program of the integer language, found the operation real\."):
        load_open_hypergraph(tmp_path / "arrow.json", integer=True)
    assert "found a bare arrow" in refused("estimate", tmp_path / "arrow.json")


def test_examples_go_along_where_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "step.json"
    save_open_hypergraph(step(), path, examples=True)
    found = load_open_hypergraph(path)
    assert isinstance(found, Program) and path.stat().st_mode & 0o777 == 0o600
    for batch, given in zip(found.examples, step().examples, strict=True):
        assert batch.keys() == given.keys() and all(np.array_equal(batch[name], given[name]) for name in given)
    assert program_digest(cz.quantize(found)) == program_digest(cz.quantize(step()))


def test_what_is_not_finite_is_not_written(tmp_path: Path) -> None:
    endless = replace(step(), examples=({"x": np.array([np.inf, 0.0]), "w": np.zeros(2)},))
    with pytest.raises(CircuitizeError, match="expected finite numbers, found one that is not; JSON has none"):
        save_open_hypergraph(endless, tmp_path / "arrow.json", examples=True)
    assert not list(tmp_path.iterdir())


def test_the_command_line_writes_and_reads_them(tmp_path: Path) -> None:
    integer, real, arrow = tmp_path / "step.json", tmp_path / "real.json", tmp_path / "step.arrow"
    written = json.loads(run("export", STEP, "-o", integer, "--json").out)
    assert written["digest"] == program_digest(cz.quantize(step())) and written["language"] == "integer"
    assert "integer" in run("export", integer, "-o", arrow).out
    assert json.loads(run("estimate", integer, "--json").out)["digest"] == written["digest"]
    assert json.loads(run("export", STEP, "--real", "--examples", "-o", real, "--json").out)["language"] == "real"
    for source in (arrow, real):
        assert json.loads(run("export", source, "-o", integer, "--json").out) == written
    assert "expected a program of reals, found integers" in refused("export", integer, "--real", "-o", real)
    assert "expected a file that ends in .json" in refused("export", STEP, "-o", tmp_path / "step.txt")
    assert "expected a file that ends in .json" in refused("export", STEP, "-o", tmp_path / "step")
    assert "expected a program of that name" in refused("export", f"{STEP}s", "-o", integer)


def changed(change: Any) -> Any:
    made = copy.deepcopy(to_json(example("iris.py:step").given))
    change(made)
    return made


def setting(*path: Any, value: Any) -> Any:
    def change(made: Any) -> None:
        for name in path[:-1]:
            made = made[name]
        made[path[-1]] = value

    return change


CONSTANT = {"dtype": "<f8", "shape": [8, 16], "values": [0.0]}
AT = next(
    place
    for place, operation in enumerate(to_json(cz.trace(lambda x: x + np.ones(3), (3,)))["operations"])
    if operation["class"] == arrays.Constant.name
)


def with_constant(**changes: Any) -> Any:
    made = to_json(cz.trace(lambda x: x + np.arange(3.0), (3,)))
    array = next(value for value in made["operations"][AT].values() if isinstance(value, dict))
    array |= changes
    return made


FAULTS: dict[str, tuple[Any, str]] = {
    "another version": (setting("open_hypergraph", value=2), "no open hypergraph of version 1"),
    "another name": (setting("nodes", value=[]), "other names than types"),
    "no wires": (lambda made: made.pop("wires"), "wires"),
    "another operation": (
        setting("operations", 0, "class", value="os.system"),
        "found 'os.system': if a class of yours",
    ),
    "an integer one": (setting("operations", 0, value={"class": "integer.add"}), "expected|found"),
    "another parameter": (setting("operations", 0, "axes", value=[0]), "expected the parameters equation of Einsum"),
    "another value": (setting("operations", 0, "equation", value=3), "expected another kind of value for equation"),
    "another type": (setting("types", 0, "shape", value=[4, 17]), "expected"),
    "a class that is none": (setting("types", 0, "class", value="Path"), "expected a known kind of parameter"),
    "a negative extent": (setting("types", 0, "shape", value=[-4, 16]), "expected axes of at least one element"),
    "endless extents": (setting("types", 0, "shape", value=[1 << 40, 1 << 40]), "expected at most 32 axes and"),
    "a wire too many": (setting("sources", 0, value=999), "expected wires below 46 in inputs"),
    "a negative wire": (setting("sources", 0, value=-1), "no whole numbers"),
    "a wire that is a fraction": (setting("wires", 0, value=0.5), "no whole numbers"),
    "a wire that is a truth": (setting("wires", 0, value=True), "no whole numbers"),
    "a wire that is endless": (setting("wires", 0, value=1 << 40), "no whole numbers"),
    "written twice": (setting("edges", 1, "targets", value=[7]), "written once"),
    "a cycle": (setting("edges", 0, "sources", value=[45, 0]), "writers before readers"),
    "another edge": (setting("edges", 0, value={"operation": 0}), "edges of other names"),
    "an edge that is none": (setting("edges", 0, value=3), "found one that does not decode"),
    "another place": (setting("edges", 0, "place", value=999), "edge_provenances to index a table"),
    "a place of numbers": (setting("places", 0, value=[1, 2, 3]), "a place that is no text"),
    "a visibility": (setting("program", "inputs", 0, "visibility", value="secret"), "secret"),
    "a format": (setting("program", "inputs", 0, "format", "low", value=1 << 70), "expected a whole number of 64 bits"),
    "no precision": (lambda made: made["program"].pop("precision"), "precision"),
    "a port too few": (lambda made: made["program"]["inputs"].pop(), "expected one input port per wire"),
}


@every_case(FAULTS.values())
def test_what_is_no_open_hypergraph_is_refused_in_one_line(change: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message) as raised:
        from_json(changed(change), where="here")
    assert "\n" not in str(raised.value) and str(raised.value).startswith("here: expected a program of this version")


@pytest.mark.parametrize(
    "changes",
    [
        {"values": [0.0, 1.0]},
        {"values": [0.0, 1.0, "2"]},
        {"values": [0.0, 1.0, True]},
        {"values": [0.0, 1.0, [2.0]]},
        {"shape": [-3]},
        {"shape": [1 << 40], "values": [0.0]},
        {"dtype": "<f4", "values": [0.1, 0.2, 0.3]},
        {"dtype": "|O"},
        {"dtype": "<i8", "values": [0.5, 1.0, 2.0]},
        {"dtype": "|u1", "values": [256, 0, 0]},
        {"values": 3},
    ],
)
def test_an_array_that_is_none_is_refused_in_one_line(changes: Any) -> None:
    assert isinstance(from_json(with_constant()), Arrow)
    with pytest.raises(FormatError) as raised:
        from_json(with_constant(**changes), where="here")
    assert "\n" not in str(raised.value) and str(raised.value).startswith("here: expected a program of this version")


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"a":1,"a":2}', b"\xff", b'{"a":' + b"[" * 100000, None])
def test_another_file_is_refused_in_one_line(text: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(FormatError, match=r"expected .*, found .*;") as raised:
        load_open_hypergraph(path)
    assert "\n" not in str(raised.value) and str(path) in str(raised.value)


@every_case(seeds(40, deep=5000))
def test_a_damaged_file_is_refused_in_one_line_or_read(seed: int, tmp_path: Path) -> None:
    random, path = np.random.default_rng(seed), tmp_path / "program.json"
    save_open_hypergraph(cz.quantize(step()), path)
    content = bytearray(path.read_bytes())
    for _ in range(int(random.integers(1, 4))):
        content[int(random.integers(len(content)))] = int(
            random.choice(np.frombuffer(b'0123456789-.,[]{}":aeltu', "u1"))
        )
    path.write_bytes(content)
    try:
        load_open_hypergraph(path)
    except FormatError as error:
        assert "\n" not in str(error) and str(path) in str(error)


@every_case(seeds(20, deep=3000))
def test_other_values_are_refused_in_one_line_or_read(seed: int) -> None:
    random = np.random.default_rng(seed)
    program = example("iris.py:step").given if seed % 2 else cz.quantize(step())
    try:
        from_json(mutated(to_json(program), random), integer=bool(random.integers(2)))
    except FormatError as error:
        assert "\n" not in str(error)
