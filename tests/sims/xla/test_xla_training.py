"""A training by XLA leaves the files of one by numpy, byte for byte, wherever it was interrupted and resumed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import trained_programs
from r1cs_programs import program as integer_program

from circuitize.api.exact import exact
from circuitize.api.training.train import Trained, train
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.phases import Phases
from circuitize.circuits.types import Fixed
from circuitize.sims import integer
from circuitize.sims.device import CPU
from circuitize.sims.xla.device import gpu, processor
from circuitize.sims.xla.stretch import Stretches


@pytest.fixture(autouse=True)
def left_as_it_was() -> Iterator[None]:
    """Numbers of 64 bits are asked for where they are used, not of the whole process."""
    before = jax.config.read("jax_enable_x64")
    yield
    assert jax.config.read("jax_enable_x64") == before


STEP = exact(trained_programs.step(), Phases())
STEPS = 10


def trained(folder: Path, device: str, **more: Any) -> Trained:
    given = {"seed": b"\x5e\xed", "steps": STEPS, "dataset": trained_programs.data(), "roots": False, **more}
    return train(STEP, folder, device=device, schedule=trained_programs.rates, **given)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_those_of_numpy_wherever_it_goes_on(tmp_path: Path) -> None:
    """Checkpoints fall into epochs of 5 steps and outside them."""
    judged = {"every": 4, "evaluate": trained_programs.judge(), "test": trained_programs.data()}
    told: list[str] = []
    whole = trained(tmp_path / "numpy", "numpy", **judged)
    trained(tmp_path / "xla", "xla", say=told.append, **judged)
    assert any("compiled the step in integer for XLA on the CPU" in line for line in told)
    for steps, device in ((3, "xla"), (7, "numpy"), (STEPS, "xla")):
        again = trained(tmp_path / "both", device, steps=steps, **judged)
    assert again.resumed == 7 and again.last == whole.last
    expected = files(tmp_path / "numpy")
    assert "checkpoints-integer/00000008.safetensors" in expected
    assert files(tmp_path / "xla") == expected
    named = {name for name in expected if not name.startswith("checkpoints") and name != "metrics.jsonl"}
    found = files(tmp_path / "both")  # judged at the ends of its three parts, too
    assert {name: found[name] for name in named - {"metrics.csv"}} == {
        name: expected[name] for name in named - {"metrics.csv"}
    }
    last = "checkpoints-integer/00000010.safetensors"
    assert found[last] == expected[last]


def test_float64_beside_it_is_close(tmp_path: Path) -> None:
    ours = trained(tmp_path / "numpy", "numpy", executor="both")
    theirs = trained(tmp_path / "xla", "xla", executor="both")
    for name in ("loss_float64", "drift"):
        assert ours.last[name] == pytest.approx(theirs.last[name], rel=1e-9)
    for name in ("loss", "step", "epoch"):
        assert ours.last[name] == theirs.last[name]
    for name, values in ours.outputs.items():
        np.testing.assert_array_equal(values, theirs.outputs[name], strict=True)


@pytest.mark.parametrize("last", [pytest.param(6, marks=pytest.mark.deep), 7, pytest.param(8, marks=pytest.mark.deep)])
def test_a_step_without_a_value_is_named_as_numpy_names_it(last: int, tmp_path: Path) -> None:
    """In the middle of the steps that are done together, or the first or the last of them."""
    good = exact(trained_programs.step(), Phases()).integer

    def rates(step: int) -> dict[str, float]:
        (most,) = (
            port.format.high / 2**port.format.fraction_bits for port in good.inputs if port.name == "learning_rate"
        )
        return {"learning_rate": most if step == last else 1 / 32, "momentum": 0.5}

    said, left = [], []
    for device in ("numpy", "xla"):
        given: dict[str, Any] = {"steps": STEPS, "dataset": trained_programs.data(), "roots": False, "every": 3}
        with pytest.raises(Undefined) as error:
            train(STEP, tmp_path / device, seed=b"\x01", schedule=rates, device=device, **given)
        said.append(str(error.value))
        left.append(files(tmp_path / device))
    assert said[0] == said[1] and said[0].startswith(f"step {last}: ")
    assert left[0] == left[1]


@pytest.mark.parametrize("wide", [False, True])
def test_what_is_held_is_checked(wide: bool) -> None:
    """At whatever step it leaves its interval, the last one included; of 64 bits, too, which wrap to some inside."""
    most = 1 << 33 if wide else 100
    builder = Builder()
    held, more = builder.input(Fixed((3,), 0, -9, 9)), builder.input(Fixed((3,), 0, -most, most))
    kept = builder.add(integers.Check(-9, 9), builder.add(integers.Add(), held, more))
    program = integer_program(builder.build([kept]))
    step = replace(program, outputs=(replace(program.outputs[0], name="in0"),))
    stretches = Stretches(step, step.arrow, processor(), [], 5)
    start = stretches.put({"in0": np.array([9, -9, 9])})
    inside = np.zeros((5, 3), np.int64)
    inside[0, 2] = -1  # what a step after a failed one would take, too
    done = stretches.run(start, {"in1": inside})
    assert done is not None and stretches.take(done.held)["in0"].tolist() == [9, -9, 8]
    for last in range(5):
        for move in (2, 1 << 32 if wide else 100):
            moves = inside.copy()
            moves[last, 2] += move
            moves[last + 1 : last + 2, 2] -= move  # and inside again
            assert stretches.run(start, {"in1": moves}) is None
            assert not last or stretches.run(start, {"in1": moves[:last]}) is not None


def test_formats_that_change_are_refused() -> None:
    """Numbers of 32 bits would not hold what numpy carries on."""
    builder = Builder()
    x = builder.input(Fixed((2,), 0, -9, 9))
    program = integer_program(builder.build([builder.add(integers.Add(), x, x)]))
    port, *_ = program.inputs
    step = replace(program, outputs=(replace(program.outputs[0], name=port.name),))
    with pytest.raises(CircuitizeError, match=r"expected 'in0' to leave as it enters, .* found .*; state one format"):
        next(integer.train(step, {"in0": np.array([1, 2])}, [{}], processor()))


@pytest.mark.deep
def test_steps_one_by_one_are_those_of_numpy() -> None:
    program = STEP.integer
    held = {port.name for port in program.outputs} & {port.name for port in program.inputs}
    initial = {name: value for name, value in program.examples[0].items() if name in held}
    batches = [{k: v for k, v in one.items() if k not in held} for one in program.examples]
    ours, theirs = (list(integer.train(program, initial, batches, device)) for device in (CPU, processor()))
    for one, other in zip(ours, theirs, strict=True):
        for name, value in one.items():
            np.testing.assert_array_equal(processor().take(other[name]), value, strict=True)


def test_devices_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CircuitizeError, match="expected a device among numpy, xla, cuda, found 'tpu'; choose one"):
        trained(tmp_path / "t", "tpu")
    if gpu() is None:
        with pytest.raises(CircuitizeError, match="expected a CUDA GPU that JAX finds, found none; where there is one"):
            trained(tmp_path / "t", "cuda")
    assert not (tmp_path / "t").exists()
