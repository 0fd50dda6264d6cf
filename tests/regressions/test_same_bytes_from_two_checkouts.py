"""What was written held the absolute path of the program's file, or one relative to the working directory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cli_programs import run

PROGRAM = """
import numpy as np
from circuitize import Format, Port, Program, Role, Visibility, trace
from models.net import scaled

N = Format.signed(8, fraction_bits=4).of((2,))

def step():
    arrow = trace(lambda x, w: (scaled(x, w), w - 0.25 * x), (2,), (2,))
    w = Port("w", Visibility.COMMITTED, N, Role.PARAMETER)
    examples = ({"x": np.array([0.5, -1.25]), "w": np.array([1.5, 2.0])},)
    return Program(arrow, (Port("x", Visibility.PUBLIC, N), w), (Port("y", Visibility.PUBLIC), w), examples)

def scores():
    given = step()
    arrow = trace(lambda x, w: scaled(x, w), (2,), (2,))
    return Program(arrow, given.inputs, given.outputs[:1], given.examples)
"""

TARGETS = {
    "r1cs": ("step", "--target", "r1cs", "--json-circuit"),
    "plonkish": ("step", "--target", "plonkish"),
    "folded": ("step", "--target", "verilog", "--scheduler", "folded"),
    "parallel": ("scores", "--target", "verilog", "--scheduler", "parallel"),
}


def checkout(folder: Path) -> Path:
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "__init__.py").write_text("")
    (folder / "models" / "net.py").write_text("def scaled(x, w):\n    return x * w + 1.5\n")
    (folder / "program.py").write_text(PROGRAM)
    return folder


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("target", TARGETS)
def test_the_same_bytes_from_two_checkouts(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two copies of a program, from two working directories; witnesses are left out: their salts are random."""
    name, *arguments = TARGETS[target]
    found = []
    for place, working in (("here", "here"), ("far/away", ".")):
        folder = checkout(tmp_path / place)
        monkeypatch.chdir(tmp_path / working)
        monkeypatch.setattr(sys, "path", [*sys.path])
        for module in ("models", "models.net"):
            monkeypatch.delitem(sys.modules, module, raising=False)
        made = folder / "made"
        outcome = run("compile", f"{folder}/program.py:{name}", *arguments, "-o", made)
        assert outcome.status == 0, outcome.err
        found.append(written(made))
    here, there = found
    assert here.keys() == there.keys()
    assert [file for file in here if here[file] != there[file]] == []
    assert not any(str(tmp_path).encode() in content for content in here.values())
    if target == "folded":
        text = b"".join(here.values())
        assert b"(models/net.py:2)" in text and b"(program.py:9)" in text
