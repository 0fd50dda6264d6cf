"""da4ml's saved logic as programs: bit for bit its own interpreter, in hardware and in constraints too."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from combinational_networks import Network, bits, frames, mixture, perceptron, traced
from every_case import every_case
from numpy.typing import NDArray
from tiers import count, seeds

import circuitize as cz
from circuitize.backends.verilog.folded import schedule as folded
from circuitize.backends.verilog.parallel import schedule as parallel
from circuitize.circuits.errors import FormatError, OverflowRisk
from circuitize.circuits.program import IntegerProgram
from circuitize.cli import main
from circuitize.frontends.combinational.files import from_logic, parsed
from circuitize.frontends.combinational.programs import program
from circuitize.sims import integer, rtl
from circuitize.sims.agree import R1CS, agree

FRAMES = 200
MIXED = (np.array([1, 0, 1, 1]), np.array([2, 3, 0, 4]), np.array([3, 1, 2, 0]))
"""Inputs of four formats."""


def made(logic: Any, folder: Path, batch: int = 1) -> IntegerProgram:
    logic.save(folder / "logic.json")
    return from_logic(folder / "logic.json", batch)


def run(program: IntegerProgram, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Inputs, the ends of all intervals among them, and what the program makes of these, as reals."""
    entering, leaving = program.inputs[0].format, program.outputs[0].format
    low, high = (np.full(entering.shape[1], end) for end in (entering.low, entering.high))
    x = frames(low, high, entering.shape[0], seed)
    (y,) = integer.executor(program).outputs([x])
    return np.ldexp(x, -entering.fraction_bits), np.ldexp(y, -leaving.fraction_bits)


def drawn(seed: int) -> tuple[str, Network, Any]:
    kinds: list[tuple[str, Network, Any]] = [
        ("perceptron", perceptron(seed), (1, 2, 3)),
        ("bits by element", perceptron(seed, (4, 9, 5, 3), mixed=True), MIXED),
        ("mixture", mixture(seed), (1, 2, 4)),
        ("bits", bits(seed), MIXED),
    ]
    return kinds[seed % len(kinds)]


@every_case(seeds(12, deep=600))
def test_programs_are_bit_equal_to_the_interpreter(seed: int, tmp_path: Path) -> None:
    _, network, formats = drawn(seed)
    logic = traced("da4ml", network, 4, formats)
    x, y = run(made(logic, tmp_path, FRAMES), seed)
    np.testing.assert_array_equal(y, logic.predict(x))
    assert len(np.unique(y)) > 2


@every_case(seeds(8, deep=200))
def test_binaries_are_bit_equal_to_the_interpreter(seed: int, tmp_path: Path) -> None:
    _, network, formats = drawn(seed)
    logic = traced("da4ml", network, 4, formats)
    logic.save_binary(tmp_path / "logic.bin")
    x, y = run(from_logic(tmp_path / "logic.bin", FRAMES), seed)
    np.testing.assert_array_equal(y, logic.predict(x))


@every_case(seeds(30, deep=3000))
def test_damaged_binaries_end_in_one_line_or_in_a_program(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    words = traced("da4ml", drawn(seed % 4)[1], 4).to_binary().astype(np.int32)
    at = random.integers(1, 40 if seed % 2 else len(words), 2)
    words[at] = random.choice([-1, 0, 1, 2, 7, 1000, 2**31 - 1, -(2**31)], 2)
    (tmp_path / "logic.bin").write_bytes(words.tobytes()[: None if seed % 3 else -int(random.integers(1, 9))])
    try:
        from_logic(tmp_path / "logic.bin")
    except cz.CircuitizeError as error:
        told = str(error)
        assert "\n" not in told and (told.startswith(str(tmp_path)) or isinstance(error, OverflowRisk))


def test_each_instruction_by_hand() -> None:
    """3 (floor(x / 2) mod 4) + max(y, 0) - 1/2 and the lesser of x and y, of x and y from -4 to 3."""
    whole = [-4.0, 3.0, 1.0]
    records = [
        [0, -1, -1, 0, whole, 0, 0],
        [1, -1, -1, 0, whole, 0, 0],
        [0, -1, 3, 0, [-4.0, 2.0, 2.0], 0, 0],
        [2, 2, 0, 1, [-12.0, 6.0, 2.0], 0, 0],
        [1, -1, 2, 0, [0.0, 3.0, 1.0], 0, 0],
        [3, 4, 0, 0, [-12.0, 9.0, 1.0], 0, 0],
        [5, -1, 4, -1, [-12.5, 8.5, 0.5], 0, 0],
        [0, 1, 1, 0, [-7.0, 7.0, 1.0], 0, 0],
        [0, 1, 6, 7, whole, 0, 0],
    ]
    logic = [[2, 3], [0, 0], [6, 8, -1], [1, 0, 0], [0, 1, 0], records, -1, -1]
    made = program(parsed(json.loads(json.dumps(logic)), "by hand"), 64)
    x, y = np.meshgrid(np.arange(-4, 4), np.arange(-4, 4))
    (found,) = integer.executor(made).outputs([np.stack([x.ravel(), y.ravel()], axis=1)])
    sums = 2 * (3 * (x // 2 * 2) + np.maximum(y, 0) - 0.5)
    wanted = np.stack([sums, -np.minimum(x, y), 0 * x], axis=-1).reshape(64, 3)
    np.testing.assert_array_equal(found * 2.0 ** -made.outputs[0].format.fraction_bits, wanted)


def test_a_pipeline_is_its_stages(tmp_path: Path) -> None:
    from da4ml.trace import to_pipeline

    logic = traced("da4ml", perceptron(5, (4, 9, 5, 3), mixed=True), 4)
    stages = to_pipeline(logic, 4, verbose=False)
    assert len(stages.solutions) > 2
    whole, cut = made(logic, tmp_path, FRAMES), made(stages, tmp_path, FRAMES)
    np.testing.assert_array_equal(run(cut)[1], run(whole)[1])
    np.testing.assert_array_equal(run(cut)[1], logic.predict(run(whole)[0]))


def test_packed_files_are_read(tmp_path: Path) -> None:
    logic = traced("da4ml", perceptron(1), 4)
    plain = made(logic, tmp_path)
    (tmp_path / "logic.json.gz").write_bytes(gzip.compress((tmp_path / "logic.json").read_bytes()))
    assert cz.program_digest(from_logic(tmp_path / "logic.json.gz")) == cz.program_digest(plain)


@pytest.mark.rtl
@pytest.mark.parametrize("seed", range(1, count(2, deep=40)))
def test_hardware_is_bit_equal_to_the_executor(seed: int, tmp_path: Path) -> None:
    _, network, formats = drawn(seed)
    program = made(traced("da4ml", network, 4, formats), tmp_path)
    format = program.inputs[0].format
    low, high = (np.full(format.size, end) for end in (format.low, format.high))
    vectors = {"inputs": frames(low, high, count(60, deep=2000), seed).reshape(-1, *format.shape)}
    schedulers: list[Callable[[IntegerProgram], Any]] = [lambda program: parallel(program, 4)]
    if seed == 1:
        schedulers.append(folded)
    for scheduled in schedulers:
        found = rtl.check_design(scheduled(program), program, vectors)
        assert found.mismatches == 0 and not found.undefined, found.first_difference


def test_constraints_are_bit_equal_to_the_executor(tmp_path: Path) -> None:
    program = made(traced("da4ml", perceptron(3), 4), tmp_path)
    format = program.inputs[0].format
    rows = np.random.default_rng(0).integers(format.low, format.high, (2, *format.shape), endpoint=True)
    compared = agree(program, [{"inputs": row} for row in rows], [R1CS(program)])
    assert (compared.mismatches, compared.undefined, compared.vectors) == (0, 0, 2), compared.first_difference


@pytest.mark.rtl
def test_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(traced("da4ml", perceptron(1), 4), tmp_path)
    design = [str(tmp_path / "logic.json"), "--target", "verilog", "--scheduler", "parallel", "-o", str(tmp_path / "d")]
    assert main(["compile", *design]) == 0
    assert main(["simulate", str(tmp_path / "d")]) == 0
    assert "0 mismatches, 0 undefined" in capsys.readouterr().out


GOOD = [
    [1, 1],
    [0],
    [1],
    [0],
    [0],
    [[0, -1, -1, 0, [-4.0, 3.0, 1.0], 0, 0], [0, -1, 2, 0, [0.0, 3.0, 1.0], 0, 0]],
    1,
    1,
]


def changed(*path: Any) -> Any:
    *places, last, value = path
    data = json.loads(json.dumps(GOOD))
    at = data
    for place in places:
        at = at[place]
    at[last] = value
    return data


@every_case(
    [
        (changed(5, 1, 0, 1), "instruction 1: expected operands, an operation and an interval .*, found operand 1"),
        (changed(5, 1, 2, 99), "instruction 1: .*, found opcode 99; save the logic again"),
        (changed(5, 1, 4, [0.0, 3.0, 0.3]), "instruction 1: expected an interval .* a power of two, found"),
        (changed(5, 1, 4, [0.0, float("nan"), 1.0]), "instruction 1: expected an interval"),
        (changed(5, 1, 4, [0.0, 2.0**70, 1.0]), "instruction 1: expected an interval"),
        (changed(5, 0, 0, 1), "instruction 0: expected operands, an operation and an interval that there are"),
        (changed(1, 0, 2), "instruction 0: .*, found an input that is shifted, by 2"),
        (changed(2, 0, 7), "output 0: expected an instruction below 2 and a shift within 60, found 7 and 0"),
        (changed(5, 1, "x"), "instruction 1: "),
        (changed(5, 1, 2, 8), "instruction 1: expected a table of the file, found 0"),
        ([1, 2], "found another structure"),
        ([], "found another structure"),
        ({}, "found JSON of something else"),
        ({"meta": "ALIRModel", "spec_version": 1}, "expected version 2, 3 or 4 of ALIR, found 1"),
        ({"meta": "ALIRModel", "spec_version": 4, "model": 3}, "found another structure"),
    ]
)
def test_refusals(data: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(data))
    with pytest.raises(FormatError, match=message) as raised:
        from_logic(path)
    assert str(raised.value).startswith(str(path)) and "\n" not in str(raised.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    for text, message in ((b"[[1", "found no JSON"), (b"\x1f\x8b12", "check the file"), (b"\xff", "found no JSON")):
        (tmp_path / "bad.json").write_bytes(text)
        with pytest.raises(FormatError, match=message):
            from_logic(tmp_path / "bad.json")
    with pytest.raises(FormatError, match="No such file"):
        from_logic(tmp_path / "none.json")


@every_case(seeds(40, deep=3000))
def test_damaged_files_end_in_one_line_or_in_a_program(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    text = json.dumps(traced_once())
    numbers = list(re.finditer(r"-?\d+(\.\d+)?", text))
    for at in sorted(random.choice(len(numbers), 2, replace=False), reverse=True):
        found = numbers[at]
        new = random.choice(["-1", "0", "1", "3", "1000", "1e300", "null", '"x"', "-2", "[]", "4294967296"])
        text = text[: found.start()] + str(new) + text[found.end() :]
    (tmp_path / "damaged.json").write_text(text)
    try:
        from_logic(tmp_path / "damaged.json")
    except cz.CircuitizeError as error:
        assert "\n" not in str(error)


def traced_once() -> Any:
    if not KEPT:
        from da4ml.types import JSONEncoder

        KEPT.append(json.loads(json.dumps(traced("da4ml", mixture(1), 4), cls=JSONEncoder)))
    return KEPT[0]


KEPT: list[Any] = []


@pytest.mark.deep
def test_twenty_networks_are_bit_equal_to_their_own_executors() -> None:
    """Of da4ml, alkaid, HGQ2, QDQ and QONNX: those of the table in docs/quantized.md."""
    root = Path(__file__).parents[2]
    for environment in (".venv-hgq", ".venv-qonnx"):
        if not (root / environment).exists():
            pytest.skip(f"needs the packages of {environment}; make .stamps/source-{environment[6:]}")
    command = [sys.executable, str(root / "benchmarks" / "quantized_networks.py"), "--rows", "2000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [line.split(" | ") for line in done.stdout.splitlines()[2:]]
    assert done.returncode == 0 and len(rows) == 20, done.stdout + done.stderr
    assert {(row[3], row[4]) for row in rows} == {("2,000", "0")}
