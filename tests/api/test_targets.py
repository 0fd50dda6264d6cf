"""Every target in the registry keeps the contract; one that a test registers is in every command."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import STEP, refused, run, step
from toys.counted import LIST_FILE, Toy, toy

import circuitize as cz
from circuitize.api.targets.contract import Target
from circuitize.api.targets.options import Option, offered
from circuitize.api.targets.registry import TARGETS, register
from circuitize.backends.verilog.bound import integrated
from circuitize.circuits.integers import Add, Constant, Expansion, Multiply, operation_classes
from circuitize.cli.arguments import parser
from circuitize.sims.rtl.frames import bound_somehow

NAMES = (*TARGETS, toy.name)
WRITTEN = tuple(target.name for target in (*TARGETS.values(), toy) if target.files is not None)
MARKS = {"tensor": pytest.mark.proof, "verilog": pytest.mark.rtl}
CHECKED = [pytest.param(name, marks=MARKS.get(name, ())) for name in NAMES]


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    before = dict(TARGETS)
    register(toy)
    yield
    TARGETS.clear()
    TARGETS.update(before)


def as_json(*arguments: str | Path) -> dict[str, Any]:
    outcome = run(*arguments, "--json")
    assert outcome.status == 0, outcome
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def help_of(command: str) -> str:
    (commands,) = (action for action in parser()._actions if action.dest == "command")
    found: ArgumentParser = commands.choices[command]  # type: ignore[index]
    return " ".join(found.format_help().split())


def test_all_targets_are_tried() -> None:
    assert tuple(TARGETS) == NAMES and {"r1cs", "mirage", "plonkish", "tensor", "verilog"} < {*NAMES}
    with pytest.raises(cz.CircuitizeError, match="names of its own, found 'toy'"):
        register(toy)


def test_an_option_has_one_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toy, "options", (Option("k", "flag", "something else"),))
    del TARGETS["toy"]
    with pytest.raises(cz.CircuitizeError, match="names of its own, found --k"):
        register(toy)


def test_inputs_are_for_those_who_take_them() -> None:
    for target in (toy, cz.mirage):
        with pytest.raises(cz.CircuitizeError, match=f"expected no inputs for {target.name}"):
            cz.compile(step(), target, inputs=step().examples[0])


@pytest.mark.parametrize("name", NAMES)
def test_the_core_is_implemented(name: str) -> None:
    """What a target has no rule for is defined by other operations, down to those that it has a rule for."""
    lacking = [kind for kind in operation_classes() if kind not in TARGETS[name].rules]
    assert [kind.name for kind in lacking if not issubclass(kind, Expansion)] == []


@pytest.mark.parametrize("name", ["r1cs", "plonkish", "mirage", "tensor_proof", "verilog", "toy"])
def test_estimates_are_what_is_emitted(name: str, tmp_path: Path) -> None:
    target: Target[Any] = toy if name == "toy" else getattr(cz, name)
    circuit = cz.compile(step(), target)
    counted = cz.estimate(step(), targets=[target.name]).targets[target.name]
    assert circuit.sizes == {size: counted[size] for size in circuit.sizes}
    assert counted.get(target.measure) in (None, target.cost(cz.quantize(step())))
    if target.files is None:
        assert circuit.prove
        return
    written = circuit.write(tmp_path / "made")
    assert target.files.marker in written
    assert written == {file: (tmp_path / "made" / file).stat().st_size for file in written}
    with pytest.raises(cz.CircuitizeError, match="expected a new folder"):
        circuit.write(tmp_path)


@pytest.mark.parametrize("command", ["compile", "estimate"])
def test_options_are_in_the_help(command: str) -> None:
    told = help_of(command)
    for option, having in offered(TARGETS.values(), command).values():
        assert f"{option.only[1] if option.only else ', '.join(having)}: {option.help}" in told
        assert option.flag in told


@pytest.mark.parametrize("name", WRITTEN)
def test_options_of_another_target_are_refused(name: str, tmp_path: Path) -> None:
    for option, having in offered(TARGETS.values(), "compile").values():
        if name not in having:
            value = {"flag": [], "count": ["3"], "choice": option.choices[:1], "file": ["x"], "name": ["x"]}[
                option.kind
            ]
            line = refused("compile", STEP, "--target", name, "-o", tmp_path / "x", option.flag, *value)
            assert f"expected options of {name}, found {option.flag}; it is one of {' and '.join(having)}" in line


@pytest.mark.parametrize("name", CHECKED)
def test_check_finds_a_fault(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that has another program's circuit differs; with its own it does not."""
    for other in set(NAMES) - {name}:
        del TARGETS[other]
    right, wrong, target = shifted(1, 2), shifted(2, 1), TARGETS[name]
    assert cz.check(right, vectors=3)
    check = type(target).check
    monkeypatch.setattr(
        type(target), "check", lambda self, program: check(self, wrong if program is right else program)
    )
    monkeypatch.setattr(
        "circuitize.sims.rtl.designs.integrated", lambda made, *options: integrated(bound_somehow(wrong), *options)
    )
    found = cz.check(right, vectors=3)
    assert not found
    own = [target for target in found.targets if not target.startswith("XLA")]
    assert found.agreement.mismatches == 3 * len(own)
    assert str(found.agreement.first_difference).removeprefix("input 1: ").startswith(own[0])


def shifted(*amounts: int) -> cz.IntegerProgram:
    """x * x and these two numbers: programs of this kind have the same wires, of the same types."""
    numbers = cz.Fixed((2,), 0, -8, 7)
    builder = cz.Builder()
    wire = builder.input(numbers)
    square = builder.add(Multiply(), wire, wire)
    arrow = builder.build([builder.add(Add(), square, builder.add(Constant.of(np.array(amounts))))])
    public, total = cz.Visibility.PUBLIC, arrow.format(int(arrow.outputs[0]))
    return cz.IntegerProgram(arrow, (cz.Port("x", public, numbers),), (cz.Port("y", public, total),))


def test_a_toy_is_compiled(tmp_path: Path) -> None:
    told = as_json("compile", STEP, "--target", "toy", "-o", tmp_path / "toy", "--capitals")
    assert (told["target"], told["operations"]) == ("toy", told["bytes"] and len(lines(tmp_path / "toy")))
    assert all(line.startswith("INTEGER.") for line in lines(tmp_path / "toy"))
    assert "compiled" in run("compile", STEP, "--target", "toy", "-o", tmp_path / "toy").out
    assert all(line.startswith("integer.") for line in lines(tmp_path / "toy"))
    assert as_json("check", tmp_path / "toy")["targets"] == ["toy"]
    (tmp_path / "toy" / LIST_FILE).write_text("abacus.add\n")
    assert run("check", tmp_path / "toy").status == 1
    with pytest.raises(cz.CircuitizeError, match="--capitals: expected a flag, found 3"):
        cz.compile(step(), toy, capitals=3)


def lines(folder: Path) -> list[str]:
    return (folder / LIST_FILE).read_text().split()


def test_a_toy_is_estimated() -> None:
    told = as_json("estimate", STEP)
    operations = told["operations"]
    assert told["targets"]["toy"] == {"operations": operations}
    assert f"toy\n  operations  {operations}\n" in run("estimate", STEP).out
    told = as_json("accuracy", STEP, "--target-cost", f"toy={operations}")
    assert told["costs"]["toy"] == {"given": operations, "chosen": operations}


def test_targets_are_chosen() -> None:
    """One that is named is estimated alone; what there is not, and others' options, are refused."""
    assert as_json("estimate", STEP, "--target", "toy")["targets"].keys() == {"toy"}
    assert cz.estimate(step(), targets=["toy", "r1cs"]).targets.keys() == {"toy", "r1cs"}
    with pytest.raises(cz.CircuitizeError, match=r"expected targets among .*, found 'abacus'; correct it"):
        cz.estimate(step(), targets=["abacus"])
    with pytest.raises(cz.CircuitizeError, match="expected options among none, found 'memory'; leave it out"):
        cz.estimate(step(), targets="r1cs", memory=9)
    assert run("estimate", STEP, "--target", "r1cs", "--memory", "9").status == 2


@pytest.mark.rtl
@pytest.mark.proof
def test_a_toy_is_checked() -> None:
    report = as_json("check", STEP, "--vectors", "3")
    circuits = {"r1cs", "plonkish", "toy", "r1cs with a commitment", "tensor", "verilog folded in icarus"}
    assert circuits <= {*report["targets"]}


def test_what_is_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("circuitize.api.estimate.MOST_COUNTED", 1)
    monkeypatch.setattr("circuitize.backends.verilog.sizes.MOST_UNROLLED", 0)
    found = cz.estimate(step(), family="ecp5")
    assert {"r1cs", "mirage", "plonkish", "verilog, parallel"} <= set(found.left_out)
    assert "r1cs and plonkish: not counted, 2 products are more than 1" in run("estimate", STEP).out


@pytest.mark.parametrize("function", [cz.check, cz.estimate])
def test_what_is_no_program_is_refused(function: Callable[[Any], Any]) -> None:
    with pytest.raises(cz.CircuitizeError, match="expected a Program, found Arrow"):
        function(step().arrow)


def test_options_in_python() -> None:
    assert cz.compile(step(), cz.verilog, lanes=1).design.scheduler == "folded"
    refused: list[tuple[dict[str, Any], str]] = [
        ({"k": 9, "memory": 9}, "expected --k or --memory"),
        ({"k": 0}, "--k: expected a count of at least 1, found 0"),
        ({"abacus": 1}, "expected options of plonkish, found --abacus; it is one of no target"),
    ]
    for options, told in refused:
        with pytest.raises(cz.CircuitizeError, match=told):
            cz.compile(step(), cz.plonkish, **options)
    with pytest.raises(cz.CircuitizeError, match="expected options of the scheduler folded"):
        cz.compile(step(), cz.verilog, levels_per_stage=3)
    with pytest.raises(cz.CircuitizeError, match="expected options among memory, family, device, plot, found 'k'"):
        cz.estimate(step(), k=9)


def test_a_witness_of_values_in_python(tmp_path: Path) -> None:
    said: list[str] = []
    values = {"x": np.array([0.5, 0.26]), "w": np.array([1.0, 1.0])}
    circuit = cz.compile(step(), cz.r1cs, inputs=values, say=said.append)
    assert "witness.wtns" in circuit.write(tmp_path / "made")
    assert said == ["inputs: real values of x were rounded, once, to their formats"]
    assert run("check", tmp_path / "made").status == 0
    with pytest.raises(cz.CircuitizeError, match="expected inputs among"):
        cz.compile(step(), cz.r1cs, inputs={"z": 1.0})
