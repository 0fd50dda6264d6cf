"""What the Python blocks of the pages presuppose: a small training step, its run, its circuits."""

from __future__ import annotations

import gzip
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import gpt2_folders
import numpy as np

import circuitize as cz
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.circuits.bind import bind
from circuitize.circuits.port import Role
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_integers
from circuitize.frontends import training
from circuitize.sims import integer

MODULE = Path(__file__).parents[1] / "golden" / "torch" / "perceptron.pt2.gz"


@cache
def small_step() -> Program:
    """A regression of three measures, calibrated on a short run."""
    generator = np.random.default_rng(0)
    inputs = generator.normal(size=(40, 3))
    data = cz.dataset(inputs, inputs @ np.array([1.0, -2.0, 0.5]))
    model = cz.sequential(cz.dense(3, 4), cz.relu(), cz.dense(4, 1))
    step = cz.training_step(model, cz.mean_squared_error, cz.SGD(), batch=4, inputs=data.inputs, targets=data.targets)
    return cz.calibrated(step, cz.start(step, model, seed=0), data.batches(batch=4, epochs=1, learning_rate=0.125))


def small_prediction() -> IntegerProgram:
    """A prediction whose weights are in the circuit, as hardware has them."""
    model = cz.sequential(cz.dense(3, 4), cz.relu(), cz.dense(4, 2))
    program = cz.predict(model, batch=1)
    examples = {"inputs": np.full((1, 3), 0.5), **model.initial(seed=0)}
    return cz.quantize(training.with_examples(program, examples))


@cache
def of_provers() -> dict[str, Any]:
    """An integer program, its digest, the values of a run's wires, salts, and a rank-one system with a witness."""
    program = cz.quantize(small_step())
    trace = integer.trace(program, integer.rounded(program, program.examples[0]))
    emission = emit(program)
    salts = random_salts(emission.plan)
    made = witness(emission.plan, trace, salts)
    publics = emission.system.field.to_integers(made[1 : 1 + emission.system.public])
    return {
        "program": program,
        "digest": cz.program_digest(program),
        "trace": trace,
        "salts": salts,
        "system": emission.system,
        "witness": made,
        "publics": publics,
    }


def of_hardware() -> dict[str, Any]:
    """A prediction with its weights bound, and a training step with the weights that it begins with."""
    prediction, step = small_prediction(), cz.quantize(small_step())
    held = [port.name for port in prediction.inputs if port.held]
    example, first = prediction.examples[0], step.examples[0]
    weights = {
        port.name: to_integers(port, first[port.name], "the first example")
        for port in step.inputs
        if port.role is Role.PARAMETER
    }
    return {
        "program": bind(prediction, {name: example[name] for name in held}),
        "step": step,
        "weights": weights,
        "images": [(np.zeros((8, 8)), np.array(3))],
    }


def of_onnx(folder: Path) -> None:
    """A network in a file."""
    import onnx
    from onnx import TensorProto, helper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (2, 3)) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "network", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "network.onnx")


def flowers(folder: Path) -> None:
    """Irises in a CSV file."""
    from sklearn.datasets import load_iris

    found = load_iris()
    rows = [[*map(str, row), found.target_names[label]] for row, label in zip(found.data, found.target, strict=True)]
    lines = [",".join(row) for row in [["length", "width", "petal length", "petal width", "species"], *rows]]
    (folder / "flowers.csv").write_text("\n".join(lines) + "\n")


def of_disputes(folder: Path) -> None:
    """Two trainings, one on a machine with a fault, and what a referee left."""
    import trained_programs
    from faulty import Fault, machine

    step = cz.quantize(trained_programs.step())
    given: dict[str, Any] = {"seed": "5eed", "steps": 4, "dataset": trained_programs.data(), "roots": False}
    cz.train(step, folder / "theirs", **given)
    with machine(Fault("input", 3, 0, (0, 0), 1), step):
        cz.train(step, folder / "ours", record=True, **given)
    assert cz.dispute(folder / "theirs", folder / "ours", proof=folder / "proof").right == ("A",)


def of_verifying(folder: Path) -> dict[str, Any]:
    """A program, its keys, and what `prove` wrote of it in two folders."""
    from cli_programs import STEP, keys, proof, run, step

    shutil.copytree(keys(), folder / "keys")
    shutil.copytree(proof(), folder / "proof-groth16")
    assert run("prove", STEP, "--prover", "tensor", "-o", folder / "proof-tensor").status == 0
    return {"program": quantize(step())}


def names_of(page: str, folder: Path) -> dict[str, Any]:
    """The names that the blocks of a page begin with."""
    if page in ("groth16.md", "mirage.md", "halo2.md"):
        found = dict(of_provers())
        if page != "groth16.md":
            del found["system"], found["witness"]
        return found
    if page.startswith("verilog"):
        return of_hardware()
    if page == "onnx.md":
        of_onnx(folder)
    if page == "weights.md":
        gpt2_folders.folder(folder / "gpt2")
    if page == "torch.md":
        (folder / "module.pt2").write_bytes(gzip.decompress(MODULE.read_bytes()))
    if page == "networks.md":
        from onnx_files import mlp, written

        written(folder / "network.onnx", mlp())
    if page == "verifying.md":
        return of_verifying(folder)
    if page == "disputes.md":
        of_disputes(folder)
    if page == "README.md":
        flowers(folder)
    return {}
