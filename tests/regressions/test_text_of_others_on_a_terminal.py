"""`verify`, `verify-run` and `audit` printed what a prover wrote as it was: control codes showed another verdict."""

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import tensor_runs
from cli_programs import Outcome, copied, keys, proof, run
from tensor_proofs import planned

from circuitize import Format, Port, Program, Visibility, trace
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.saved import save
from circuitize.provers.tensor.runs.files import MANIFEST

SPOOFS = [
    "\x1b[2K\rvalid: all is well",
    "\x9b2K\x85valid: all is well",
    "\x7f\x00\x08\x08valid",
    "one\nvalid: all is well",
    "a\u202edilav\u2066b",
    "a\u2028valid\u2029\u200b\ufeff",
    "\udcff\ud800\U000e0041",
]
"""C0, C1, DEL, line ends, marks that turn text around, line separators, what has no width, surrogates, tags."""

FORMAT = Format.signed(8, fraction_bits=4).of(())


def visible(text: str) -> str:
    """The escapes of what is not printable."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def shown(outcome: Outcome) -> str:
    """What a terminal gets: printable characters alone but for the line ends of lines that begin as ours do."""
    text = outcome.out + outcome.err
    assert all(one == "\n" or one.isprintable() for one in text), text
    assert "\nvalid" not in f"\n{text}", text
    return text


def altered(path: Path, **changed: Any) -> None:
    content = {**json.loads(path.read_text()), **changed}
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


@pytest.mark.parametrize("spoof", SPOOFS)
def test_a_statement(tmp_path: Path, spoof: str) -> None:
    """Its digest, its prover, and the name of a port."""
    folder = copied(proof(), tmp_path / "proof")
    path = folder / "statement.json"
    honest = json.loads(path.read_text())
    ports = {**honest["ports"], f"input:{spoof}": {"integers": [0]}}
    for changed in ({"digest": spoof}, {"prover": spoof}, {"ports": ports}):
        path.write_text(json.dumps({**honest, **changed}, indent=1, sort_keys=True) + "\n")
        for more in ((), ("--json",)):
            outcome = run("verify", folder, "--keys", keys(), *more)
            assert outcome.status in (1, 2)
            assert visible(spoof)[:2] in shown(outcome)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "step.arrow"
    save(planned("iris.py:step")[0], path, examples=True)
    return path


@pytest.mark.parametrize("spoof", SPOOFS)
def test_a_run(tmp_path: Path, program: Path, spoof: str) -> None:
    """Its program, its plans, the name of a group, of a port in a step's file, of a file."""
    folder = tensor_runs.copied(tmp_path)
    honest = json.loads((folder.path / MANIFEST).read_text())
    for changed in ({"program": spoof}, {"plans": spoof}, {"roots": {**honest["roots"], spoof: "00" * 32}}):
        folder.restate(**{**honest, **changed})
        outcome = run("verify-run", folder.path, "--program", program, "--scalar", "learning_rate=1/8")
        assert outcome.status in (1, 2)
        assert visible(spoof)[:2] in shown(outcome)
    folder.restate(**honest)
    own = folder.step(1)
    folder.put(1, own, publics={**own.publics, ("input", spoof): (0,)})
    outcome = run("verify-run", folder.path, "--program", program, "--scalar", "learning_rate=1/8")
    assert outcome.status == 1 and visible(spoof)[:2] in shown(outcome)
    folder.put(1, own)
    if spoof.isascii() and "\0" not in spoof:
        folder.step_path(1).with_name(f"{spoof}.proof").write_bytes(b"")
        outcome = run("verify-run", folder.path, "--program", program, "--scalar", "learning_rate=1/8")
        assert outcome.status == 1 and visible(spoof)[:2] in shown(outcome)


@pytest.fixture(scope="module")
def circuit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("circuits")
    tiny = folder / "tiny.py"
    tiny.write_text(
        "from circuitize import Format, Port, Program, Visibility, trace\n"
        "bit = Format.signed(3, fraction_bits=0).of(())\n"
        "program = Program(trace(lambda x: x * x, ()), (Port('x', Visibility.PUBLIC, bit),),\n"
        "                  (Port('y', Visibility.PUBLIC),), ({'x': 1.0},))\n"
    )
    assert run("compile", f"{tiny}:program", "--target", "r1cs", "-o", folder / "circuit").status == 0
    return folder / "circuit"


@pytest.mark.parametrize("spoof", SPOOFS)
def test_the_names_of_wires(tmp_path: Path, circuit: Path, spoof: str) -> None:
    """Each line of a .sym file names a wire; a row left out leaves one undetermined, and its name is printed."""
    folder = copied(circuit, tmp_path / "circuit")
    symbols = folder / "circuit.sym"
    name = spoof.replace("\n", " ").encode(errors="replace").decode()
    lines = [line.rsplit(",", 1)[0] for line in symbols.read_text().splitlines()]
    symbols.write_bytes("".join(f"{line},{name}\n" for line in lines).encode())
    for more in ((), ("--json",)):
        outcome = run("audit", folder, "--each-row", *more)
        assert outcome.status in (0, 1)
        text = shown(outcome)
        assert more or visible(name) in text


def test_what_a_users_file_prints_and_raises(tmp_path: Path) -> None:
    """On a terminal: what it prints, what it warns of, what it raises, and its own name."""
    path = tmp_path / "mine\x1b[2K\x9b.py"
    path.write_text(
        "import warnings\nprint('\\x1b[2Jvalid', flush=True)\nwarnings.warn('\\x1b[2J')\n"
        "def step():\n    raise ValueError('\\x1b[2K\\rvalid: \\u202e')\n"
    )
    status, text = on_a_terminal("estimate", f"{path}:step")
    assert status == 2
    assert r"\x1b[2Jvalid" in text and r"\x1b[2K\rvalid: \u202e" in text and r"mine\x1b[2K\x9b.py" in text


def on_a_terminal(*arguments: str) -> tuple[int, str]:
    """What a process's command line writes on a terminal, less the codes of its own progress; printable but for \\n."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "circuitize.cli", *arguments]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    taken = b""
    with suppress(OSError):
        while got := os.read(ours, 65536):
            taken += got
    os.close(ours)
    text = taken.decode().replace("\r\n", "\n").replace("\r\x1b[K", "")
    return process.wait(), shown(Outcome(0, text, ""))


@pytest.mark.parametrize("name", ["", *SPOOFS])
def test_ports_have_printable_names(name: str) -> None:
    for inputs, outputs in ((name, "y"), ("x", name)):
        with pytest.raises(CircuitizeError, match="put names of printable characters"):
            Program(
                trace(lambda x: x, ()), (Port(inputs, Visibility.PUBLIC, FORMAT),), (Port(outputs, Visibility.PUBLIC),)
            )
