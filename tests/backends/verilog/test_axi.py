"""Benches of cocotbext-axi, a bus model apart: pauses, short and long frames, resets within frames, on examples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import example_names
import hardware_programs
import pytest
from axi_jobs import FOLDED, Job, job, simulate
from example_programs import example
from tiers import TIER, count

from circuitize.backends.verilog.bound import integrated
from circuitize.backends.verilog.parallel import schedule
from circuitize.backends.verilog.shell import Interface
from circuitize.circuits.errors import CircuitizeError
from circuitize.sims.rtl.frames import bound_somehow

FRAMES = count(6, deep=8)
PARALLEL = ["iris.py:predict", "jet.py:scores", "jet.py:classify", "digits.py:predict", "quantized.py:predict"]
PARALLEL += ["trees.py:predict", "cnn.py:predict", "digits.py:scores", "torch/digits.py:predict"]
PARALLEL += ["iris.py:step", "quantized.py:step", "jax_iris.py:step", "jax_iris.py:given", "onnx_digits.py:step"]
LARGE = ["gpt2_folder.py:logits", "gpt2_folder.py:apart", "digits.py:evaluate", "cnn.py:evaluate", "dense.py:large"]
LARGE += ["mnist_mlp.py:predict", "digits.py:step", "digits.py:momentum", "digits.py:adam", "cnn.py:step"]
LARGE += ["digits_xent.py:step", "digits_xent.py:momentum", "digits_xent.py:adam", "digits_xent.py:adam_sixteen"]
"""The largest parallel designs take millions of LUTs; their streams have a beat a frame."""
ROUNDS = ["matmul.py:product", "lenet.py:predict"]
ROUNDS += [f"transformer.py:{name}" for name in ("step", "spherical_step", "evaluate", "spherical_evaluate")]
ROUNDS += ["mnist_mlp.py:step", "mnist_mlp.py:step64"]
"""Examples whose parallel designs are too large at once, and not if they take one example of a batch at a time. Icarus
takes 16 GB and 20 minutes for each of the last two.
"""


def test_designs_beside_each_other(tmp_path: Path) -> None:
    """Both schedulers, streams and shared buses, registers, state: in one simulation."""
    two, state = bound_somehow(hardware_programs.arithmetic()), bound_somehow(hardware_programs.counter())
    scores = bound_somehow(hardware_programs.linear())
    jobs = [
        job("dense.py:small", "parallel", Interface("flat")),
        job("dense.py:small", "parallel", Interface("narrow", bus_bits=16)),
        Job(integrated(scores, "folded", {}, Interface("plain")), scores, FRAMES),
        job("iris.py:predict", "folded", Interface("wide", control=True), 4, elements_per_beat=8),
        Job(integrated(state, "folded", {}, Interface("counts", bus_bits=64)), state, count(8, deep=12)),
        Job(integrated(state, "parallel", {}, Interface("adds", control=True)), state, count(8, deep=12)),
        Job(integrated(two, "parallel", {}, Interface("both", bus_bits=32)), two, FRAMES),
        Job(integrated(two, "folded", {}, Interface("each", bus_bits=32, control=True)), two, FRAMES),
    ]
    if TIER == "deep":
        jobs.append(job("iris.py:step", "folded", Interface("step")))
        jobs.append(job("iris.py:step", "folded", Interface("one_dma", bus_bits=64)))
        jobs.append(job("iris.py:step", "parallel", Interface("at_once", control=True)))
    simulate(jobs, tmp_path)


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        pytest.param("skid", "if (~full) held <= in_data;", "held <= in_data;", marks=pytest.mark.deep),
        ("unpack", "assign wrong = |faults;", "assign wrong = 1'b0 & (|faults);"),
        pytest.param("folded_status", "assign tdata = ", "assign tdata = 1'b0 & ", marks=pytest.mark.deep),
    ],
)
@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.deep)])
def test_the_bench_notices(file: str, right: str, wrong: str, simulator: str, tmp_path: Path) -> None:
    made = job("iris.py:predict", "folded", Interface("d"), 10)
    text = made.design.files[f"d_{file}.v"]
    assert right in text
    broken = {**made.design.files, f"d_{file}.v": text.replace(right, wrong)}
    with pytest.raises(AssertionError):
        simulate([replace(made, design=replace(made.design, files=broken), faults=0.8)], tmp_path, simulator=simulator)


@pytest.mark.deep
@pytest.mark.parametrize("bits", [None, 32])
@pytest.mark.parametrize(
    ("name", "scheduler"), [*((name, "folded") for name in FOLDED), *((name, "parallel") for name in PARALLEL)]
)
def test_examples(name: str, scheduler: str, bits: int | None, tmp_path: Path) -> None:
    simulate([job(name, scheduler, Interface("example", bus_bits=bits), 5)], tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("name", LARGE)
def test_large_parallel_examples(name: str, tmp_path: Path) -> None:
    simulate([job(name, "parallel", Interface("example"), 5)], tmp_path)


@pytest.mark.parametrize(("examples", "bits"), [(2, None), (1, 32)])
def test_a_parallel_step_in_rounds(examples: int, bits: int | None, tmp_path: Path) -> None:
    """Of whose inputs some end early, so that later rounds lack a block, which nothing else may be in place of."""
    face = Interface("example", bus_bits=bits, control=True)
    simulate([job("iris.py:step", "parallel", face, 8, micro_batch=examples)], tmp_path, seed=2)


@pytest.mark.deep
@pytest.mark.parametrize("name", ROUNDS)
def test_large_parallel_examples_in_rounds(name: str, tmp_path: Path) -> None:
    simulate([job(name, "parallel", Interface("example"), 5, micro_batch=1)], tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("name", sorted({*example_names.ALL} - {*PARALLEL, *LARGE, "dense.py:small"}))
def test_parallel_refuses_all_others(name: str) -> None:
    """Those of more numbers than any device has logic for."""
    program = example(name).integer
    given = {port.name for port in program.outputs}
    if not any(port.held and port.name in given for port in program.inputs):
        program = bound_somehow(program).program
    with pytest.raises(CircuitizeError, match=r"expected at most 2,097,152 numbers .*; use the folded one"):
        schedule(program)
    if name not in ROUNDS:
        with pytest.raises(CircuitizeError, match=r"expected at most 2,097,152 numbers .*; use the folded one"):
            schedule(program, micro_batch=1)


@pytest.mark.deep
@pytest.mark.parametrize("bits", [None, 32])
@pytest.mark.parametrize(("name", "examples"), [("iris.py:step", 2), ("digits.py:momentum", 4), ("cnn.py:step", 4)])
def test_steps_in_rounds(name: str, examples: int, bits: int | None, tmp_path: Path) -> None:
    simulate([job(name, "folded", Interface("example", bus_bits=bits), 5, micro_batch=examples)], tmp_path)
