"""Frames that a user has in an .npz or a .csv file, with answers beside them, and what is no frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hand_design import program

from circuitize.circuits.errors import CircuitizeError
from circuitize.sims.rtl.given import given_frames

FRAMES = np.array([[1, -2, 3], [90, -90, 0], [100, 0, 7]])
PORTS = program().inputs, program().outputs


def test_both_kinds_of_file_say_the_same(tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", x=FRAMES, y=FRAMES * 2.0)
    lines = ["x[1],x[0],x[2],y[0],y[1],y[2]"]
    lines += [",".join(map(str, [f[1], f[0], f[2], *(f * 2.0)])) for f in FRAMES.tolist() for f in [np.array(f)]]
    (tmp_path / "f.csv").write_text("\n".join(lines) + "\n\n")
    for name in ("f.npz", "f.csv"):
        inputs, answers = given_frames(tmp_path / name, *PORTS)
        np.testing.assert_array_equal(inputs["x"], FRAMES)
        np.testing.assert_array_equal(answers["y"], FRAMES * 2.0)


def test_an_answer_may_be_an_index(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("x[0],x[1],x[2],y\n1,2,3,2\n")
    _, answers = given_frames(tmp_path / "f.csv", *PORTS)
    assert answers["y"].shape == (1,) and answers["y"][0] == 2


BAD = {
    "x[0],x[1],x[2]\n": "expected a line of names and a frame a line below, found 1 lines",
    "x[0],x[1],x[2]\n1,2\n": "line 2: expected 3 numbers, found 2",
    "x[0],x[1],x[2]\n1,2,three\n": "line 2: expected numbers below the names, found 'three'",
    "x[0],x[1],x[1]\n1,2,3\n": "found 'x[1]' twice",
    "x[0],x[1],x[3]\n1,2,3\n": "expected elements 0 to 2 of 'x', found [0, 1, 3]",
    "x[0],x[1]\n1,2\n": "expected frames of input 'x', an array of shape ['frames', 3], found [1, 2]",
    "z\n1\n": "expected names among ['x', 'y'], found 'z'",
    "y\n1\n": "expected frames of input 'x', found ['y']",
    "x[0],x[1],x[2]\n1,2,300\n": "frame 0: expected input 'x' in [-100, 100], found 300.0",
    "x[0],x[1],x[2]\n1,2,nan\n": "expected finite numbers in input 'x'",
    ",x[1],x[2]\n1,2,3\n": "expected NAME or NAME[0] in the first line, found ''",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_files_are_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(CircuitizeError) as raised:
        given_frames(tmp_path / "f.csv", *PORTS)
    assert BAD[text] in str(raised.value) and "\n" not in str(raised.value)


def test_bad_archives_are_one_line(tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", x=FRAMES, y=FRAMES[:2])
    with pytest.raises(CircuitizeError, match="as many frames of each name"):
        given_frames(tmp_path / "f.npz", *PORTS)
    with pytest.raises(CircuitizeError, match=r"none\.csv: expected a \.csv file, found No such file"):
        given_frames(tmp_path / "none.csv", *PORTS)
