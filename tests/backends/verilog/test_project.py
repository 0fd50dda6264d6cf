"""Folders of designs: what is in them runs as it is, they read back as they were written, and damage is told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from axi_jobs import newer_verilator
from example_programs import example
from hand_design import design, frames, program

from circuitize.backends.verilog.bound import integrated
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.project import DESIGN_FILE, Project, Vectors, read_project, write_project
from circuitize.backends.verilog.shell import Interface
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.sims.rtl import expected
from circuitize.sims.rtl.frames import bound_somehow, frames_to_try, vectors


def written(folder: Path, made: Design | None = None, count: int = 12) -> Project:
    """The hand-written design in a folder, with what the executor says of its frames."""
    inputs = frames(count)
    wanted = expected(program(), inputs)
    answers = {"y": inputs["x"] * 2.0}
    vectors = Vectors(inputs, wanted.outputs, wanted.undefined, answers)
    project = Project(made or design(2), program(), vectors)
    folder.mkdir()
    write_project(project, folder)
    return project


def test_a_project_reads_back(tmp_path: Path) -> None:
    project = written(tmp_path / "d")
    found = read_project(tmp_path / "d")
    assert found.design == project.design
    assert (found.program.inputs, found.program.outputs) == (project.program.inputs, project.program.outputs)
    for kind in ("inputs", "outputs", "answers", "initial"):
        there, here = getattr(found.vectors, kind), getattr(project.vectors, kind)
        assert there.keys() == here.keys()
        for name in here:
            np.testing.assert_array_equal(there[name], here[name])
    np.testing.assert_array_equal(found.vectors.undefined, project.vectors.undefined)
    written(tmp_path / "e")
    for path in sorted((tmp_path / "d").rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "e" / path.relative_to(tmp_path / "d")).read_bytes(), path


def bench(folder: Path, *programs: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """`make -C DIR/test`, with this Python, and without the plugins of pytest that the bench does not ask for; programs
    are looked for in the given folders first.
    """
    path = os.pathsep.join([*programs, str(Path(sys.executable).parent), os.environ["PATH"]])
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV", "MAKE"))}
    environment = {**clean, "PATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **settings}
    return subprocess.run(
        ["make", "-C", str(folder / "test")], env=environment, capture_output=True, text=True, check=False
    )


def test_the_test_bench_runs_as_it_is(tmp_path: Path) -> None:
    written(tmp_path / "d")
    done = bench(tmp_path / "d", FRAMES="0")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_test_bench_names_the_verilator_that_it_wants(tmp_path: Path) -> None:
    written(tmp_path / "d")
    (tmp_path / "verilator").write_text("#!/bin/sh\necho 'Verilator 5.006 2023-01-22 rev (Debian 5.006-3)'\n")
    (tmp_path / "verilator").chmod(0o755)
    done = bench(tmp_path / "d", str(tmp_path), SIM="verilator")
    assert done.returncode != 0 and "expected verilator 5.036 or newer, found 5.006" in done.stdout, done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.deep
def test_the_test_bench_runs_in_verilator(tmp_path: Path) -> None:
    """A design of many wires too, which would not be compiled in time if the bench reached all of them."""
    verilator = newer_verilator()
    written(tmp_path / "d")
    step = bound_somehow(example("digits.py:step").integer)
    (tmp_path / "step").mkdir()
    design_of_step = integrated(step, "folded", {}, Interface("step"))
    write_project(Project(design_of_step, step.program, vectors(step, frames_to_try(step, 4, 0))), tmp_path / "step")
    for name in ("d", "step"):
        done = bench(tmp_path / name, verilator, SIM="verilator", FRAMES="0")
        assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    written(tmp_path / "wrong", design(2, failed="1'b0"))
    done = bench(tmp_path / "wrong", verilator, SIM="verilator", FRAMES="0")
    assert done.returncode != 0 and "stream status, frame 3, beat 0: 0x0, expected 0x1" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        pytest.param(
            {"value": "count == 4 ? 9'd1 : {x_tdata[8*lane +: 8], 1'b0}"},
            "stream y, frame 2, beat 0",
            marks=pytest.mark.deep,
        ),
        ({"failed": "1'b0"}, "stream status, frame 3, beat 0: 0x0, expected 0x1"),
    ],
)
def test_the_test_bench_finds_what_is_wrong(tmp_path: Path, changed: dict[str, str], told: str) -> None:
    written(tmp_path / "d", design(2, **changed))
    done = bench(tmp_path / "d")
    assert done.returncode != 0 and told in done.stdout, done.stdout


@pytest.mark.parametrize("family", [pytest.param("xc7", marks=pytest.mark.deep), "ecp5"])
def test_the_synthesis_scripts_run_as_they_are(tmp_path: Path, family: str) -> None:
    written(tmp_path / "d")
    done = subprocess.run(
        ["make", "-C", str(tmp_path / "d" / "synth"), family], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Number of cells" in done.stdout and "Found and reported 0 problems" in done.stdout
    assert (tmp_path / "d" / "synth" / "ecp5.json").exists() == (family == "ecp5")


def damaged(folder: Path, how: str) -> Path:
    written(folder)
    text = (folder / DESIGN_FILE).read_text()
    described = json.loads(text)
    if how == "no description":
        (folder / DESIGN_FILE).unlink()
    elif how == "half a description":
        (folder / DESIGN_FILE).write_text(text[: len(text) // 2])
    elif how == "a list":
        (folder / DESIGN_FILE).write_text("[]")
    elif how == "another version":
        (folder / DESIGN_FILE).write_text(json.dumps(described | {"version": 9}))
    elif how == "no streams":
        del described["streams"]
        (folder / DESIGN_FILE).write_text(json.dumps(described))
    elif how == "another program":
        (folder / DESIGN_FILE).write_text(json.dumps(described | {"digest": "0" * 64}))
    elif how == "files elsewhere":
        (folder / DESIGN_FILE).write_text(json.dumps(described | {"files": {"../secret": "0" * 64}}))
    elif how == "changed Verilog":
        (folder / "rtl" / "top.v").write_text("module top; endmodule\n")
    elif how == "no Verilog":
        (folder / "rtl" / "top.v").unlink()
    elif how == "half the vectors":
        content = (folder / "test" / "vectors.npz").read_bytes()
        (folder / "test" / "vectors.npz").write_bytes(content[: len(content) // 2])
    elif how == "no program":
        (folder / "program.arrow").unlink()
    return folder


DAMAGES = {
    "no description": "design.json: expected the folder of a design, found No such file",
    "half a description": "design.json: expected the JSON description of a design",
    "a list": "design.json: expected the JSON description of a design",
    "another version": "expected version 2, found 9; compile again",
    "no streams": "one without or with another 'streams'",
    "another program": "program.arrow: expected digest 0000",
    "files elsewhere": "expected files inside the folder, found '../secret'",
    "changed Verilog": "top.v: expected the file that compile wrote, found other content; compile again",
    "no Verilog": "top.v: expected a file of the design, found No such file",
    "half the vectors": "vectors.npz: expected the file that compile wrote",
    "no program": "program.arrow: expected a saved program, found No such file",
}


@pytest.mark.parametrize("how", DAMAGES)
def test_damage_is_one_line(tmp_path: Path, how: str) -> None:
    with pytest.raises(FormatError) as raised:
        read_project(damaged(tmp_path / "d", how))
    assert DAMAGES[how] in str(raised.value) and "\n" not in str(raised.value)
    assert issubclass(FormatError, CircuitizeError)


def test_a_moved_folder_works(tmp_path: Path) -> None:
    """Nothing in it names the place where it was written."""
    written(tmp_path / "d")
    shutil.move(tmp_path / "d", tmp_path / "e")
    assert read_project(tmp_path / "e").design.top == "top"
    for path in (tmp_path / "e").rglob("*"):
        assert path.is_dir() or str(tmp_path).encode() not in path.read_bytes()
