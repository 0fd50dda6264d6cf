"""Estimating: the sizes of every target's circuit, before anything is emitted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass

from circuitize.circuits.cost import products
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases, Progress, silent, under_way
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.reading import Json

from .counted import counted
from .exact import Exact, exact
from .targets.contract import LeftOut, Target
from .targets.options import Options, chosen, offered
from .targets.registry import TARGETS

MOST_COUNTED = 1 << 26
"""The number of products beyond which constraints are not counted, since counting takes time and memory in
proportion.
"""


@dataclass(frozen=True)
class Estimate:
    """An estimate: the sizes, by target, that the circuits would have if they were emitted, and the reasons why other
    targets are left out.
    """

    digest: str
    operations: int
    targets: Mapping[str, Json]
    left_out: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Estimate({', '.join(self.targets) or 'no target'}, program {self.digest[:16]}...)"


def estimate(
    program: Program | Exact, *, targets: Collection[str] = (), progress: Progress = silent, **options: object
) -> Estimate:
    """Count the sizes of a program's circuits for every target, or for each target in `targets`, without emitting them.

    The argument `options` holds options of the targets, as `circuitize estimate --help` lists them. Raise
    CircuitizeError for a program without ports that a proof binds, for an unknown target, and for an option that none
    of the estimated targets has.
    """
    wanted = [targets] if isinstance(targets, str) else [*targets]
    for name in wanted:
        if name not in TARGETS:
            raise CircuitizeError(f"expected targets among {', '.join(TARGETS)}, found {name!r}; correct it")
    own = options_by_target(options, wanted)
    made = exact(program, Phases(progress))
    sizes: dict[str, Json] = {}
    left_out: dict[str, str] = {}
    for name, target in TARGETS.items():
        if wanted and name not in wanted:
            continue
        try:
            require_countable(target, made.integer)
            with under_way(progress, f"counting {target.measure}"):
                said = own[name]
                found = target.estimate(made.integer, said) if said else counted(target, made.integer)
        except LeftOut as error:
            left_out[name] = str(error)
        else:
            left_out |= {f"{name}, {part}": reason for part, reason in found.pop("left_out", {}).items()}
            sizes |= {name: found} if found else {}
    return Estimate(made.digest, made.integer.arrow.edge_count, sizes, left_out)


def options_by_target(options: Options, wanted: Collection[str] = ()) -> dict[str, Options]:
    """Return, for each named target of an estimate, or for all targets if none is named, those of the given options
    that the target has.

    Raise CircuitizeError for an option that none of the targets has or takes.
    """
    known = offered([target for name, target in TARGETS.items() if name in wanted or not wanted], "estimate")
    for option, value in options.items():
        if option not in known and (value not in (None, False) or not wanted):
            expected = ", ".join(known) or "none"
            raise CircuitizeError(f"expected options among {expected}, found {option!r}; leave it out")
    own: dict[str, Options] = {}
    for name, target in TARGETS.items():
        said = {option: value for option, value in options.items() if option in known and name in known[option][1]}
        own[name] = chosen(target, "estimate", said, TARGETS.values())
    return own


def cost_of(name: str, program: IntegerProgram) -> int:
    """Return the cost of a target's circuit of an integer program, in the target's measure of cost. Raise
    CircuitizeError if the target has no measure of cost.
    """
    require_countable(TARGETS[name], program)
    return TARGETS[name].cost(program)


def costs(program: IntegerProgram, progress: Progress = silent) -> dict[str, int]:
    """Return the cost of a program's circuit for each target that has a measure of cost."""
    found: dict[str, int] = {}
    for name in TARGETS:
        with suppress(CircuitizeError), under_way(progress, f"counting {name}"):
            found[name] = cost_of(name, program)
    return found


def require_countable(target: Target[object], program: IntegerProgram) -> None:
    """Raise LeftOut if counting the sizes of a target's circuit would take minutes."""
    named = products(program.arrow)
    if target.counted and named > MOST_COUNTED:
        raise LeftOut(
            f"not counted, {named:,} products are more than {MOST_COUNTED:,}; compile --target r1cs counts them"
        )
