"""`compile --target verilog`, `simulate`, what `estimate`, `check` and `doctor` say of hardware, and bad input."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import hardware_programs
import numpy as np
import pytest
from cli_programs import copied, refused, run
from example_programs import EXAMPLES
from folded_programs import named
from hardware_programs import linear

from circuitize.api.targets.verilog_circuit import smaller
from circuitize.backends.verilog.bound import Bound
from circuitize.backends.verilog.devices import Device, catalogue
from circuitize.backends.verilog.devices.family import ECP5
from circuitize.backends.verilog.devices.holding import Holding
from circuitize.backends.verilog.project import read_project
from circuitize.circuits.bind import bind
from circuitize.circuits.builder import Builder
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Raw
from circuitize.sims.rtl import simulators
from circuitize.sims.rtl.frames import right_frames
from circuitize.sims.xla.device import processor

SIZES = {"lut", "ff", "dsp", "bram_bits", "latency_cycles", "interval_cycles"}
HERE = f"{hardware_programs.__file__}:"


def as_json(*arguments: str | Path, status: int = 0) -> dict[str, Any]:
    outcome = run(*arguments, "--json")
    assert outcome.status == status, outcome
    found: dict[str, Any] = json.loads(outcome.out)
    return found


@cache
def compiled(name: str, scheduler: str) -> Path:
    """The folder of a program of this file; do not change it."""
    folder = Path(mkdtemp(prefix="circuitize-tests-")) / "design"
    assert run("compile", HERE + name, "--target", "verilog", "--scheduler", scheduler, "-o", folder).status == 0
    return folder


@pytest.fixture(scope="module", autouse=True)
def _folders() -> Any:
    """Folders go when this file's tests are done."""
    yield
    for name in ("linear", "head", "counter"):
        for scheduler in ("parallel", "folded"):
            shutil.rmtree(compiled(name, scheduler).parent)


@pytest.mark.parametrize("scheduler", ["parallel", "folded"])
@pytest.mark.parametrize("name", ["linear", "head"])
def test_designs_equal_their_programs(name: str, scheduler: str) -> None:
    folder = compiled(name, scheduler)
    assert {path.name for path in folder.iterdir()} == {"design.json", "program.arrow", "rtl", "synth", "test"}
    found = as_json("simulate", folder, "--seed", "3")
    assert {"vectors", "mismatches", "targets", "first_difference"} <= set(found)
    assert (found["vectors"], found["mismatches"], found["undefined"]) == (5, 0, 0)
    assert found["accuracy"] == {"y": 0.8}
    report = read_project(folder).design.report
    assert all(found[cycles] == report[cycles] >= 1 for cycles in ("latency_cycles", "interval_cycles"))
    shown = run("simulate", folder)
    assert shown.status == 0 and "5 frames, 0 mismatches" in shown.out and "80.0% (4 of 5)" in shown.out


def test_more_frames_are_random_and_fewer_the_first() -> None:
    folder = compiled("linear", "parallel")
    assert as_json("simulate", folder, "--frames", "2")["vectors"] == 2
    many = as_json("simulate", folder, "--frames", "100", "--seed", "1")
    assert (many["vectors"], many["mismatches"], many["accuracy"]) == (100, 0, {"y": 0.8})


@pytest.mark.parametrize("scheduler", ["parallel", "folded"])
def test_state_is_carried_and_survives_failed_frames(scheduler: str) -> None:
    """2 + 20 + 11 passes 31 in the third frame: its status is 1, and the fourth starts from the second's total."""
    folder = compiled("counter", scheduler)
    project = read_project(folder)
    assert project.vectors.undefined.tolist() == [False, False, True, False]
    assert project.vectors.outputs["total"].tolist()[1::2] == [[22, 6], [22, -14]]
    assert project.design.held == ("total",)
    found = as_json("simulate", folder, "--frames", "60", "--seed", "2")
    assert found["mismatches"] == 0 and found["undefined"] > 1


def test_an_earlier_design_is_replaced_and_other_folders_are_left_alone(tmp_path: Path) -> None:
    folder = copied(compiled("linear", "folded"), tmp_path / "d")
    assert as_json("compile", HERE + "linear", "--target", "verilog", "--scheduler", "parallel", "-o", folder)
    assert read_project(folder).design.scheduler == "parallel"
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "notes").write_text("mine")
    line = refused("compile", HERE + "linear", "--target", "verilog", "--scheduler", "folded", "-o", tmp_path / "e")
    assert "expected a new folder, or an earlier one with design.json" in line
    assert {path.name for path in tmp_path.iterdir()} == {"d", "e"}


def test_held_inputs_come_from_a_file(tmp_path: Path) -> None:
    """The weight of the file is in the hardware: the frames' outputs are its own."""
    np.savez(tmp_path / "in.npz", w=np.full((3, 2), 0.5))
    arguments = ("--target", "verilog", "--scheduler", "folded", "--inputs", tmp_path / "in.npz", "-o", tmp_path / "d")
    report = as_json("compile", HERE + "linear", *arguments)
    assert set(report) >= SIZES | {"target", "scheduler", "digest", "streams", "frames", "bytes", "phases"}
    vectors = read_project(tmp_path / "d").vectors
    np.testing.assert_array_equal(vectors.outputs["y"], np.repeat(vectors.inputs["x"].sum(1)[:, None], 2, 1))
    assert as_json("simulate", tmp_path / "d")["mismatches"] == 0


def test_a_design_that_differs_is_status_one(tmp_path: Path) -> None:
    """Other vectors than its own: the first difference by stream, frame and element."""
    project = read_project(compiled("linear", "folded"))
    project.vectors.outputs["y"][1, 1] += 1
    from circuitize.backends.verilog.project import write_project

    (tmp_path / "d").mkdir()
    write_project(project, tmp_path / "d")
    found = as_json("simulate", tmp_path / "d", status=1)
    assert found["mismatches"] == 1 and str(found["first_difference"]).startswith("stream y, frame 1, element [1]: ")
    assert "DIFFERS on 1" in run("simulate", tmp_path / "d").out


def test_estimate_has_a_column_for_each_scheduler(tmp_path: Path) -> None:
    report = as_json("estimate", HERE + "linear", "--plot", tmp_path / "p.svg")
    verilog = report["targets"]["verilog"]
    assert set(verilog) == SIZES | {"scheduler", "tradeoff", "parallel", "families", "family"}
    assert set(verilog["parallel"]) == SIZES | {"families"} and verilog["parallel"]["interval_cycles"] == 1
    intervals = [row["interval_cycles"] for row in verilog["tradeoff"]]
    assert intervals == sorted(intervals, reverse=True) and len(intervals) > 1
    assert "<svg" in (tmp_path / "p.svg").read_text()
    made = json.loads((compiled("linear", "folded") / "design.json").read_text())["report"]
    assert {name: made[name] for name in SIZES} == {name: verilog[name] for name in SIZES}
    shown = run("estimate", HERE + "linear").out
    assert "folded, P = 1 " in shown and "latency cycles" in shown


def test_estimates_have_parallel_designs_in_rounds(tmp_path: Path) -> None:
    """As `compile` makes them; a step whose products are too many to unroll has those of few examples."""
    name = f"{EXAMPLES / 'iris.py'}:step"
    rows = as_json("estimate", name, "--target", "verilog")["targets"]["verilog"]["rounds"]
    assert [row["micro_batch"] for row in rows] == [1, 2, 4]
    options = ("--target", "verilog", "--scheduler", "parallel", "--micro-batch", "1")
    assert run("compile", name, *options, "-o", tmp_path / "d").status == 0
    made = json.loads((tmp_path / "d" / "design.json").read_text())["report"]
    assert {size: made[size] for size in SIZES} == {size: rows[0][size] for size in SIZES}
    assert "parallel, N = 4 " in run("estimate", name, "--target", "verilog").out
    digits = as_json("estimate", f"{EXAMPLES / 'digits.py'}:step", "--target", "verilog")["targets"]["verilog"]
    assert "parallel" not in digits and [row["micro_batch"] for row in digits["rounds"]] == [1]


def test_a_device_answers_in_estimates(tmp_path: Path) -> None:
    """The table is of its family, each design has an answer, and other names are refused with near ones."""
    report = as_json("estimate", HERE + "linear", "--device", "LFE5U-12F")["targets"]["verilog"]
    assert report["family"] == "ecp5" and report["device"]["holds"] and report["device"]["name"] == "LFE5U-12F"
    every = [report, report["parallel"], *report["tradeoff"]]
    assert all(row["device"]["shares"]["lut"] == round(row["families"]["ecp5"]["lut"] / 12_000, 4) for row in every)
    shown = run("estimate", HERE + "linear", "--target", "verilog", "--device", "lfe5u-12").out
    assert "Lattice ECP5" in shown and "DP16KD" in shown and shown.count("LFE5U-12F: yes, ") == len(every)
    plain = run("estimate", HERE + "linear", "--target", "verilog", "--family", "xcup").out
    assert "Xilinx UltraScale+" in plain and "RAMB18" in plain and ": yes" not in plain


def test_a_design_that_a_device_does_not_hold_is_written_with_a_remark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = Device("LFE5U-1F", ECP5, 10, 24_000, 28, 56)
    monkeypatch.setitem(catalogue.DEVICES, tiny.name, tiny)
    np.savez(tmp_path / "in.npz", w=np.full((3, 2), 0.5))
    arguments = ("compile", HERE + "linear", "--target", "verilog", "--scheduler", "folded", "--device", "LFE5U-1F")
    outcome = run(*arguments, "--inputs", tmp_path / "in.npz", "-o", tmp_path / "d")
    assert outcome.status == 0 and (tmp_path / "d" / "design.json").exists()
    assert (
        "LFE5U-1F: no, " in outcome.out and "of its look-up tables; the design is written all the same" in outcome.err
    )
    report = as_json(*arguments, "--inputs", tmp_path / "in.npz", "-o", tmp_path / "e")
    assert report["device"]["holds"] is False and report["device"]["limit"] == "lut"


def test_a_design_that_is_too_large_may_take_fewer_examples() -> None:
    """The remark stands where it can help: for a batch, in designs of one kind of frame."""
    shares = {"lut": 0.5, "dsp": 0.1, "blocks": 1.0}
    blocks, multipliers = {**shares, "blocks": 1.5}, {**shares, "dsp": 1.5}
    few, enough, crowded = (Holding(Device("D", ECP5, 1, 1, 1, 1), of) for of in (blocks, shares, multipliers))
    builder = Builder()
    made = Bound(named(builder, ["x"], [builder.input(Fixed((8, 2), 0, 0, 3))]), {})
    told = "; --micro-batch 1 takes 1 of 8 examples at a time and, with fewer multipliers, less memory"
    assert smaller(few, made, "folded", {}) == smaller(few, made, "folded", {"micro_batch": 4}) == told
    assert not smaller(enough, made, "folded", {}) and not smaller(few, made, "folded", {"micro_batch": 1})
    assert not smaller(few, made, "parallel", {}) and not smaller(crowded, made, "folded", {})
    told = "; --micro-batch 1 takes 1 of 8 examples at a time, in less logic"
    assert smaller(crowded, made, "parallel", {}) == told and not smaller(crowded, made, "parallel", {"micro_batch": 1})


def test_check_includes_hardware() -> None:
    report = as_json("check", HERE + "linear", "--vectors", "6")
    assert report["targets"][-2:] == ["verilog parallel in icarus", "verilog folded in icarus"]
    assert set(report["frames"].values()) == {6} and report["mismatches"] == 0


def test_check_says_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler that makes the hardware of other weights: the other targets still agree, and the answer is no."""
    from circuitize.backends.verilog import parallel

    other = bind(linear(), {"w": Raw(np.array([[3, -2], [-4, 5], [1, 1]]))})
    right = parallel.schedule
    monkeypatch.setattr(parallel, "schedule", lambda program: right(other))
    report = as_json("check", HERE + "linear", "--vectors", "4", status=1)
    assert str(report["first_difference"]).startswith("verilog parallel in icarus: stream y, frame 3, element [1]: ")


def test_doctor_names_simulators() -> None:
    parts = as_json("doctor")["parts"]
    assert parts["icarus"]["available"] and "apt-get install iverilog" in parts["icarus"]["remedy"]
    assert parts["verilator"]["available"] and parts["yosys"]["version"].startswith("Yosys")


def compile_refused(program: str, *more: str | Path) -> str:
    return refused("compile", program, "--target", "verilog", *more, "-o", "never-written")


def test_bad_use_is_one_line(tmp_path: Path) -> None:
    linear = HERE + "linear"
    assert "expected --scheduler parallel or folded for verilog, found none" in compile_refused(linear)
    assert "invalid choice: 'magic' (choose from" in compile_refused(linear, "--scheduler", "magic")
    parallel = ("--scheduler", "parallel")
    assert "found --lanes; it is one of folded" in compile_refused(linear, *parallel, "--lanes", "2")
    assert "found --witness; it is one of r1cs" in compile_refused(linear, *parallel, "--witness")
    assert "found '0'" in compile_refused(linear, *parallel, "--levels-per-stage", "0")
    line = refused("compile", linear, "--target", "r1cs", "--lanes", "2", "-o", "never-written")
    assert "found --lanes; it is one of verilog" in line
    assert "expected one budget" in compile_refused(
        linear, "--scheduler", "folded", "--lanes", "2", "--dsp-budget", "2"
    )
    assert not Path("never-written").exists()


def test_what_hardware_cannot_do_is_one_line(tmp_path: Path) -> None:
    for scheduler in ("parallel", "folded"):
        assert "found only held ones" in compile_refused(HERE + "alone", "--scheduler", scheduler)
    line = compile_refused(HERE + "linear", "--scheduler", "folded", "--interval-budget", "1", "--inputs", "none.npz")
    assert "none.npz: expected an .npz file" in line
    np.savez(tmp_path / "in.npz", v=np.zeros(3))
    line = compile_refused(HERE + "linear", "--scheduler", "folded", "--inputs", tmp_path / "in.npz")
    assert "expected inputs among ['x', 'w'], found 'v'" in line
    np.savez(tmp_path / "in.npz", x=np.zeros(3))
    line = compile_refused(HERE + "linear", "--scheduler", "folded", "--inputs", tmp_path / "in.npz")
    assert "expected a value for input 'w'" in line


def test_a_budget_that_cannot_be_met_is_one_line() -> None:
    head, step = HERE + "head", f"{EXAMPLES / 'iris.py'}:step"
    for program, budget in ((head, "--interval-budget"), (step, "--dsp-budget"), (head, "--lanes")):
        lines = run(
            "compile", program, "--target", "verilog", "--scheduler", "folded", budget, "1", "-o", "never-written"
        )
        assert lines.status == 2
        assert "expected a" in lines.err.splitlines()[-1] and "raise it" in lines.err.splitlines()[-1]


def test_damaged_folders_and_missing_simulators_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "expected the folder of a design, found No such file" in refused("simulate", tmp_path / "none")
    folder = copied(compiled("linear", "folded"), tmp_path / "d")
    verilog = next((folder / "rtl").glob("*.v"))
    verilog.write_text(verilog.read_text() + "\n")
    assert "found other content; compile again" in refused("simulate", folder)
    monkeypatch.setattr(simulators, "icarus", lambda: None)
    line = refused("simulate", compiled("linear", "folded"))
    assert "expected the simulator icarus, found none on this machine; install it: apt-get install iverilog" in line
    monkeypatch.setattr(simulators, "verilator", lambda: None)
    report = as_json("check", HERE + "linear", "--vectors", "2")
    assert (
        report["targets"] == ["r1cs", "plonkish", "r1cs with a commitment", "tensor", processor().name]
        and "apt-get install iverilog" in report["left_out"]["verilog"]
    )


def test_answers() -> None:
    scores = np.array([[1, 4, 4], [3, 2, 1]])
    assert right_frames(scores, np.array([1, 1]), 0).tolist() == [True, False]
    assert right_frames(scores, np.array([[0.5, 2, 2], [1.5, 1, 1]]), 1).tolist() == [True, False]
    with pytest.raises(Exception, match=r"expected answers of shape \[3\], or of \[\] for the index .* found \[2\]"):
        right_frames(scores, np.zeros((2, 2)), 0)
