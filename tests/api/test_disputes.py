"""Disputes: what differs by one bit is found at step, operation and element, and a proof says who is right."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import faulty
import numpy as np
import pytest
import trained_programs
from faulty import Fault, drawn, flipped, machine
from tiers import seeds

import circuitize as cz
from circuitize.api.disputes import testimony
from circuitize.api.disputes.bisection import first_difference
from circuitize.api.disputes.dispute import Dispute, dispute
from circuitize.api.disputes.side import CHECKPOINTS
from circuitize.api.exact import exact
from circuitize.api.training import checkpoint, records
from circuitize.api.training.chunks import Layout
from circuitize.api.training.train import Trained, train
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases

STEP = exact(trained_programs.step(), Phases())
PARTS = Layout(STEP.integer).parts
STEPS, EVERY = 12, 4
KEYED = ("groth16", "halo2")
FIRST_DATA = next(k for k, part in enumerate(PARTS) if part.name == "inputs")
"""Where another order of examples shows first."""


def trained(folder: Path, **more: Any) -> Trained:
    given: dict[str, Any] = {
        "seed": b"\x5e\xed",
        "steps": STEPS,
        "every": EVERY,
        "dataset": trained_programs.data(),
        "roots": False,
    }
    return train(STEP, folder, **given | {"schedule": trained_programs.rates} | more)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return trained(tmp_path_factory.mktemp("honest") / "t", record=True)


def erring(folder: Path, kind: str, seed: int, honest: Trained, **more: Any) -> Fault:
    """Train on a machine with a fault, drawn until it changes what is held and no value leaves its format."""
    random = np.random.default_rng([seed, *kind.encode()])
    while True:
        fault = drawn(kind, STEP.integer, STEPS, random)
        try:
            with machine(fault, STEP.integer):
                if trained(folder, **more).head != honest.head:
                    return fault if kind != "order" else replace(fault, part=FIRST_DATA)
        except CircuitizeError as error:
            assert f"step {fault.step}: " in str(error)
        except IndexError:
            assert kind == "order"  # There is no such example.
        shutil.rmtree(folder)


def require_found(fault: Fault, found: Dispute, kind: str) -> None:
    """Step, operation and element are those of the fault, and what is claimed is one bit away from what is right."""
    part, place = PARTS[fault.part], found.places["B"]
    assert not found and found.right == ("A",) and not found.testify and set(found.places) == {"B"}
    assert found.step == place.step == fault.step
    assert (place.kind, place.port, place.edge) == (kind, part.name, part.edge)
    if fault.kind == "order":
        assert place.element[0] == fault.element[0] and place.example is not None
    else:
        assert place.element == fault.element and place.claimed is not None and place.right is not None
        assert place.claimed ^ place.right == 1 << fault.bit
    assert found.asked <= 5 and found.executed == found.step - found.since <= EVERY


@pytest.mark.proof
@pytest.mark.parametrize("seed", seeds(2, deep=60))
@pytest.mark.parametrize("kind", faulty.KINDS)
def test_a_bit_that_changed_once_is_found_by_records(kind: str, seed: int, honest: Trained, tmp_path: Path) -> None:
    fault = erring(tmp_path / "b", kind, seed, honest, record=True)
    found = dispute(honest.folder, tmp_path / "b", prover="tensor" if seed == 0 else None)
    require_found(fault, found, "input" if kind in ("data", "order") else kind)
    assert (found.proof is not None) is (seed == 0)


@pytest.mark.parametrize("seed", seeds(3, deep=60))
def test_a_fault_that_a_machine_repeats_is_found_by_its_testimony(seed: int, honest: Trained, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    random = np.random.default_rng(seed)
    while True:
        fault = drawn("operation", STEP.integer, STEPS, random)
        with machine(fault, STEP.integer):
            if trained(folder).head != honest.head:
                told = testimony.testify(folder, fault.step)
                break
        shutil.rmtree(folder)
    assert told and told.path == folder / "testimony" / f"{fault.step:08}.npz"
    require_found(fault, dispute(honest.folder, folder, prover=None), "operation")


@pytest.mark.parametrize("seed", seeds(2, deep=60))
def test_a_bit_of_a_checkpoint_is_found(seed: int, honest: Trained, tmp_path: Path) -> None:
    shutil.copytree(honest.folder, tmp_path / "b")
    random, folder = np.random.default_rng(seed), tmp_path / "b" / CHECKPOINTS
    step = int(random.choice(checkpoint.steps_in(folder)))
    held = tuple(port for port in STEP.integer.inputs if port.held)
    read = checkpoint.read(folder, step, "integer", held)
    part = int(random.choice([k for k, part in enumerate(PARTS) if part.kind == "kept"]))
    fault = Fault("checkpoint", step, part, tuple(int(random.integers(n)) for n in PARTS[part].shape), seed % 3)
    name = PARTS[part].name
    replace(read, held={**read.held, name: flipped(read.held[name], fault.element, fault.bit)}).write(folder)
    found = dispute(honest.folder, tmp_path / "b", prover=None)
    require_found(replace(fault, kind="checkpoint"), replace(found, asked=1), "checkpoint")


def test_honest_runs_agree(honest: Trained, tmp_path: Path) -> None:
    other = trained(tmp_path / "b", every=5, executor="both")  # Without records, other checkpoints, float64 beside.
    found = dispute(honest.folder, other.folder)
    assert found and found.steps == STEPS and found.step is None and found.proof is None and found.asked == 1
    assert other.head == honest.head
    shorter = trained(tmp_path / "c", steps=7)
    assert dispute(shorter.folder, honest.folder).steps == 7


@pytest.mark.proof
@pytest.mark.parametrize("prover", ["mirage", *(pytest.param(name, marks=pytest.mark.deep) for name in KEYED)])
def test_any_prover_confirms(prover: str, honest: Trained, tmp_path: Path) -> None:
    erring(tmp_path / "b", "operation", 1, honest, record=True)
    found = dispute(tmp_path / "b", honest.folder, prover=prover, proof=tmp_path / "proof")
    assert found.right == ("B",) and set(found.places) == {"A"}
    assert found.proof is not None and found.proof.prover == prover and found.proof.path == tmp_path / "proof"


def test_without_claims_the_step_is_found_and_who_must_testify(honest: Trained, tmp_path: Path) -> None:
    fault = erring(tmp_path / "b", "operation", 2, honest)
    found = dispute(honest.folder, tmp_path / "b", prover=None)
    assert (found.step, found.right, found.testify) == (fault.step, ("A",), ("B",))
    told = testimony.testify(tmp_path / "b", fault.step)  # On this machine, which has no fault.
    assert not told and told.step == fault.step and told.path is None
    assert not (tmp_path / "b" / "testimony").exists()
    again = testimony.testify(tmp_path / "b", STEPS)
    assert bool(again) is (again.step == STEPS)


def test_both_wrong_alike_up_to_another_fault(honest: Trained, tmp_path: Path) -> None:
    """What both have is believed up to a checkpoint, and executed from there on."""
    random = np.random.default_rng(0)
    early, late = (replace(drawn("kept", STEP.integer, STEPS, random), step=step) for step in (6, 7))
    with machine(early, STEP.integer):
        trained(tmp_path / "a", record=True)
    with machine(early, STEP.integer), machine(late, STEP.integer):
        trained(tmp_path / "b", record=True)
    found = dispute(tmp_path / "a", tmp_path / "b", prover=None)
    assert found.step == 6 and found.right == () and found.places.keys() == {"A", "B"}
    assert found.places["A"].element == found.places["B"].element == early.element


def test_records_that_are_many_are_written_before_a_checkpoint(
    honest: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_WAITING", 2 * Layout(STEP.integer).length - 1)
    trained(tmp_path / "b", record=True)
    assert records.steps_in(tmp_path / "b" / records.FOLDER) == [2, 4, 6, 8, 10, 12]
    for step in range(1, STEPS + 1):
        ours, theirs = (records.read(at, Layout(STEP.integer), step) for at in (honest.folder, tmp_path / "b"))
        assert ours == theirs and ours is not None
    (tmp_path / "b" / CHECKPOINTS / "00000012.safetensors").unlink()
    assert trained(tmp_path / "b", record=True).resumed == 8


def test_what_cannot_be_proved_or_written_is_said_first(honest: Trained) -> None:
    with pytest.raises(CircuitizeError, match="expected a prover"):
        dispute(honest.folder, honest.folder, prover="x")
    with pytest.raises(CircuitizeError, match="expected"):
        dispute(honest.folder, honest.folder, proof=honest.folder)


def test_bisection_asks_about_few() -> None:
    for length in (0, 1, 2, 3, 8, 1000):
        assert first_difference(length, lambda k: True) == (None, min(length, 1))
        for first in {1, length // 2 + 1, length} if length else ():
            found, asked = first_difference(length, lambda k, first=first: k < first)  # type: ignore[misc]
            assert found == first and asked <= length.bit_length() + 1


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "seed": ({"seed": b"\x01"}, r"expected the same seed, found 5eed in .*t and 01 in .*b; a dispute is about runs"),
    "data": (
        {"dataset": {**trained_programs.data(), "targets": 1 - trained_programs.data()["targets"]}},
        r"expected the same data, found 'targets' at element \[0, 0\] as",
    ),
    "start": ({"inputs": None}, r"expected the same start, found 'dense1.bias' at element \[1\] as"),
    "scalars": (
        {"schedule": lambda k: trained_programs.rates(k if k < 5 else k + 3)},
        r"expected the same scalars, found 'learning_rate' of step 5 as",
    ),
}


@pytest.mark.parametrize("what", OTHERS)
def test_runs_of_other_things_are_refused(what: str, honest: Trained, tmp_path: Path) -> None:
    changed, message = OTHERS[what]
    if what == "start":
        start = {port.name: STEP.integer.examples[0][port.name] for port in STEP.integer.inputs if port.held}
        start["dense1.bias"] = start["dense1.bias"] + np.array([0, 0.5, 0, 0])
        changed = {"inputs": start}
    trained(tmp_path / "b", **changed)
    with pytest.raises(CircuitizeError, match=message):
        dispute(honest.folder, tmp_path / "b")


def test_other_programs_and_float64_are_refused(honest: Trained, tmp_path: Path) -> None:
    trained(tmp_path / "b", executor="real")
    with pytest.raises(CircuitizeError, match="expected a training in integers, found one in float64"):
        dispute(honest.folder, tmp_path / "b")
    more: dict[str, Any] = {"seed": b"\x5e\xed", "steps": STEPS, "dataset": trained_programs.data(), "roots": False}
    train(trained_programs.step(cz.SGD()), tmp_path / "c", **more)
    with pytest.raises(CircuitizeError, match=f"expected the same program, found {STEP.digest[:16]} in"):
        dispute(honest.folder, tmp_path / "c")


def bare(folder: Path) -> Path:
    """A training as a machine leaves it that runs many steps at a time: without a journal."""
    said = json.loads((folder / "training.json").read_text())
    (folder / "training.json").write_text(json.dumps(said | {"journal": False}))
    (folder / "journal.bin").unlink()
    return folder


def test_without_a_journal_checkpoints_are_compared(honest: Trained, tmp_path: Path) -> None:
    right = bare(trained(tmp_path / "a").folder)
    assert dispute(honest.folder, right) and dispute(right, right).steps == STEPS
    fault = erring(tmp_path / "b", "kept", 3, honest, record=True)
    found = dispute(right, tmp_path / "b")
    last = -(-fault.step // EVERY) * EVERY
    assert found.step == fault.step and found.right == ("A",) and found.bare == ("A",) and found.proof is None
    assert (found.since, found.executed) == (last - EVERY, EVERY) and found.places["B"].element == fault.element
    wrong = bare(tmp_path / "b")
    found = dispute(honest.folder, wrong)
    last = -(-fault.step // EVERY) * EVERY
    assert (found.step, found.since, found.right, found.bare) == (last, last - EVERY, ("A",), ("B",))
    assert found.places["B"].kind == "checkpoint"
    with pytest.raises(CircuitizeError, match="expected a training that keeps a journal"):
        testimony.testify(wrong, fault.step)
    longer = [trained(folder, steps=STEPS + 1) for folder in (right, tmp_path / "c")]  # It goes on as it began.
    assert longer[0].head is None and longer[1].head is not None
    assert dispute(longer[0].folder, longer[1].folder)
    for name, values in longer[0].outputs.items():
        np.testing.assert_array_equal(values, longer[1].outputs[name], strict=True)
