"""The check, from a proof's plan and before any work, that the proof fits into memory, and the search for a proof that
would fit.
"""

from __future__ import annotations

from circuitize.backends.tensor.groups import NAMES, frozen_groups, input_groups
from circuitize.circuits import memory as machine
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.memory import amount_of_bytes, resident_bytes
from circuitize.circuits.port import Role
from circuitize.circuits.program import IntegerProgram

from .cost import BYTES, sizes
from .plan import Plan, plan


def require_room(program: IntegerProgram, made: Plan, memory: int | None = None) -> None:
    """Raise CircuitizeError if a proof by the given plan needs more than `memory` bytes, or by default more memory than
    the machine has.

    The predicted memory of a proof includes what the process already uses, such as the memory of a program and its
    examples. The memory of a proof is predicted by `sizes`.
    """
    most = memory or machine.physical_bytes() + machine.swap_bytes()
    needed = needed_bytes(made)
    if not most or needed <= most:
        return
    found = f"{amount_of_bytes(most)} by --memory" if memory else f"one with {amount_of_bytes(most)}"
    raise CircuitizeError(
        f"expected {'' if memory else 'a machine with '}about {amount_of_bytes(needed)} of memory for this proof "
        f"({made.committed:,} elements committed, {made.looked_up:,} looked up), found {found}; "
        f"{_remedy(program, made, most)}"
    )


def needed_bytes(made: Plan) -> int:
    """Return the expected memory in bytes of making a proof by the given plan, including what this process already
    uses.
    """
    return round(sizes(made)["prover_bytes"] + max(0, resident_bytes() - BYTES[0]))


def _remedy(program: IntegerProgram, made: Plan, most: int) -> str:
    """Return the text of a remedy for a proof that is too large: which proof would fit into memory, as far as plans
    tell.
    """
    returned = {port.name for port in program.outputs}
    kept = {port.name for port in program.inputs if port.role in (Role.PARAMETER, Role.FROZEN)} - returned
    groups = {*frozen_groups(program), NAMES[Role.PARAMETER]} & set(input_groups(program))
    fit = f"about {_lookups(made, most):,} look-ups fit, or on a larger machine"
    smaller = f"prove fewer examples or tokens at once: {fit}" if most > 2 * BYTES[0] else "prove it in more memory"
    if not kept or set(made.assumed) >= groups or NAMES[Role.PARAMETER] in _returned_groups(program):
        return smaller
    apart = needed_bytes(plan(program, assumed=groups))
    how = "" if frozen_groups(program) else "model.freeze(apart=True), "
    told = f"commit to its weights apart ({how}commit-weights, --weights): then about {amount_of_bytes(apart)}"
    return told if apart <= most else f"{told}, and {smaller}"


def _returned_groups(program: IntegerProgram) -> set[str]:
    return {NAMES[port.role] for port in program.outputs if port.role in NAMES}


def _lookups(made: Plan, most: int) -> int:
    """Return the number of lookups in a proof whose lookups alone take `most` bytes of memory."""
    return max(0, int((most - max(resident_bytes(), BYTES[0])) / BYTES[1]))
