"""Emitting the constraint system of an integer program: emission does not look at any values, and records how a witness
is filled.
"""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.program import IntegerProgram

from ..field import BN254, Field
from ..lowering import Scope
from ..terminal import Public, require_provable
from ..values import Drawn, Salt
from .builder import CountingBuilder, SystemBuilder
from .challenge import Challenge
from .gadgets.assembly import Assembly, Recipe
from .gadgets.projection import Challenges
from .gadgets.tables import Tables
from .gadgets.transcript import Element, Naturals, absorption
from .lowering import Lowering
from .ports import terminals
from .system import ConstraintSystem


@dataclass(frozen=True, slots=True)
class WitnessPlan:
    """The plan by which a prover fills a witness from an integer trace: it says, for each block of wires, where the
    values come from.
    """

    field: Field
    arrow: Arrow
    wires: int
    recipes: tuple[Recipe, ...]
    scopes: tuple[Scope, ...]
    first_phase: int = 0
    """Wires below this number are fixed before the challenge is drawn; the number is 0 if no challenge is drawn."""

    @property
    def salts(self) -> tuple[str, ...]:
        """Return the names of the salts that a witness needs: `input NAME` or `output NAME` for each committed port."""
        return tuple(recipe.content.name for recipe in self.recipes if isinstance(recipe.content, Salt))


@dataclass(frozen=True, slots=True)
class Emission:
    """The constraint system of a program, the meaning of its public wires (in order), and the plan that computes
    witnesses.
    """

    system: ConstraintSystem
    publics: tuple[Public, ...]
    plan: WitnessPlan
    challenge_degree: int = 0


def constraints(
    program: IntegerProgram, field: Field = BN254, challenge: Challenge = Challenge.HASHED
) -> ConstraintSystem:
    """Return the constraint system of an integer program; see the function `emit`."""
    return emit(program, field, challenge).system


def emit(program: IntegerProgram, field: Field = BN254, challenge: Challenge = Challenge.HASHED) -> Emission:
    """Return the constraint system of an integer program, the meaning of its public wires, and the plan of its
    witnesses.

    The public wires of a constraint system are the outputs in order (for a committed output its digest), the digests of
    committed inputs in order, and the public inputs in order. The public wires are followed by the private and
    committed inputs in order, the salts, and the internal wires. Every input is range-checked to the interval of its
    format. If the program is undefined on some inputs, they have no witness; otherwise they have exactly one for each
    choice of salts. Emitting a constraint system takes time and memory linear in the number of its rows.

    With a hashed challenge, over BN254, a contraction is tested at a random point, which the circuit computes as a
    hash, if that saves rows: `Emission.challenge_degree` is then above 0, and for a prover who evaluates Poseidon q
    times, wrong values pass with a probability of at most (q + 1) * challenge_degree / prime, if Poseidon is modelled
    as a random oracle. In a circuit without a challenge, or with a `challenge_degree` of 0, wrong values never pass.

    With a challenge that is drawn after a commitment, which requires BN254 and a prover of two phases, contractions are
    tested and range checks become lookups in tables; the challenge is one more public wire, the last, and for a prover
    who evaluates the hash from which it is drawn q times, wrong values pass with a probability of at most (q + 1) *
    challenge_degree / 2^253.

    Raise CircuitizeError for a program of the real language and for a program without ports that a proof binds, and
    OverflowRisk if the field is too small for a gadget.
    """
    builder = SystemBuilder(field)
    assembly, publics = assemble(program, builder, challenge)
    system = builder.system()
    recipes, scopes = tuple(assembly.recipes), tuple(assembly.scopes)
    first_phase = 1 + system.public + system.committed if system.committed else 0
    plan = WitnessPlan(field, program.arrow, system.wires, recipes, scopes, first_phase)
    return Emission(system, publics, plan, degree(assembly))


def degree(assembly: Assembly) -> int:
    """Return the sum of the degrees, in the challenge, of all identities that the circuit tests at a random point."""
    parts = [part for part in (assembly.challenges, assembly.tables) if part is not None]
    return sum(part.degree for part in parts)


def assemble(
    program: IntegerProgram, builder: CountingBuilder, challenge: Challenge
) -> tuple[Assembly, tuple[Public, ...]]:
    """Put the wires and rows of a program into a builder, which may be one that only counts them; raise the same errors
    as `emit`.
    """
    require_provable(program)
    assembly = Assembly(builder, postpones=True)
    drawn = challenge is Challenge.COMMITTED
    if drawn and builder.field.prime != BN254.prime:
        raise CircuitizeError("expected BN254's scalar field for a challenge, found another; emit without one")
    inputs, outputs, publics = terminals(program, assembly, drawn)
    known = [terminal.absorbed() for terminal in [*inputs, *(output for output in outputs if output.committed)]]
    if drawn:
        assembly.challenges, assembly.tables = Challenges(source=Drawn()), Tables()
    elif challenge is Challenge.HASHED and builder.field.prime == BN254.prime:
        bound = frozenset(terminal.wire for terminal in outputs if terminal.committed)
        assembly.challenges = Challenges(absorption(sum(item.count for item in known)), bound)
    handles = [terminal.enter(assembly) for terminal in inputs]
    for terminal, handle in zip(inputs, handles, strict=True):
        terminal.bind(assembly, handle)
    entered = {terminal.wire for terminal in inputs}
    for terminal in outputs:
        if terminal.public and terminal.wire not in entered:
            assembly.reserved.setdefault(terminal.value, terminal.first)
    results = Lowering(assembly, program.arrow).run(handles)
    for terminal, handle in zip(outputs, results, strict=True):
        terminal.leave(assembly, handle)
    assembly.bounds.emit(assembly)
    _test(assembly, known)
    return assembly, publics


def _test(assembly: Assembly, known: list[Naturals | Element]) -> None:
    """Emit the rows that wait for the challenge, and fix the values on which the challenge depends: those after which
    it is drawn, or those of which it is a hash.
    """
    assembly.edge = -1
    challenges, tables = assembly.challenges, assembly.tables
    if tables is not None and challenges is not None:
        if not tables.demands and not challenges.projections:
            raise CircuitizeError(
                "expected a range or a contraction to test by a challenge, found none in this program; "
                "use a circuit without a commitment before its challenge"
            )
        tables.commit(assembly)
        wire = assembly.builder.draw()
        challenges.emit(assembly, wire)
        tables.show(assembly, wire)
    elif challenges is not None and challenges.projections:
        challenges.emit(assembly, challenges.hash(assembly, known))
