"""A run whose files all say, in agreement, that it is another one: other told steps, lengths or ends; proofs decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tensor_runs import OUT, PROOF, Folder, run_of

from circuitize.backends.tensor.groups import OUTPUT, PortKey
from circuitize.circuits.scan import Told
from circuitize.provers.tensor.runs.files import StepProof
from circuitize.provers.tensor.runs.setting import Run

STEPS, EACH = 5, 2
LOSS = (OUTPUT, "loss")


@pytest.fixture
def proved(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path / "run")
    folder.prove(own())
    return folder


def own(**more: Any) -> Run:
    settled = {"steps": STEPS, "per_proof": EACH, "zero_knowledge": False, "told": Told.ALL}
    return run_of(**{**settled, **more})


def restated(folder: Folder, run: Run) -> str:
    """Why a folder is refused whose manifest and steps are made those of this run, but for the proofs."""
    identity = run.identity(folder.roots)
    for step in list(run.beginnings):
        if folder.step_path(step).exists():
            found = folder.step(step)
            folder.put(step, replace(found, run=identity, publics=_publics(found, run)))
    folder.restate(
        plans=run.plans_digest, steps=run.steps, per_proof=run.per_proof, told=run.told.value, seed=run.seed.hex()
    )
    return folder.verdict(run)


def _publics(found: StepProof, run: Run) -> dict[PortKey, tuple[int, ...]]:
    """The losses that are to be told, of those that are."""
    losses = found.publics[LOSS]
    kept = {key: values for key, values in found.publics.items() if key != LOSS}
    if run.told is Told.NONE:
        return kept
    return {**kept, LOSS: losses[:: max(1, len(losses) - 1)] if run.told is Told.ENDS else losses}


@pytest.mark.parametrize("told", [Told.NONE, Told.ENDS])
def test_fewer_losses_cannot_be_told_afterwards(proved: Folder, told: Told) -> None:
    """A run's prover says beforehand what it tells: its proofs are of that."""
    assert PROOF in restated(proved, own(told=told))


def test_the_rest_cannot_be_left_out(proved: Folder) -> None:
    proved.step_path(STEPS).unlink()
    assert PROOF in restated(proved, own(steps=4))


@pytest.mark.parametrize("each", [1, 3, 5])
def test_steps_cannot_be_divided_otherwise(proved: Folder, each: int) -> None:
    assert restated(proved, own(per_proof=each)).startswith("step ")


def test_the_proof_of_the_rest_is_not_the_beginning_of_a_longer_one(proved: Folder) -> None:
    """The last proof is of one step, and says so by its plan."""
    for steps in (6, 7):
        assert restated(proved, own(steps=steps)).startswith("step ")


def others(found: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Values for the same steps that are not those, and other numbers of them."""
    yield (found[1], found[0])
    yield found[:1]
    yield (*found, found[0])
    yield ()
    yield (found[0], found[1] + 1)
    yield (found[0], 1 << 70)
    yield (found[0],) * 2


def test_values_of_several_steps_are_stated_in_one_way(proved: Folder) -> None:
    """Those of each step at its place; all of them, or one where they are equal."""
    honest = proved.step(1)
    assert len(set(honest.publics[LOSS])) == EACH
    rate = next(key for key in honest.publics if key != LOSS)
    assert len(honest.publics[rate]) == 1
    for values in others(honest.publics[LOSS]):
        proved.put(1, honest, publics={**honest.publics, LOSS: values})
        assert proved.verdict(own()).startswith("step 1: "), values
    for values in (honest.publics[rate] * 2, honest.publics[rate] * 3):
        proved.put(1, honest, publics={**honest.publics, rate: values})
        assert proved.verdict(own()).startswith("step 1: "), values


def test_steps_of_one_proof_do_not_change_places(proved: Folder) -> None:
    """Rows and roots of the proofs of two steps each are bound to their place."""
    first, second = proved.step(1), proved.step(3)
    proved.put(1, second, step=1)
    assert proved.verdict(own()).startswith("step 1: ")
    proved.put(1, first)
    proved.put(3, first, step=3, roots={**second.roots, OUT: second.roots[OUT]})
    assert proved.verdict(own()).startswith("step 3: ")
