"""Small programs for tests of the command line, and keys and a proof of one of them, made once per test run."""

from __future__ import annotations

import atexit
import json
import os
import shutil
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from circuitize import Format, Port, Program, Role, Visibility, exp, trace
from circuitize.cli import main

PUBLIC, PRIVATE, COMMITTED = Visibility.PUBLIC, Visibility.PRIVATE, Visibility.COMMITTED
NUMBERS = Format.signed(8, fraction_bits=4).of((2,))
EXAMPLES = (
    {"x": np.array([0.5, -1.25]), "w": np.array([1.5, 2.0])},
    {"x": np.array([1.0, 2.0]), "w": np.array([-2.0, 0.25])},
)


def step() -> Program:
    """A public x and a committed w give a public y and a new w, which has the old one's format."""
    arrow = trace(lambda x, w: (x * w, w - 0.25 * x), (2,), (2,))
    inputs = (Port("x", PUBLIC, NUMBERS), Port("w", COMMITTED, NUMBERS, Role.PARAMETER))
    return Program(arrow, inputs, (Port("y", PUBLIC), inputs[1]), EXAMPLES)


def other() -> Program:
    """The same interface, another meaning."""
    arrow = trace(lambda x, w: (x * w, w - 0.5 * x), (2,), (2,))
    return Program(arrow, step().inputs, step().outputs, EXAMPLES)


def inverse() -> Program:
    """Not defined at 0."""
    examples = ({"x": np.array([0.5, 1.0])}, {"x": np.array([2.0, -1.0])})
    return Program(trace(lambda x: 1.0 / x, (2,)), (Port("x", PUBLIC, NUMBERS),), (Port("y", PUBLIC),), examples)


def powers() -> Program:
    """Passes 2^62."""
    wide = Format.signed(40, fraction_bits=4).of((2,))
    power = trace(lambda x: x * x * x, (2,))
    return Program(power, (Port("x", PUBLIC, wide),), (Port("y", PUBLIC),), ({"x": np.full(2, 2.0**34)},))


def unbound() -> Program:
    """Binds nothing."""
    return step().with_visibility(x=PRIVATE, w=PRIVATE, y=PRIVATE)


def growth() -> Program:
    """Looks a table up."""
    return Program(
        trace(exp, (2,)), (Port("x", PUBLIC, NUMBERS),), (Port("y", PUBLIC),), ({"x": np.array([-1.0, 1.0])},)
    )


STEP = f"{__file__}:step"


@dataclass(frozen=True)
class Outcome:
    """What a command line did."""

    status: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line that it said on standard error."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


def run(*arguments: str | Path) -> Outcome:
    """Run a command line in this process."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main([os.fspath(argument) for argument in arguments])
    return Outcome(status, out.getvalue(), err.getvalue())


def refused(*arguments: str | Path) -> str:
    """Run a command line that is bad use or has bad input; the one line it says."""
    outcome = run(*arguments)
    assert outcome.status == 2, outcome
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    return outcome.line


@cache
def _folder() -> Path:
    folder = Path(mkdtemp(prefix="circuitize-tests-"))
    atexit.register(shutil.rmtree, folder)
    return folder


def no(*arguments: str | Path) -> str:
    """The reason for which verify says no, of a proof that it can read; it reports nothing else."""
    outcome = run("verify", *arguments, "--json")
    report = json.loads(outcome.out)
    assert (outcome.status, report["valid"], report["publics"], report["roots"]) == (1, False, {}, {}), outcome
    return str(report["reason"])


def keys(program: str = "step", prover: str = "groth16") -> Path:
    """A folder of keys for a program of this file; do not change it."""
    return _keys(program, prover)


def proof(program: str = "step", prover: str = "groth16") -> Path:
    """A proof's folder of a program of this file; do not change it."""
    return _proof(program, prover)


def reported(folder: Path) -> dict[str, Any]:
    """What setup or prove reported of a folder of `keys` or of `proof`."""
    report: dict[str, Any] = json.loads(folder.with_name(f"{folder.name}.json").read_text())
    return report


@cache
def _keys(program: str, prover: str) -> Path:
    folder = _folder() / f"keys-{program}-{prover}"
    return _kept(folder, run("setup", f"{__file__}:{program}", "--prover", prover, "-o", folder, "--json"))


@cache
def _proof(program: str, prover: str) -> Path:
    folder = _folder() / f"proof-{program}-{prover}"
    named = (f"{__file__}:{program}", "--prover", prover, "--keys", keys(program, prover))
    return _kept(folder, run("prove", *named, "-o", folder, "--json"))


def _kept(folder: Path, made: Outcome) -> Path:
    assert made.status == 0 and "INSECURE" in made.err, made
    folder.with_name(f"{folder.name}.json").write_text(made.out)
    return folder


def prove(folder: Path, program: str = "step", *more: str | Path) -> Outcome:
    return run("prove", f"{__file__}:{program}", "--prover", "groth16", "--keys", keys(program), "-o", folder, *more)


def copied(folder: Path, to: Path, without: Sequence[str] = ()) -> Path:
    """A copy of a folder to change."""
    shutil.copytree(folder, to, ignore=lambda _, names: set(names) & set(without))
    return to
