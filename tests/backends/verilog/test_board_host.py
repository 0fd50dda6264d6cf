"""The host's script: weights, batches and predictions in files, down a line and back; what is wrong, in a line."""

from __future__ import annotations

import os
import pty
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_designs import trains
from board_line import BoardLine

from circuitize.backends.verilog.board import host
from circuitize.backends.verilog.modes import Mode
from circuitize.backends.verilog.project import read_project
from circuitize.sims.rtl.session import session


@pytest.fixture(scope="module")
def folder() -> Path:
    return trains()


@pytest.fixture
def board(folder: Path) -> Iterator[BoardLine]:
    with BoardLine(folder) as line:
        yield line


def save(path: Path, arrays: dict[str, Any]) -> None:
    np.savez(path, **arrays)


def told(folder: Path, *arguments: object) -> tuple[int, str]:
    """What the folder's script answers to a command line, and shows; in this process, that a start may take no time."""
    script, shown = str(folder / "board" / "host.py"), StringIO()
    with redirect_stdout(shown), redirect_stderr(shown):
        status: int = runpy.run_path(script)["main"]([*map(str, arguments)])
    return status, shown.getvalue()


def started(folder: Path, *arguments: object) -> tuple[int, str]:
    """The same as a process of its own."""
    command = [sys.executable, str(folder / "board" / "host.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_session_in_files(folder: Path, board: BoardLine, tmp_path: Path) -> None:
    """Write, train, predict and read back: real values that are the executor's integers, scaled."""
    modal, scale = board.modal, {p.port: 2.0**-p.format.fraction_bits for p in board.modal.entering()}
    vectors = read_project(folder).vectors.inputs
    steps = np.flatnonzero(vectors["mode"] == Mode.TRAIN)[:3]
    weights = {port.name: (board.state[port.name] + 5) * scale[port.name] for port in modal.state}
    save(tmp_path / "w.npz", weights)
    batches = {name: vectors[name][steps] * scale[name] for name in ("inputs", "targets")}
    batches["learning_rate"] = np.array(0.125)
    save(tmp_path / "b.npz", batches)
    rows = (vectors["inputs"][steps] * scale["inputs"]).reshape(len(steps), -1)
    names = [f"inputs[{k}]" for k in range(rows.shape[1])]
    (tmp_path / "x.csv").write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows), ""]))
    assert told(folder, board.device, "write", tmp_path / "w.npz") == (0, "write: 1 frame\n")
    then = ["train", tmp_path / "b.npz", tmp_path / "l.csv", "+", "predict", tmp_path / "x.csv", tmp_path / "y.npz"]
    assert told(folder, board.device, *then)[1].count("3 frames") == 2
    assert told(folder, board.device, "read", tmp_path / "r.npz")[0] == 0
    order = [Mode.WRITE, *[Mode.TRAIN] * 3, *[Mode.PREDICT] * 3, Mode.READ]
    frames = {p.port: np.zeros((len(order), *p.format.shape), np.int64) for p in modal.entering()}
    frames["mode"] = np.array(order)
    for port in modal.state:
        frames[port.name][0] = board.project.vectors.initial[port.name] + 5
    for name in ("inputs", "targets"):
        frames[name][1:4] = vectors[name][steps]
    frames["inputs"][4:7] = vectors["inputs"][steps]
    frames["learning_rate"][:] = round(0.125 / scale["learning_rate"])
    wanted = session(modal, frames, board.project.vectors.initial)
    scale |= {p.port: 2.0**-p.format.fraction_bits for p in modal.leaving()}
    losses = np.loadtxt(tmp_path / "l.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(losses, wanted.outputs["loss"][1:4] * scale["loss"])
    with np.load(tmp_path / "y.npz") as found:
        np.testing.assert_array_equal(found["outputs"], wanted.outputs["outputs"][4:7] * scale["outputs"])
    with np.load(tmp_path / "r.npz") as found:
        for port in modal.state:
            np.testing.assert_array_equal(found[port.name], wanted.outputs[port.name][7] * scale[port.name])
            assert found[port.name].shape == port.format.shape


def test_the_design_s_own_frames(folder: Path, board: BoardLine) -> None:
    status, shown = started(folder, board.device)
    assert (status, shown) == (0, "16 frames, 0 of them not as the program has them\n")


def wrong(kind: str, path: Path, weights: dict[str, np.ndarray]) -> str:
    """Write a file that is wrong in some way; part of what is said of it."""
    name = next(iter(weights))
    if kind == "missing":
        save(path, {key: value for key, value in weights.items() if key != name})
        return f"expected an array {name!r}"
    if kind == "shape":
        save(path, {**weights, name: weights[name][:-1]})
        return f"expected numbers {name!r} of {list(weights[name].shape)}, found float64 of"
    if kind == "interval":
        save(path, {**weights, name: weights[name] + 1e9})
        return f"expected {name!r} from "
    if kind == "not a number":
        save(path, {**weights, name: weights[name] * np.nan})
        return "found nan to nan"
    if kind == "text":
        path.write_text("hello")
        return "expected an .npz or a .csv of numbers"
    if kind == "words":
        save(path, {**weights, name: np.full(weights[name].shape, "a")})
        return f"expected numbers {name!r}"
    if kind == "frames":
        save(path, {**weights, name: np.stack([weights[name]] * 2)})
        return "expected one frame"
    return "No such file"


KINDS = ("missing", "shape", "interval", "not a number", "text", "words", "frames", "nothing")


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_file_is_one_line(kind: str, folder: Path, tmp_path: Path) -> None:
    """Nothing is sent for it: there is no board."""
    project = read_project(folder)
    assert project.modal is not None
    frames, path = host.Frames(folder), tmp_path / "w.npz"
    weights = {p.name: project.vectors.initial[p.name] * 2.0**-p.format.fraction_bits for p in project.modal.state}
    expected = wrong(kind, path, weights)
    with pytest.raises(host.Refused) as refused:
        host.integers(path, [s for s in frames.carried(False, 0) if s["port"] != "mode"], host.loaded(path), one=True)
    assert expected in str(refused.value) and "\n" not in str(refused.value) and str(path) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("inputs[0],inputs[0]\n1,2\n", "twice"),
        ("inputs[0],inputs[2]\n1,2\n", "is missing"),
        ("inputs[0]\n", "no line of names"),
        ("inputs[0]\n1,2\n", "no line of names"),
        ("inputs[0]\nx\n", "could not convert"),
    ],
)
def test_a_wrong_table_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(host.Refused, match=said):
        host.loaded(tmp_path / "x.csv")


def test_a_device_that_is_no_line_is_one_line(folder: Path, tmp_path: Path) -> None:
    status, shown = told(folder, tmp_path / "none")
    assert status == 2 and shown.count("\n") == 1 and "expected a serial line, found: No such file" in shown
    assert told(folder, "/dev/null")[1].count("\n") == 1
    assert told(folder)[0] == told(folder, "/dev/x", "paint")[0] == told(folder, "/dev/x", "read", "w", "+")[0] == 2


def test_a_frame_that_fails_is_told(folder: Path, board: BoardLine, tmp_path: Path) -> None:
    """A step whose numbers overflow: the line says which frame, and the memory is as it was."""
    formats = {p.port: p.format for p in board.modal.entering()}
    most = {name: np.full((2, *f.shape), f.high * 2.0**-f.fraction_bits) for name, f in formats.items()}
    save(tmp_path / "w.npz", {port.name: most[port.name][0] for port in board.modal.state})
    save(tmp_path / "b.npz", {name: most[name] for name in ("inputs", "targets", "learning_rate")})
    assert told(folder, board.device, "write", tmp_path / "w.npz")[0] == 0
    status, shown = told(folder, board.device, "train", tmp_path / "b.npz")
    assert status == 2 and shown.startswith("host.py: train, frame 0: expected status 0") and shown.count("\n") == 1
    assert told(folder, board.device, "read", tmp_path / "r.csv")[0] == 0
    text = (tmp_path / "r.csv").read_text().split("\n")
    assert len(text) == 3 and len(text[0].split(",")) == sum(port.format.size for port in board.modal.state)


def test_a_line_that_is_closed_is_said() -> None:
    """A board that is taken off its cable ends the command; what it sent before does not make it wait."""
    board, line = pty.openpty()
    opened = host.Line(os.ttyname(line))
    os.write(board, b"12")
    os.close(line)
    os.close(board)
    with pytest.raises(host.Refused, match=r"expected 4 bytes of the board, found \d and .*; connect the board again"):
        opened.exchange(b"frame", 4)
    os.close(opened.file)


def test_a_script_without_its_design_is_said(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "board").mkdir()
    shutil.copy(folder / "board" / "host.py", tmp_path / "board")
    status, text = started(tmp_path, "/dev/null")
    assert status == 2 and text.splitlines() == [
        f"host.py: {tmp_path / 'design.json'}: No such file or directory; use the folder that compile wrote"
    ]
