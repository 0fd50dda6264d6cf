"""Digits on a board: trained and predicted with by the serial line, in Verilog and in what place and route makes of it.

python benchmarks/verilog_board.py [--lanes N] [--mhz F] [--seeds N] [--rtl STEPS] [--netlist STEPS] [--bus STEPS]
                                   [--prove STEPS] [FOLDER]

One design that trains by `examples/digits.py:step` and predicts by `scores` becomes a bitstream; with --netlist another
netlist, whose line takes four clocks a bit. Weights are written, so many steps done, weights read back, and the whole
test set predicted. They are compared with `circuitize train`, whose steps are the executor's. --bus does steps on the
design's bus, without the line, and alone makes no bitstream; --seeds places and routes the design by so many seeds;
--prove proves so many steps, and compares the end of that run, too. Needs Verilator and pip install
'circuitize[demo,fpga]'. FOLDER keeps what was made.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import circuitize as cz
from circuitize.api.user_files import run_file
from circuitize.backends.verilog.modes import MODE, Mode
from circuitize.backends.verilog.project import read_project
from circuitize.provers.tensor.runs.order import rows
from circuitize.sims.rtl import Simulation

Reals = NDArray[np.float64]

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "digits.py"
CLOCKS = 4
"""Of a bit, in netlists that are only simulated."""
SEED, INITIAL = "5eed", "00"


@contextmanager
def timed(word: str) -> Iterator[None]:
    """Print how many seconds something took."""
    start = time.perf_counter()
    yield
    print(f"{word:<44} {time.perf_counter() - start:>9.1f} s", flush=True)


class Digits:
    """The example, and its steps in integers as `train` does them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.example = folder, run_file(EXAMPLE)
        self.split, self.step = self.example.data(), self.example.step()
        self.batch = self.example.RECIPE.batch
        self.rate = np.array(self.example.RECIPE.learning_rate)
        self.initial: dict[str, Reals] = self.example.MODEL.initial(seed=bytes.fromhex(INITIAL))
        self.settings: dict[str, Any] = {"seed": SEED, "dataset": self.split, "schedule": self.example.RECIPE}
        self.public: dict[str, Any] = {"initial_seed": INITIAL, "model": self.example.MODEL}
        self.settings["not_zero_knowledge"] = True

    def batches(self, steps: int) -> dict[str, Reals]:
        """What the steps take, as a run draws it by its seed."""
        size, seed = len(self.split.train_inputs), bytes.fromhex(SEED)
        chosen = np.stack([rows(seed, size, self.batch, step) for step in range(1, steps + 1)])
        return {
            "inputs": self.split.train_inputs[chosen],
            "targets": self.split.train_targets[chosen],
            "learning_rate": self.rate,
        }

    def trained(self, steps: int) -> cz.Trained:
        """The training, which is done once."""
        return cz.train(self.step, self.folder / f"trained{steps}", steps=steps, **self.settings, **self.public)

    def accuracy(self, scores: Reals) -> float:
        """The share of the test set that is recognised."""
        right = scores.reshape(-1, scores.shape[-1]).argmax(axis=1)[: len(self.split.test_labels)]
        return float(np.mean(right == self.split.test_labels))

    def tests(self) -> dict[str, Reals]:
        """The test set in batches; the last one is filled up with its first images."""
        count = len(self.split.test_inputs)
        chosen = np.arange(-(-count // self.batch) * self.batch) % count
        return {"inputs": self.split.test_inputs[chosen].reshape(-1, self.batch, self.split.test_inputs.shape[1])}

    def judge(self, word: str, steps: int, weights: Mapping[str, Reals], scores: Reals | None) -> None:
        """Print whether the weights are those of `train`, and what they recognise."""
        wanted = self.trained(steps)
        same = all(np.array_equal(weights[name], values) for name, values in wanted.outputs.items())
        print(f"{word}: {steps} steps, weights {'EQUAL' if same else 'NOT EQUAL'} to those of the executor")
        if scores is not None:
            print(f"{word}: {self.accuracy(scores):.2%} of {len(self.split.test_labels)} recognised")
        if not same:
            sys.exit(f"{word}: the weights are not those of the executor")


def compiled(folder: Path, lanes: int, mhz: int) -> Path:
    """The design with its board."""
    out = folder / "design"
    if not out.exists():
        program = [f"{EXAMPLE}:step", "--predict", f"{EXAMPLE}:scores", "--scheduler", "folded", "--lanes", str(lanes)]
        more = ["--target", "verilog", "--name", "digits", "--board", "ulx3s-85f", "--mhz", str(mhz), "-o", str(out)]
        done = [sys.executable, "-m", "circuitize.cli", "compile", *program, *more]
        subprocess.run(done, check=True, stdout=subprocess.DEVNULL)
    return out / "board"


def made(board: Path, what: str, *variables: str) -> None:
    """Run make for a file."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["make", "-C", str(board), what, f"PYTHON={sys.executable}", *variables]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{what}: {done.stderr.strip()[-500:]}")


def session(digits: Digits, board: Path, program: Path, word: str, steps: int) -> None:
    """Write, train, read and predict by the serial line of a simulated board."""
    specification = importlib.util.spec_from_file_location("host", board / "host.py")
    assert specification is not None and specification.loader is not None
    host = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(host)
    files = {name: digits.folder / f"{word}-{name}.npz" for name in ("write", "batches", "read", "tests", "scores")}
    given: dict[str, Any] = {"write": digits.initial, "batches": digits.batches(steps), "tests": digits.tests()}
    for name, arrays in given.items():
        np.savez(files[name], **arrays)
    frames, line = host.Frames(board.parent), host.Simulated(program)
    commands = (("write", "write"), ("train", "batches"), ("read", "read"), ("predict", "tests", "scores"))
    for mode, *names in commands:
        before = line.clocks
        with timed(f"{word}: {mode}"):
            host.commanded(line, frames, mode, [files[name] for name in names])
        print(f"{word}: {mode}, {line.clocks - before:,} clocks", flush=True)
    line.close()
    with np.load(files["read"]) as weights, np.load(files["scores"]) as scores:
        digits.judge(word, steps, dict(weights), scores["outputs"])


def on_bus(digits: Digits, board: Path, steps: int) -> None:
    """The same without the serial line: packets on the design's bus."""
    project = read_project(board.parent)
    assert project.modal is not None
    entering, tests = project.modal.entering(), digits.tests()["inputs"]
    modes = [Mode.WRITE, *[Mode.TRAIN] * steps, Mode.READ, *[Mode.PREDICT] * len(tests)]
    vectors = {p.port: np.zeros((len(modes), *p.format.shape), np.int64) for p in entering}
    vectors[MODE] = np.array(modes, np.int64)
    bits = {p.port: p.format.fraction_bits for p in entering}

    def put(name: str, frames: slice, values: Reals) -> None:
        vectors[name][frames] = np.rint(np.ldexp(values, bits[name])).astype(np.int64)

    for name, values in digits.initial.items():
        put(name, slice(0, 1), values)
    for name, values in digits.batches(steps).items():
        put(name, slice(1, steps + 1), values)
    put("inputs", slice(steps + 2, None), tests)
    with timed("bus: build"):
        simulation = Simulation(project.design, "verilator")
    with simulation, timed("bus: write, train, read, predict"):
        found = simulation.run(vectors)
    print(f"bus: {found.cycles:,} clocks, {int(found.failed.sum())} frames failed")
    places = {p.port: p.format.fraction_bits for p in project.modal.leaving()}
    real = {name: np.ldexp(values.astype(np.float64), -places[name]) for name, values in found.outputs.items()}
    weights = {port.name: real[port.name][steps + 1] for port in project.modal.state}
    digits.judge("bus", steps, weights, real["outputs"][steps + 2 :])


def told(board: Path) -> None:
    """What the bitstream takes, and how fast it is."""
    text = (board / "build" / "nextpnr.log").read_text()
    for part in ("TRELLIS_COMB", "TRELLIS_FF", "TRELLIS_RAMW", "MULT18X18D", "DP16KD"):
        (used,) = re.findall(rf"{part}:\s+(\d+)/", text)
        print(f"{part:<44} {int(used):>11,}")
    mhz = re.findall(r"Max frequency for clock '[^']*': ([\d.]+) MHz", text)[-1]
    print(f"{'MHz':<44} {mhz:>11}")
    if (board / "digits.bit").exists():
        print(f"{'bytes of the bitstream':<44} {(board / 'digits.bit').stat().st_size:>11,}")


def by_seeds(board: Path, seeds: int) -> None:
    """Print the fastest clock that each of so many seeds reaches, whether or not it is the clock that was asked for."""
    for seed in range(1, seeds + 1):
        (board / "build" / "digits.config").unlink(missing_ok=True)
        with timed(f"seed {seed}"):
            made(board, "build/digits.config", f"SEED={seed}", "ANYWAY=--timing-allow-fail")
        told(board)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanes", type=int, default=64)
    parser.add_argument("--mhz", type=int, default=50)
    for word in ("seeds", "rtl", "netlist", "bus", "prove"):
        parser.add_argument(f"--{word}", type=int, default=0)
    parser.add_argument("folder", type=Path, nargs="?")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as other:
        folder = (asked.folder or Path(other)).resolve()
        folder.mkdir(exist_ok=True)
        digits, board = Digits(folder), compiled(folder, asked.lanes, asked.mhz)
        if asked.seeds:
            by_seeds(board, asked.seeds)
        elif asked.rtl or asked.netlist or not asked.bus:
            with timed("bitstream"):
                made(board, "bitstream")
            told(board)
        if asked.rtl:
            with timed("rtl: build"):
                made(board, f"build-{CLOCKS}/rtl/simulated", f"CLOCKS={CLOCKS}")
            session(digits, board, board / f"build-{CLOCKS}" / "rtl" / "simulated", "rtl", asked.rtl)
        if asked.netlist:
            with timed("netlist: synthesize, place, route"):
                made(board, f"build-{CLOCKS}/digits.config", f"CLOCKS={CLOCKS}")
            with timed("netlist: build"):
                made(board, f"build-{CLOCKS}/netlist/simulated", f"CLOCKS={CLOCKS}")
            session(digits, board, board / f"build-{CLOCKS}" / "netlist" / "simulated", "netlist", asked.netlist)
        if asked.bus:
            on_bus(digits, board, asked.bus)
        if asked.prove:
            with timed("prove-run"):
                proved = cz.prove_run(
                    digits.step, folder / "run", steps=asked.prove, **digits.settings, **digits.public
                )
            verdict = cz.verify_run(digits.step, proved.folder, **digits.public)
            same = all(np.array_equal(proved.outputs[n], v) for n, v in digits.trained(asked.prove).outputs.items())
            print(f"prove-run: {asked.prove} steps, valid {verdict.valid}, ends with the weights of train: {same}")
            print(f"prove-run: their root {verdict.final['parameters']}")


if __name__ == "__main__":
    main()
