"""Plans: what the proof of an integer program consists of, by the program alone, the same for prover and verifier."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from circuitize._native import TensorPlan, tensor_sizes
from circuitize.circuits.encode import canonical, program_digest
from circuitize.circuits.errors import CircuitizeError, OverflowRisk, Undefined
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers.arithmetic import Subtract
from circuitize.circuits.integers.contraction import Contract
from circuitize.circuits.integers.expand import expand
from circuitize.circuits.integers.selection import Maximum, Select
from circuitize.circuits.integers.view import View
from circuitize.circuits.integers.wiring import Concatenate
from circuitize.circuits.operation import Operation
from circuitize.circuits.program import IntegerProgram, Visibility
from circuitize.circuits.scan import Scan
from circuitize.circuits.undefined import values_of

from .checks import settle
from .config import DEGREES, GEOMETRY, HIDDEN_GEOMETRY, HIDDEN_TYPE, PROOF_TYPE, Layout, parameters
from .dataset import Dataset, require_batches, tensors
from .draft import Draft, Lookup, Table
from .drafting import drafted
from .errors import Unprovable
from .forms import Base, Column, Form, Integers, Public, Trace
from .groups import DATA, INPUT, GroupName, PortKey, groups, layout, require_groups
from .ports import CHUNKS, FLAGS, HIDDEN, PortList, encoded, listed
from .records import base_record, form_record, lookup_record, table_record, view_record
from .security import least_degree

OPENINGS = 4
"""How often a root may be opened: by the proof that makes it, and by three that join it."""

MOST_OPENINGS = 1 << 16
MOST_VARIABLES = 29
"""A commitment holds 2^29 elements at most; sizes of larger plans are estimated all the same."""

Openings = int | Mapping[PortKey, int]
"""How often the root of each group may be opened."""

KEPT: frozenset[type[Operation]] = frozenset({Subtract, Contract, Concatenate, Select, Maximum})
"""Operations with a definition that are proved directly instead."""


@dataclass(frozen=True)
class Plan:
    """Everything that prover and verifier agree on before a proof: it follows from the program.

    `commitments` holds the variables of each; all but the last are those of groups of committed ports, in the order of
    `groups`, with the `lists` that their roots are of; the last is made by the proof. Views, forms and bases are
    numbered. The inputs of `assumed` groups are not shown to lie in their formats: a proof by this plan says nothing
    unless that is known of their roots. Where inputs are batches of a `dataset`, `tensors` and `indices` number the
    bases of its tensors and of the rows of each batch. Challenges are drawn from the extension of the field of the
    given `degree`.
    """

    program: str
    arrow: Arrow
    limb_bits: int
    commitments: tuple[int, ...]
    groups: tuple[PortKey, ...]
    lists: tuple[PortList, ...]
    bases: tuple[Base, ...]
    views: tuple[View, ...]
    forms: tuple[Form, ...]
    lookups: tuple[Lookup, ...]
    tables: tuple[Table, ...]
    zeros: tuple[int, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    assumed: tuple[GroupName, ...] = ()
    dataset: Dataset | None = None
    tensors: Mapping[str, int] = field(default_factory=dict)
    indices: Mapping[str, int] = field(default_factory=dict)
    degree: int = 2
    openings: tuple[int, ...] | None = None

    @cached_property
    def records(self) -> tuple[list[Any], ...]:
        """The plan as the native prover reads it: lists of plain tuples."""
        numbers = {view: number for number, view in enumerate(self.views)}
        return (
            list(self.commitments),
            [base_record(base) for base in self.bases],
            [view_record(view) for view in self.views],
            [form_record(form, numbers) for form in self.forms],
            [lookup_record(lookup) for lookup in self.lookups],
            [table_record(table) for table in self.tables],
            list(self.zeros),
        )

    @cached_property
    def native(self) -> TensorPlan:
        """The plan in the native prover; raises Unprovable for more elements than it commits to at once."""
        if max(self.commitments) > MOST_VARIABLES:
            raise Unprovable(
                f"expected at most 2^{MOST_VARIABLES} committed elements, found 2^{max(self.commitments)}; "
                "prove fewer steps at once"
            )
        openings = None if self.openings is None else list(self.openings)
        commitments, bases, views, forms, lookups, tables, zeros = self.records
        lists = self.encoded_lists
        return TensorPlan(self.degree, lists, commitments, bases, views, forms, lookups, tables, zeros, openings)

    @property
    def encoded_lists(self) -> list[bytes]:
        """What the root of each group binds."""
        openings = self.openings or (None,) * len(self.lists)
        return [encoded(ports, most) for ports, most in zip(self.lists, openings, strict=True)]

    def hiding(self, openings: Openings) -> Plan:
        """The plan of the same program for proofs in zero knowledge; raises Unprovable where it does not fit."""
        made = replace(self, openings=_openings(openings, self.groups))
        return replace(made, degree=least_degree(made))

    @cached_property
    def layout(self) -> Layout:
        """The sizes of a proof; raises Unprovable where there are none in zero knowledge."""
        if not self.hidden:
            return Layout.of(*tensor_sizes(list(self.commitments)))
        try:
            return Layout.of(*self.native.layout())
        except ValueError as error:
            raise Unprovable(f"expected a smaller program, found that {error}; prove fewer steps at once") from None

    @property
    def hidden(self) -> bool:
        """Whether its proofs are in zero knowledge."""
        return self.openings is not None

    @cached_property
    def digest(self) -> bytes:
        """The statement's digest: proof type, parameters, program, and the plan that follows from it.

        What stands beside the proof type is kept for zero knowledge and for proofs in chunks.
        """

        def plain(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return [value.size, hashlib.sha256(np.ascontiguousarray(value, "<i8").tobytes()).hexdigest()]
            return value

        lists = [ports.hex() for ports in self.encoded_lists]
        tag = (HIDDEN_TYPE, HIDDEN, HIDDEN_GEOMETRY) if self.hidden else (PROOF_TYPE, FLAGS, GEOMETRY)
        kind = [*tag, CHUNKS, parameters(self.degree)]
        said = [*kind, self.program, self.groups, lists, self.assumed, self.records]
        content = json.dumps(said, default=plain, sort_keys=True)
        return hashlib.sha256(content.encode()).digest()

    def ports_of(self, key: PortKey) -> PortList:
        """What the root of a group is of."""
        return self.lists[self.groups.index(key)]

    @property
    def committed(self) -> int:
        """Elements of all columns, without padding."""
        return sum(int(np.prod(base.shape)) for base in self.bases if isinstance(base, Column))

    @property
    def looked_up(self) -> int:
        """Elements that are looked up, without padding."""
        return sum(int(np.prod(self.forms[lookup.key].shape)) for lookup in self.lookups)

    @cached_property
    def parts(self) -> Mapping[str, tuple[int, int]]:
        """By operation and place, by port, and for tables: elements committed, and elements looked up."""
        found: dict[str, list[int]] = {}
        for base in self.bases:
            if isinstance(base, Column):
                found.setdefault(base.part, [0, 0])[0] += math.prod(base.shape)
        for lookup in self.lookups:
            found.setdefault(lookup.part, [0, 0])[1] += math.prod(self.forms[lookup.key].shape)
        return {part: (committed, looked_up) for part, (committed, looked_up) in found.items()}

    def trace(self, inputs: Mapping[str, Integers]) -> Trace:
        """The values of all wires; inputs are integers of their formats, as `to_integers` makes them of real values.

        Raises Undefined where the program has no value, CircuitizeError for what is no array of integers.
        """
        for name in self.inputs:
            if np.asarray(inputs[name]).dtype.kind not in "iu":
                raise CircuitizeError(f"expected integers of its format for input {name!r}, found others: to_integers")
        values = [np.asarray(inputs[name], np.int64, order="C") for name in self.inputs]
        try:
            found = values_of(self.arrow, values, self.inputs, keep=True)
        except Undefined as error:
            raise Undefined(f"{error}; no proof exists") from None
        return [value for value in found if value is not None]

    def values(self, trace: Trace, rows: Mapping[str, Integers] | None = None) -> list[Integers]:
        """The honest values of every base; none for multiplicities, which the prover counts, and a dataset's tensors.

        `rows` gives the numbers of each batch's rows, by its label.
        """
        recipes = [base.recipe for base in self.bases]
        found = [
            np.zeros(0, np.int64) if recipe is None else np.ascontiguousarray(recipe(trace), np.int64)
            for recipe in recipes
        ]
        for label, base in self.indices.items():
            found[base] = np.ascontiguousarray((rows or {})[label], np.int64)
        return found

    def public_values(self, publics: Mapping[PortKey, Integers]) -> list[Integers]:
        """What the verifier holds of every base: the values of public ports, and nothing else."""
        return [
            np.ascontiguousarray(publics[base.side, base.name], np.int64)
            if isinstance(base, Public)
            else np.zeros(0, np.int64)
            for base in self.bases
        ]


def plan(
    program: IntegerProgram,
    limb_bits: int | None = None,
    assumed: Collection[GroupName] = frozenset(),
    dataset: Dataset | None = None,
    degree: int | None = None,
    openings: Openings | None = None,
    scanned: Scan | None = None,
) -> Plan:
    """The plan of an integer program, with limbs as wide as is cheapest unless told otherwise.

    Programs of one digest have one plan: operations are taken in the canonical order, in which the digest has them.

    Committed inputs of the `assumed` groups are not range-checked. Soundness: every rule takes wires to be within their
    types, so a proof by such a plan holds only for roots that are known to hold values within the formats: outputs of a
    verified proof, or inputs of a verified proof of `format_program`. The plan's digest names the groups.

    Inputs that are batches of a `dataset` are rows of its tensors, which are committed to as the group of data; the
    numbers of the rows are public.

    The extension that challenges are drawn from has the least degree, 2 or 3, at which the proof is sound enough; or
    the given `degree`, if that is no less. The digest names it: prover and verifier must plan alike.

    Where the program is that of a `scan`, `scanned` is it: columns of what leaves a step are then what enters the next.

    With `openings` proofs are in zero knowledge, and the root of each group may be opened so often: one number for all,
    or one for each.

    Raises Unprovable, naming operation, place, interval and remedy, for a program that this prover cannot prove, and
    CircuitizeError for a group that the program has not or a degree that is none of these.
    """
    require_groups(program, assumed)
    if dataset is not None:
        require_batches(program, dataset)
    arrow = _expanded(program)
    draft = drafted(program, arrow, assumed, dataset, scanned)
    widest = settle(draft, limb_bits)
    made = _placed(program, arrow, draft, assumed, dataset, widest)
    if openings is not None:
        made = replace(made, openings=_openings(openings, made.groups))
    least, most = least_degree(made), DEGREES[-1]
    if degree is not None and not least <= degree <= most:
        raise CircuitizeError(f"expected an extension of degree {least} to {most} for this program, found {degree}")
    return replace(made, degree=degree or least)


def _openings(given: Openings, groups: Sequence[PortKey]) -> tuple[int, ...]:
    """How often the root of each group may be opened."""
    counts = tuple(given if isinstance(given, int) else given[key] for key in groups)
    for count in counts:
        if not 1 <= count <= MOST_OPENINGS:
            raise CircuitizeError(f"expected roots for 1 to {MOST_OPENINGS} openings, found {count}")
    return counts


def _expanded(program: IntegerProgram) -> Arrow:
    formats_alone = not program.outputs and any(port.visibility is Visibility.COMMITTED for port in program.inputs)
    if not program.binds() and not formats_alone:
        raise Unprovable("expected a public or committed input and output, found none; a proof would say nothing")
    try:
        return expand(canonical(program.arrow), KEPT)
    except OverflowRisk as error:
        raise Unprovable(str(error)) from None


def _placed(
    program: IntegerProgram,
    arrow: Arrow,
    draft: Draft,
    assumed: Collection[GroupName],
    dataset: Dataset | None,
    widest: int,
) -> Plan:
    """Columns at their places: those of ports in their groups' commitments, all others in the last one."""
    named = groups(program)
    keys = [[(one.side, port.name) for port in one.ports] for one in named]
    placed = [[column for key in own for column in draft.ports.get(key, ())] for own in keys]
    lists = [one.listed for one in named]
    if dataset is not None:
        data = [one.key for one in named].index((INPUT, DATA))
        lists[data] = listed(tensors(program, dataset))
        numbers = [draft.tensors[port.name] for port in lists[data]]
        placed[data] = [base for number in numbers if isinstance(base := draft.bases[number], Column)]
    for one, ports, columns in zip(named, lists, placed, strict=True):
        if sum(port.blocks for port in ports) != len(columns):
            raise Unprovable(f"expected a column for each block of {one.side} {one.name}, found {len(columns)}")
    ported = {id(column) for columns in placed for column in columns}
    placed.append([base for base in draft.bases if isinstance(base, Column) and id(base) not in ported])
    commitments = []
    for number, columns in enumerate(placed):
        variables, offsets = layout([column.shape for column in columns])
        commitments.append(variables)
        for column, offset in zip(columns, offsets, strict=True):
            column.commitment, column.offset = number, offset
    views = dict.fromkeys(view for form in draft.forms for _, path in form.terms for view, _ in path)
    return Plan(
        program_digest(program),
        arrow,
        widest,
        tuple(commitments),
        tuple(one.key for one in named),
        tuple(lists),
        tuple(draft.bases),
        tuple(views),
        tuple(draft.forms),
        tuple(draft.lookups),
        tuple(draft.tables),
        tuple(draft.zeros),
        tuple(port.name for port in program.inputs),
        tuple(port.name for port in program.outputs),
        tuple(sorted(assumed)),
        dataset,
        draft.tensors,
        draft.indices,
    )
