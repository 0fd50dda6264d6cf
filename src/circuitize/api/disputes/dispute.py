"""A dispute between two trainings that should agree: the first step, operation and element in which they differ, and
which of the two is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Unpack

from circuitize.circuits.errors import CircuitizeError, restated
from circuitize.circuits.phases import Progress, silent
from circuitize.circuits.reading import Json

from ..proofs import require_proof_folder
from ..provers import prover as named
from .bisection import first_difference
from .by_checkpoints import Found, by_checkpoints
from .claims import Place, claims_of, of_checkpoint
from .confirming import Confirmed, confirmed
from .executing import Executed, agreed, executed, has
from .same import require_same
from .side import Side, read_side


@dataclass(frozen=True, kw_only=True)
class Dispute:
    """The findings of a referee about two trainings, the sides of the dispute.

    A Dispute is true if both sides agree on all of the first `steps` steps, which both sides have run. If the sides
    differ, `step` is the first step on which they differ from each other, or on which both differ from the program;
    `places` gives for each wrong side where its claims first differ from that step; `right` lists the sides whose
    journal has the values that the step gives according to the `proof`, or, without a proof, according to the referee's
    own run of the step. The field `testify` of a Dispute names the wrong sides that claim too little for the referee to
    find the wrong operation.

    A side that keeps no journal, named in `bare`, makes claims only at its checkpoints: its first wrong step is then
    one of those after `since` and up to `step`, the referee's run decides, and there is no proof.

    The field `asked` of a Dispute is the number of journal entries that were compared; `executed` is the number of
    steps that the referee ran after step `since`, the last step with a checkpoint on which both sides agree.
    """

    a: Path
    b: Path
    steps: int
    step: int | None
    places: Mapping[str, Place]
    right: tuple[str, ...]
    testify: tuple[str, ...]
    bare: tuple[str, ...]
    proof: Confirmed | None
    asked: int
    since: int
    executed: int

    @property
    def agree(self) -> bool:
        """Return whether both sides agree on all steps that both have run."""
        return self.step is None

    @property
    def place(self) -> Place | None:
        """Return the first place where a wrong side differs from the right values, or None if no such place is
        known.
        """
        return next(iter(self.places.values()), None)

    def __bool__(self) -> bool:
        return self.agree

    def as_json(self) -> Json:
        """Return all findings of the referee, as `circuitize dispute --json` prints them."""
        told = {name: getattr(self, name) for name in ("agree", "steps", "step", "asked", "since", "executed")}
        told |= {"a": str(self.a), "b": str(self.b), "right": list(self.right)}
        told |= {"testify": list(self.testify), "bare": list(self.bare)}
        told["places"] = {name: asdict(place) for name, place in self.places.items()}
        return told | {"proof": None if self.proof is None else self.proof.as_json()}


def dispute(
    a: Path | str,
    b: Path | str,
    *,
    prover: str | None = "tensor",
    proof: Path | str | None = None,
    progress: Progress = silent,
) -> Dispute:
    """Find the first step, operation and element in which two trainings that should agree differ, and prove that step.

    The arguments `a` and `b` are folders that `train` wrote. The proof of the step, written to the folder `proof` if
    one is given, hides nothing: it discloses the weights before and after the step, and the batch. If `prover` is None,
    no proof is made, and the referee's own run of the step decides. A dispute compares about log2(steps) journal
    entries, and executes at most the steps between two checkpoints.

    Raise CircuitizeError if a folder has no training in integers, or if the sides have different programs, data, seeds,
    initial values or scalars; raise FormatError for a damaged folder.
    """
    if prover is not None:
        named(prover)
    if proof is not None:
        require_proof_folder(Path(proof))
    sides = (read_side("A", a), read_side("B", b))
    one, other = sides
    steps = min(side.length for side in sides)
    require_same(one, other, steps)
    if not (one.entries and other.entries):
        return _told(sides, steps, **by_checkpoints(sides, steps, progress))
    found, asked = first_difference(steps, lambda k: one.entries[k - 1].chain == other.entries[k - 1].chain)
    off = {} if found is not None else _off_journal(sides, steps, progress)
    last = min(off.values(), default=0) if found is None else found
    if not last:
        return _told(sides, steps, asked=asked)
    since, held = agreed(sides, last - 1)
    for made in executed(one, held, since, last, progress):
        if made.step < last and not has(one, made):
            break  # Both sides have it, and it is wrong.
    places, testify = _places(sides, made, off)
    proved = None if prover is None else _confirmed(one, made, prover, proof, progress)
    entered, left = one.layout.entered(made.inputs), one.layout.left(made.held)
    if proved is not None:
        entered, left = proved.entered, proved.left
    right = [
        side.name
        for side in sides
        if (side.entries[made.step - 1].entered, side.entries[made.step - 1].left) == (entered, left)
        and off.get(side.name) != made.step
    ]
    return _told(
        sides,
        steps,
        asked=asked,
        step=made.step,
        since=since,
        executed=made.step - since,
        places=places,
        right=tuple(right),
        testify=testify,
        proof=proved,
    )


def _confirmed(side: Side, made: Executed, prover: str, proof: Path | str | None, progress: Progress) -> Confirmed:
    """Return the proof of the disputed step. If the proof fails, raise a CircuitizeError that names the step, so that
    the work of finding the step is not lost.
    """
    try:
        return confirmed(side.layout, made, prover, None if proof is None else Path(proof), progress)
    except CircuitizeError as error:
        raise restated(
            error,
            f"the sides differ at step {made.step:,}, of which there is no proof: {error}; prover none leaves it out",
        ) from None


def _told(sides: tuple[Side, Side], steps: int, **found: Unpack[Found]) -> Dispute:
    nothing = Dispute(
        a=sides[0].folder,
        b=sides[1].folder,
        steps=steps,
        step=None,
        places={},
        right=(),
        testify=(),
        bare=tuple(side.name for side in sides if not side.entries),
        proof=None,
        asked=0,
        since=0,
        executed=0,
    )
    return replace(nothing, **found)


def _off_journal(sides: Sequence[Side], last: int, progress: Progress) -> dict[str, int]:
    """Return, for each side, the first step whose checkpoint differs from the side's own journal."""
    found = {}
    for side in sides:
        for step in (step for step in side.checkpoints if step <= last):
            progress(f"reading checkpoint {step:,} of {side.folder}")
            if side.layout.left(side.checkpoint(step)) != side.left(step):
                found[side.name] = step
                break
    progress("")
    return found


def _places(sides: Sequence[Side], made: Executed, off: Mapping[str, int]) -> tuple[dict[str, Place], tuple[str, ...]]:
    """Return, for each wrong side, where its claims first differ from the step; return also the names of the sides that
    claim too little to find the wrong operation.
    """
    places: dict[str, Place] = {}
    testify = []
    for side in sides:
        if off.get(side.name) == made.step:
            place = of_checkpoint(side, made.step).first_false(made.wires)
            places |= {} if place is None else {side.name: replace(place, kind="checkpoint")}
        elif not has(side, made):
            claims = claims_of(side, made.step)
            place = claims.first_false(made.wires)
            places |= {} if place is None else {side.name: place}
            testify += [] if claims.whole else [side.name]
    return places, tuple(testify)
