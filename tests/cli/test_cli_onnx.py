"""ONNX files on the command line: what they do not say, what is made of them, and that their steps are proved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from cli_programs import refused, run
from onnx_files import cnn, mlp, written
from onnx_models import one

from circuitize import program_digest
from circuitize.circuits.port import Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.cli.arguments import parser
from circuitize.cli.loading import load_program
from circuitize.cli.program_arguments import LOSSES, OPTIMIZERS
from circuitize.frontends.datasets import digits


def cut(rows: dict[str, Any], place: int) -> dict[str, Any]:
    """A batch of four."""
    return {name: array[4 * place :][:4] for name, array in rows.items()}


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a network, examples of its data and two batches to train on."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "net.onnx", mlp())
    draw = np.random.default_rng(1)
    rows: dict[str, Any] = {"inputs": draw.integers(0, 17, (8, 3)) / 16, "targets": draw.integers(0, 17, (8, 2)) / 16}
    np.savez("examples.npz", x=rows["inputs"])
    np.savez("words.npz", x=np.full((8, 3), "a"))
    np.savez("nan.npz", x=np.full((8, 3), np.nan))
    np.savez("far.npz", x=np.full((8, 3), 7.0))
    np.savez("rows.npz", **rows)
    for place in range(2):
        np.savez(f"batch{place + 1}.npz", **cut(rows, place))
    return tmp_path


def program_of(*options: str) -> IntegerProgram:
    """The program that net.onnx becomes with these options."""
    return load_program("net.onnx", options=parser("estimate").parse_args(["estimate", "net.onnx", *options])).integer


def test_a_file_says_its_program_but_for_open_extents(network: Path) -> None:
    program = program_of("--dim", "batch=2", "--calibrate", "examples.npz")
    assert [port.name for port in program.inputs] == ["x", "w1", "b1", "w2", "b2"]
    assert [port.role for port in program.inputs] == [Role.DATA, *[Role.PARAMETER] * 4]
    assert [port.format.shape for port in (*program.inputs, *program.outputs)][::5] == [(2, 3), (2, 2)]
    assert {port.visibility for port in program.inputs} == {Visibility.COMMITTED}
    assert program.outputs[0].visibility is Visibility.PUBLIC
    assert program_digest(program_of("--dim", "x:0=2", "--calibrate", "examples.npz")) == program_digest(program)


def test_visibilities_and_formats_are_chosen_by_name(network: Path) -> None:
    chosen = ("--private", "weights", "--public", "x", "--committed", "y", "--public", "b2", "--format", "x=-2:2:6")
    program = program_of("--dim", "batch=1", *chosen)
    seen = {port.name: port.visibility.value for port in (*program.inputs, *program.outputs)}
    assert seen == {"x": "public", "w1": "private", "b1": "private", "w2": "private", "b2": "public", "y": "committed"}
    assert (program.inputs[0].format.low, program.inputs[0].format.fraction_bits) == (-128, 6)


def test_weights_may_be_part_of_the_circuit(network: Path) -> None:
    assert [port.name for port in program_of("--dim", "batch=1", "--constant", "weights").inputs] == ["x"]
    assert [port.name for port in program_of("--dim", "batch=1", "--constant", "w1").inputs] == ["x", "b1", "w2", "b2"]


def test_without_examples_random_ones_are_said(network: Path) -> None:
    assert "calibrated on 8 random batches" in run("estimate", "net.onnx", "--dim", "batch=1", "--json").err


def test_every_command_takes_a_file(network: Path) -> None:
    options = ("net.onnx", "--dim", "batch=1", "--calibrate", "examples.npz", "--constant", "weights")
    np.savez("x.npz", x=np.full((1, 3), 0.5))
    commands = [
        ("accuracy", *options),
        ("audit", *options),
        ("compile", *options, "--target", "r1cs", "--witness", "--inputs", "x.npz", "-o", "circuit"),
        ("compile", *options, "--target", "verilog", "--scheduler", "parallel", "-o", "design"),
    ]
    for command in commands:
        outcome = run(*command)
        assert outcome.status == 0, outcome


STEP = ("net.onnx", "--dim", "batch=4", "--train", "mean_squared_error", "--calibrate", "rows.npz")


def test_a_step_is_calibrated_along_a_run_that_begins_with_the_files_weights(network: Path) -> None:
    program = program_of(*STEP[1:], "--optimizer", "momentum", "--freeze", "b1")
    names = [port.name for port in program.inputs]
    moved = [f"{name}.velocity" for name in ("w1", "w2", "b2")]
    assert names == ["w1", "b1", "w2", "b2", *moved, "inputs", "targets", "learning_rate"]
    assert [port.name for port in program.outputs] == ["w1", "b1", "w2", "b2", *moved, "loss"]


@pytest.mark.proof
def test_steps_are_proved_one_after_the_other(network: Path) -> None:
    """Weights need not be given: the first step begins with the file's, the second with what the first left."""
    save = ("--save-program", "made.arrow")
    first = ("--inputs", "batch1.npz", "--outputs", "one.npz", "-o", "first")
    second = ("--inputs", "one.npz", "--inputs", "batch2.npz", "-o", "second")
    joined = ("--openings-from", "first.openings.json", "--join", "parameters")
    for given in ((*first, *save), (*second, *joined)):
        outcome = run("prove", *STEP, "--prover", "tensor", *given)
        assert outcome.status == 0, outcome
    told = [json.loads(run("verify", name, "--program", "made.arrow", "--json").out) for name in ("first", "second")]
    assert all(verdict["valid"] for verdict in told)
    assert told[0]["roots"]["output:parameters"] == told[1]["roots"]["input:parameters"]
    renewed = np.load("one.npz")
    assert set(renewed) == {"w1", "b1", "w2", "b2", "loss"}


@pytest.mark.deep
@pytest.mark.proof
@pytest.mark.parametrize("prover", ["groth16", "mirage", "halo2", "tensor"])
def test_the_convolutional_example_is_trained_and_proved_by_every_prover(
    prover: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network of examples/cnn.py, from a file: two steps of four digits, the second on what the first left."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "cnn.onnx", cnn())
    split = digits(seed=0)
    rows: dict[str, Any] = {
        "inputs": split.train_inputs[:256].reshape(-1, 1, 8, 8),
        "targets": split.train_targets[:256],
    }
    np.savez("digits.npz", **rows)
    for place in range(2):
        np.savez(f"batch{place}.npz", **cut(rows, place))
    step = ("cnn.onnx", "--dim", "batch=4", "--train", "cross_entropy", "--calibrate", "digits.npz")
    keys: tuple[str, ...] = ("--program", "step.arrow")
    if prover != "tensor":
        assert run("setup", *step, "--prover", prover, "-o", "keys").status == 0
        keys = ("--keys", "keys")
    losses = []
    for place in range(2):
        given = ["--inputs", f"batch{place}.npz", *(["--inputs", "0.npz"] if place else [])]
        own = ("--keys", "keys") if prover != "tensor" else ("--save-program", "step.arrow")
        outcome = run("prove", *step, "--prover", prover, *own, *given, "--outputs", f"{place}.npz", "-o", f"p{place}")
        assert outcome.status == 0, outcome
        told = run("verify", f"p{place}", *keys, "--json")
        assert told.status == 0, told
        losses.append(json.loads(told.out)["publics"]["loss"]["reals"])
    assert abs(losses[0] - np.log(10)) < 1e-2 and losses[1] != losses[0]
    assert np.abs(np.load("1.npz")["dense.weight"] - np.load("0.npz")["dense.weight"]).max() > 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "input 'x': expected a concrete shape, found ['batch']; fix its extents, with --dim batch=EXTENT"),
        ("--dim batch", "--dim batch: expected NAME=VALUE, found no =; correct it"),
        ("--dim batch=0", "--dim batch=0: expected a whole number of at least 1, found '0'"),
        ("--dim batch=2 --dim batch=3", "expected each name once, found 'batch' again"),
        ("--dim batch=2 --dim n=3", "expected names of open extents, among ['batch', 'x:0'], found 'n'"),
        ("--dim batch=2 --dim x:1=4", "found 'x:1', which is 3; leave it out"),
        ("--dim batch=2 --format x=1", "expected NAME=LOW:HIGH or NAME=LOW:HIGH:BITS, found '1'"),
        ("--dim batch=2 --format x=0:1:-2", "found '0:1:-2'; write x=-4:4:8"),
        ("--dim batch=2 --format x=0:nan", "found '0:nan'; write x=-4:4:8"),
        ("--dim batch=2 --format x=0:0.3:2", "both multiples of 2^-2, found '0:0.3:2'"),
        ("--dim batch=2 --format x=1:0", "expected LOW at most HIGH"),
        ("--dim batch=2 --format z=0:1", "formats: expected names among ['b1', 'b2', 'w1', 'w2', 'x'], found 'z'"),
        ("--dim batch=2 --public z", "expected a port name among"),
        ("--dim batch=2 --public x --private x", "--private x: expected one visibility, found --public too"),
        ("--dim batch=2 --constant z", "constants: expected names among"),
        ("--dim batch=2 --only-output z", "outputs: expected names among ['y'], found 'z'"),
        ("--dim batch=2 --known z=1", "known: expected names among ['x'], found 'z'"),
        ("--dim batch=2 --known x=one", "--known x: expected a number such as 0.25 or 1/10, found 'one'"),
        ("--dim batch=2 --optimizer sgd", "--optimizer: expected --train LOSS with it, found none"),
        ("--dim batch=2 --train loss", "argument --train: invalid choice: 'loss'"),
        ("--dim batch=2 --train huber --freeze z", "expected a parameter among"),
        ("--dim batch=2 --train huber --learning-rate 2", "expected learning_rate in"),
        ("--dim batch=2 --train huber --calibrate examples.npz", "expected examples of ['inputs', 'targets'], found"),
        ("--dim batch=9 --calibrate examples.npz", "expected 'x' of shape [N, 3], N at least 9, found [8, 3]"),
        ("--dim batch=2 --calibrate words.npz", "words.npz: expected numbers as 'x', found dtype <U1"),
        ("--dim batch=2 --calibrate nan.npz", "expected finite numbers in input 'x', found nan"),
        ("--dim batch=2 --calibrate far.npz", "expected input 'x' in [0, 1], found 7.0"),
        ("--dim batch=1000000000", "input 'x': expected at most 67108864 elements"),
        ("--dim batch=2 --calibrate absent.npz", "absent.npz: expected an .npz file, found No such file"),
        ("--dim batch=2 --save-program .", "expected"),
    ],
)
def test_one_line_says_what_is_wrong(network: Path, options: str, said: str) -> None:
    assert said in refused("estimate", "net.onnx", *options.split())


def test_batch_norms_are_folded_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "norm.onnx"
    arrays = {"kernel": np.ones((2, 1, 1, 1)), "scale": np.ones(2), "shift": np.ones(2), "mean": np.zeros(2)}
    nodes = [
        onnx.helper.make_node("Conv", ["x", "kernel"], ["c"]),
        onnx.helper.make_node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], ["y"]),
    ]
    arrays["variance"] = np.full(2, 2.0)
    entries = [onnx.numpy_helper.from_array(values.astype(np.float32), name) for name, values in arrays.items()]
    kind = onnx.TensorProto.FLOAT
    x, y = (onnx.helper.make_tensor_value_info(name, kind, (1, n, 3, 3)) for name, n in (("x", 1), ("y", 2)))
    graph = onnx.helper.make_graph(nodes, "g", [x], [y], entries)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 15)], ir_version=8), path)
    command, found = ["estimate", str(path), "--public", "x", "--public", "y"], []
    for more in ([], ["--fold-batch-norms"]):
        program = load_program(str(path), options=parser("estimate").parse_args([*command, *more])).integer
        found.append({port.name for port in program.inputs})
    assert found == [{"x", "kernel", "scale", "shift", "mean", "variance"}, {"x", "kernel", "shift"}]
    assert "--fold-batch-norms" in refused("check", path, "--fold-batch-norms", "--train", "mean_squared_error")


def test_options_of_files_are_refused_for_other_programs(network: Path) -> None:
    assert run("accuracy", "net.onnx", "--dim", "batch=1", "--save-program", "made.arrow").status == 0
    assert run("estimate", "made.arrow").status == 0
    assert "--dim: expected PROGRAM.onnx with it, found made.arrow" in refused("estimate", "made.arrow", "--dim", "b=1")


@pytest.mark.parametrize("command", ["check", "audit"])
def test_options_of_files_are_refused_for_folders(network: Path, command: str) -> None:
    Path("circuit").mkdir()
    assert "--known: expected PROGRAM.onnx with it, found circuit" in refused(command, "circuit", "--known", "x=1")


def test_a_verifier_holds_a_saved_program(network: Path) -> None:
    Path("proof").mkdir()
    told = refused("verify", "proof", "--prover", "tensor", "--program", "net.onnx")
    assert "expected the saved program that the proof is of, found an ONNX file" in told


def test_wide_whole_numbers_want_an_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "net.onnx", one("Add", np.zeros(2, np.int64), np.array([1, 2], np.int64), known=1))
    assert "input 'x0': expected an interval of its int64, found none; say --format x0" in refused(
        "estimate", "net.onnx"
    )
    program = program_of("--format", "x0=0:9")
    assert (program.outputs[0].format.low, program.outputs[0].format.high) == (1, 11)
    assert "expected no fraction bits for 'x0'" in refused("estimate", "net.onnx", "--format", "x0=0:9:2")


@pytest.mark.parametrize(
    ("operator", "arrays", "said"),
    [
        (
            "NonZero",
            ((2, 3),),
            "expected the input of NonZero to be known, found input 'x0'; fix its value",
        ),
        ("MatMul", ((2, 3), (2, 3)), "MatMul (opset 18): expected one extent in the last axis"),
    ],
)
def test_errors_of_a_graph_name_the_file_and_no_line_of_the_package(
    tmp_path: Path, operator: str, arrays: tuple[tuple[int, ...], ...], said: str
) -> None:
    path = written(tmp_path / "net.onnx", one(operator, *map(np.ones, arrays)))
    told = refused("estimate", path)
    assert told.startswith(f"circuitize: {path}: ") and said in told and ".py" not in told


def test_the_choices_are_those_of_the_library() -> None:
    from circuitize.api import networks

    assert tuple(networks.LOSSES) == LOSSES and tuple(networks.OPTIMIZERS) == OPTIMIZERS
