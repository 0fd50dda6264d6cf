"""The requirements on a program that is the step of a run, and on the lists of ports that join the run's proofs."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from circuitize.backends.tensor.dataset import batch_ports
from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.groups import DATA, INPUT, OUTPUT, GroupName
from circuitize.backends.tensor.ports import difference
from circuitize.circuits.port import Role, Visibility
from circuitize.circuits.program import IntegerProgram

from ..plan import Plan

if TYPE_CHECKING:
    from .setting import Run


def require_step(program: IntegerProgram) -> None:
    """Raise Unprovable unless a program can be the step of a run.

    In a run's step, every held input must be committed and have an output of the same name, order and format; data must
    be committed batches of one size; every other input must be a public scalar.
    """
    entering = [port for port in program.inputs if port.held]
    leaving = [port for port in program.outputs if port.held]
    if not entering:
        raise Unprovable("expected inputs that are held from step to step, found none; give parameters their role")
    for port in entering:
        if port.role is Role.FROZEN:
            raise Unprovable(
                f"expected inputs of a run that leave each step, found {port.name!r}, which is frozen apart; prove its "
                "steps one by one: prove --weights WEIGHTS --openings-from FILE.json"
            )
    for port in (*entering, *leaving):
        if port.visibility is not Visibility.COMMITTED:
            raise Unprovable(
                f"expected {port.name!r}, which is held, to be committed, found {port.visibility.value}; commit to it"
            )
    for role in (Role.PARAMETER, Role.OPTIMIZER, Role.STATE):
        sides = [[(p.name, p.format) for p in ports if p.role is role] for ports in (entering, leaving)]
        if sides[0] != sides[1]:
            raise Unprovable(
                f"expected every {role.value} to leave a step as it enters, in the same order and format, found inputs "
                f"{[name for name, _ in sides[0]]} and outputs {[name for name, _ in sides[1]]}; give a training step: "
                "--train LOSS makes one of an ONNX file, cz.training_step one of a model"
            )
    batch_ports(program)
    for port in program.inputs:
        if port.role is Role.SCALAR and (port.visibility is not Visibility.PUBLIC or port.format is None):
            raise Unprovable(
                f"expected the scalar {port.name!r} to be public, found it {port.visibility.value}; make it public"
            )
        if port.role is Role.SCALAR and port.format is not None and port.format.shape != ():
            raise Unprovable(
                f"expected the scalar {port.name!r} to be one number, found shape {port.format.shape}; give it shape ()"
            )


def require_joined(run: Run) -> None:
    """Raise Unprovable unless each group has the same list of ports in the proof that gives its root and in the proof
    that takes it.

    Soundness: if two roots are equal, so are their lists of ports, and the tensors have the same places in the
    commitment. Roots with different lists of ports differ, so that the proofs of such a run would not be accepted.
    """
    for name, chunk in product((*run.kept, DATA), run.chunks):
        # A renewal's ports are those of the proof of formats.
        for when, side in [("before a step", INPUT)] + [("after a step", OUTPUT)] * (name != DATA):
            _require_same(run, name, "what a run begins with", chunk.plan, side, when)
    if run.evaluation is not None:
        for name in run.evaluation.kept:
            if name not in run.kept:
                raise Unprovable(f"expected an evaluation of {', '.join(run.kept)}, found one of {name}")
            _require_same(run, name, "the step", run.evaluation.chunk.plan, INPUT, "the evaluation")


def _require_same(run: Run, name: GroupName, ours: str, plan: Plan, side: str, theirs: str) -> None:
    found = difference(run.formats_plan.ports_of((INPUT, name)), plan.ports_of((side, name)), (ours, theirs))
    if found is not None:
        raise Unprovable(f"expected the same ports of {name} throughout, found another list: {found}")
