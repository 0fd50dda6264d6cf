"""Names that met: a public port with the name of a group, and a scalar that also leaves, in several steps at once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_programs import refused, run

from circuitize import Format, Port, Program, Role, Visibility, trace

PUBLIC, COMMITTED = Visibility.PUBLIC, Visibility.COMMITTED
NUMBERS = Format.signed(12, fraction_bits=4)
HERE = f"{__file__}:"
WEIGHT = Port("w", COMMITTED, NUMBERS.of((2,)), Role.PARAMETER)
PAIR = np.array([0.5, 1.0])


def entering() -> Program:
    ports = (WEIGHT, Port("parameters", PUBLIC, NUMBERS.of((2,))))
    examples = ({"w": PAIR, "parameters": PAIR},)
    return Program(trace(lambda w, x: w * x, (2,), (2,)), ports, (Port("y", PUBLIC),), examples)


def leaving() -> Program:
    outputs = (WEIGHT, Port("parameters", PUBLIC))
    made = trace(lambda w, x: (w, w * x), (2,), (2,))
    return Program(made, (WEIGHT, Port("x", PUBLIC, NUMBERS.of((2,)))), outputs, ({"w": PAIR, "x": PAIR},))


def echo() -> Program:
    """The rate of each step is public once more, as a result."""
    inputs = (
        WEIGHT,
        Port("inputs", COMMITTED, NUMBERS.of((1, 2))),
        Port("rate", PUBLIC, NUMBERS.of(()), Role.SCALAR),
    )
    examples = ({"w": PAIR, "inputs": PAIR[None], "rate": np.array(0.5)},)
    made = trace(lambda w, x, rate: (w - rate * x.sum(0), rate * 1.0), (2,), (1, 2), ())
    return Program(made, inputs, (WEIGHT, Port("rate", PUBLIC)), examples)


@pytest.mark.parametrize("program", ["entering", "leaving"])
def test_a_public_port_has_no_groups_name(program: str, tmp_path: Path) -> None:
    """The root took its place in the statement, so that an honest proof was written and refused."""
    out = ("--prover", "tensor", "--not-zero-knowledge", "-o", tmp_path / "proof")
    assert "of the name 'parameters' beside that group" in refused("prove", HERE + program, *out)
    assert not (tmp_path / "proof").exists()


def test_a_scalar_that_leaves_is_not_handed_on(tmp_path: Path) -> None:
    """It ended in a KeyError, of whoever proved or verified two steps in one proof."""
    (tmp_path / "rates.py").write_text("def falling(step):\n    return {'rate': 1 / 2 ** (step - 1)}\n")
    settled = ("--steps", "3", "--seed", "aa", "--schedule", f"{tmp_path / 'rates.py'}:falling")
    proved = ("--losses", "all", "--not-zero-knowledge", "-o", tmp_path / "run")
    assert run("prove-run", f"{HERE}echo", *settled, *proved).status == 0
    outcome = run("verify-run", tmp_path / "run", "--program", f"{HERE}echo", *settled, "--json")
    verdict = json.loads(outcome.out)
    assert (outcome.status, verdict["per_proof"]) == (0, 3)
    assert verdict["scalars"]["rate"]["reals"] == verdict["publics"]["rate"]["reals"] == [1.0, 0.5, 0.25]
