"""PROGRAM on the command line: Python files, saved arrows, and what is said about everything else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_programs import STEP, refused, run, step

from circuitize import program_digest, quantize, save
from circuitize.cli.loading import load_program

HEADER = "import cli_programs\nfrom cli_programs import step\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(HEADER + text)
    return path


def test_a_function_a_program_and_a_saved_arrow_are_one_program(tmp_path: Path) -> None:
    path = written(tmp_path, "made = step()\n")
    save(step(), tmp_path / "real.arrow", examples=True)
    save(quantize(step()), tmp_path / "integer.arrow", examples=True)
    named = [STEP, f"{path}:step", f"{path}:made", str(tmp_path / "real.arrow"), str(tmp_path / "integer.arrow")]
    assert {load_program(name).digest for name in named} == {program_digest(quantize(step()))}


def test_files_may_import_their_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_mine.py").write_text("from cli_programs import step\n")
    path = written(tmp_path, "from neighbour_of_mine import step as again\n")
    assert load_program(f"{path}:again").digest == load_program(STEP).digest


def test_what_a_file_prints_does_not_disturb_json(tmp_path: Path) -> None:
    path = written(tmp_path, "print('loud')\n")
    outcome = run("estimate", f"{path}:step", "--json")
    assert outcome.status == 0
    assert json.loads(outcome.out)["digest"]
    assert outcome.err == "loud\n"


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("x = 1 / 0\n", "step", "{path}:3: ZeroDivisionError: division by zero"),
        ("def f():\n    return [][1]\n", "f", "{path}:4: IndexError"),
        ("def f(:\n", "f", "{path}:3: expected Python"),
        ("import nothing_of_that_name\n", "f", "{path}:3: ModuleNotFoundError"),
        ("raise SystemExit('over')\n", "f", "{path}:3: SystemExit: over"),
        ("def f(x):\n    return x\n", "f", "expected a function of no arguments, found f(x)"),
        ("f = step().arrow\n", "f", "found a bare arrow; wrap it as Program("),
        ("def f():\n    return step().arrow\n", "f", "found a bare arrow; wrap it as Program("),
        ("f = 3\n", "f", "expected a Program, found int"),
        ("made = step()\n", "missing", "expected a program of that name, found none; the file has made"),
        ("import numpy as np\ndef f():\n    return step() @ 3\n", "f", "{path}:5: TypeError"),
        (
            "from circuitize import trace\ndef f():\n    return trace(lambda x: x.reshape(7), (2,))\n",
            "f",
            "{path}:5: expected a shape of 2 elements, found [7]",
        ),
    ],
)
def test_one_line_says_what_is_wrong_and_where(tmp_path: Path, text: str, name: str, said: str) -> None:
    path = written(tmp_path, text)
    assert said.format(path=path) in refused("estimate", f"{path}:{name}")


def test_a_file_without_a_name_lists_its_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "made = step()\ndef wants(x): ...\n")
    monkeypatch.chdir(tmp_path)
    for name in (str(path), f"./{path.name}"):
        assert "found no name; name one of made" in refused("estimate", name)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("absent.py:step", "expected a Python file, found no such file"),
        ("absent.arrow", "found No such file or directory"),
        (".", "found Is a directory"),
        ("model.onnx", "expected an ONNX model, found bytes that are none"),
        ("model.bin", "expected file.py:name"),
    ],
)
def test_what_is_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("model.onnx", "model.bin"):
        Path(name).write_bytes(b"\x08\x07onnx")
    assert said in refused("estimate", argument)


def test_damaged_saved_arrows_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "step.arrow"
    save(step(), path, examples=True)
    content = path.read_bytes()
    for place in range(8, len(content), 97):
        changed = bytearray(content)
        changed[place] ^= 4
        path.write_bytes(changed)
        assert "damaged" in refused("estimate", path)
    path.write_bytes(content[:-1])
    assert "damaged" in refused("estimate", path)


def test_a_program_that_binds_nothing_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "from cli_programs import unbound\n")
    for command in (["estimate"], ["check"], ["compile", "--target", "r1cs", "-o", str(tmp_path / "c")]):
        assert "expected a program that binds something" in refused(command[0], f"{path}:unbound", *command[1:])
    assert not (tmp_path / "c").exists()


def test_overflow_is_refused_with_its_place(tmp_path: Path) -> None:
    path = written(tmp_path, "from cli_programs import powers\n")
    line = refused("estimate", f"{path}:powers")
    assert "2^62" in line
    assert "cli_programs.py:" in line
