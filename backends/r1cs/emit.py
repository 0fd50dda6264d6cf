"""Emits the constraint system of an integer program: never looks at values, and records how a witness is filled in."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.backends.gadgets.assembly import Assembly, Recipe, Scope
from circuitize.backends.gadgets.projection import Challenges
from circuitize.backends.gadgets.transcript import absorption
from circuitize.backends.gadgets.values import Salt
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.program import Program

from .builder import CountingBuilder, SystemBuilder
from .field import BN254, Field
from .lowering import lower_arrow
from .ports import Public, terminals
from .system import ConstraintSystem


@dataclass(frozen=True, slots=True)
class WitnessPlan:
    """How to fill a witness from an integer trace: for each block of wires, where its values come from."""

    field: Field
    arrow: Arrow
    wires: int
    recipes: tuple[Recipe, ...]
    scopes: tuple[Scope, ...]

    @property
    def salts(self) -> tuple[str, ...]:
        """The salts a witness needs: `input NAME` or `output NAME` for each committed port."""
        return tuple(recipe.content.name for recipe in self.recipes if isinstance(recipe.content, Salt))


@dataclass(frozen=True, slots=True)
class Emission:
    """A program's constraint system, what its public wires are (in order), and the plan that computes witnesses."""

    system: ConstraintSystem
    publics: tuple[Public, ...]
    plan: WitnessPlan
    challenge_degree: int = 0


def constraints(program: Program, field: Field = BN254, challenges: bool = True) -> ConstraintSystem:
    """The constraint system of an integer program; see `emit`."""
    return emit(program, field, challenges).system


def emit(program: Program, field: Field = BN254, challenges: bool = True) -> Emission:
    """The constraint system of an integer program, its public wires, and its witness plan.

    Public wires: outputs in order (a committed one is its digest), digests of committed inputs in order, public
    inputs in order. Then private and committed inputs in order, salts, internal wires. Every input is range-checked
    to its format. Where the program is undefined no witness exists; elsewhere there is exactly one per choice of
    salts. Time and memory are linear in the rows.

    With `challenges`, over BN254, a contraction whose sums are tested at a random point hashed inside the circuit is
    taken that way where it saves rows: `Emission.challenge_degree` is then above 0, and wrong sums pass with a
    probability of at most (q + 1) * challenge_degree / prime for a prover who evaluates Poseidon q times, Poseidon
    being taken for a random oracle. Without, and wherever it is 0, they never pass.

    Raises CircuitizeError for a program of the real language or one that binds nothing, and OverflowRisk where the
    field is too small for a gadget.
    """
    builder = SystemBuilder(field)
    assembly, publics = assemble(program, builder, challenges)
    system = builder.system()
    plan = WitnessPlan(field, program.arrow, system.wires, tuple(assembly.recipes), tuple(assembly.scopes))
    return Emission(system, publics, plan, degree(assembly))


def degree(assembly: Assembly) -> int:
    """The sum of the degrees in the challenge of all identities that it tests."""
    return 0 if assembly.challenges is None else assembly.challenges.degree


def assemble(program: Program, builder: CountingBuilder, challenges: bool) -> tuple[Assembly, tuple[Public, ...]]:
    """Puts a program's wires and rows into a builder, which may be one that only counts them; errors are those of
    `emit`.
    """
    if not program.is_integer:
        raise CircuitizeError("expected a program of the integer language, found real arrays; quantize it first")
    if not program.binds():
        raise CircuitizeError(
            "expected a program that binds something, found every input or every output private: a proof would say "
            "nothing; make an input and an output public or committed"
        )
    assembly = Assembly(builder)
    inputs, outputs, publics = terminals(program, assembly)
    known = [terminal.absorbed() for terminal in [*inputs, *(output for output in outputs if output.committed)]]
    if challenges and builder.field.prime == BN254.prime:
        bound = frozenset(terminal.wire for terminal in outputs if terminal.committed)
        assembly.challenges = Challenges(absorption(sum(item.count for item in known)), bound)
    handles = [terminal.enter(assembly) for terminal in inputs]
    for terminal, handle in zip(inputs, handles, strict=True):
        terminal.bind(assembly, handle)
    entered = {terminal.wire for terminal in inputs}
    for terminal in outputs:
        if terminal.public and terminal.wire not in entered:
            assembly.reserved.setdefault(terminal.value, terminal.first)
    results = lower_arrow(assembly, program.arrow, handles)
    for terminal, handle in zip(outputs, results, strict=True):
        terminal.leave(assembly, handle)
    if assembly.challenges is not None:
        assembly.challenges.emit(assembly, known)
    return assembly, publics
