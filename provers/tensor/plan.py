"""Plans: what the proof of an integer program consists of, by the program alone, the same for prover and verifier."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from circuitize._native import TensorPlan
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import OverflowRisk, Undefined
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers.arithmetic import IsNegative, Shift, Subtract
from circuitize.circuits.integers.check import Check
from circuitize.circuits.integers.contraction import Contract
from circuitize.circuits.integers.division import Divide
from circuitize.circuits.integers.expand import expand
from circuitize.circuits.integers.selection import Maximum, Select
from circuitize.circuits.integers.steps import Affine
from circuitize.circuits.integers.view import View
from circuitize.circuits.integers.wiring import Concatenate
from circuitize.circuits.operation import Operation
from circuitize.circuits.program import Program, Role, Visibility
from circuitize.circuits.types import Fixed as FixedType

from .blocks import blocks
from .checks import settle
from .config import PARAMETERS, PROOF_TYPE
from .dataset import Dataset, require_batches
from .draft import Draft, Lookup, Table
from .errors import Unprovable
from .forms import Base, Column, Fixed, Form, Integers, Product, Public, Rows, Trace
from .groups import DATA, INPUT, OUTPUT, GroupName, PortKey, group, groups, layout, require_groups
from .lowering import RULES, Site

MOST_VARIABLES = 27
"""A commitment holds 2^27 elements at most; sizes of larger plans are estimated all the same."""

KEPT: frozenset[type[Operation]] = frozenset({Subtract, Contract, Concatenate, Select, Maximum})
"""Operations with a definition that are proved directly instead."""


DEEPEST = 3
"""A form of products of products, deeper than that, becomes a column."""


@dataclass(frozen=True)
class Plan:
    """Everything that prover and verifier agree on before a proof: it follows from the program.

    `commitments` holds the variables of each; all but the last are those of groups of committed ports, in the order of
    `groups`, the last is made by the proof. Views, forms and bases are numbered. The inputs of `assumed` groups are not
    shown to lie in their formats: a proof by this plan says nothing unless that is known of their roots. Where inputs
    are batches of a `dataset`, `tensors` and `indices` number the bases of its tensors and of the rows of each batch.
    """

    program: str
    arrow: Arrow
    limb_bits: int
    commitments: tuple[int, ...]
    groups: tuple[PortKey, ...]
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

    @cached_property
    def records(self) -> tuple[list[Any], ...]:
        """The plan as the native prover reads it: lists of plain tuples."""
        numbers = {view: number for number, view in enumerate(self.views)}
        bases = [_base_record(base) for base in self.bases]
        views = [
            (
                list(view.source_shape),
                [
                    (list(step.shape), (list(step.offsets), [list(row) for row in step.strides]))
                    if isinstance(step, Affine)
                    else (list(step.shape), None)
                    for step in view.steps
                ],
            )
            for view in self.views
        ]
        forms = [
            (
                list(form.shape),
                [
                    (coefficient, base, [(numbers[view], sums) for view, sums in path])
                    for (base, path), coefficient in form.terms.items()
                ],
            )
            for form in self.forms
        ]
        lookups = [(lookup.table, lookup.key, lookup.value) for lookup in self.lookups]
        tables = [(table.size, table.values, table.column) for table in self.tables]
        return list(self.commitments), bases, views, forms, lookups, tables, list(self.zeros)

    @cached_property
    def native(self) -> TensorPlan:
        """The plan in the native prover; raises Unprovable for more elements than it commits to at once."""
        if max(self.commitments) > MOST_VARIABLES:
            raise Unprovable(
                f"expected at most 2^{MOST_VARIABLES} committed elements, found 2^{max(self.commitments)}; "
                "prove fewer steps at once"
            )
        return TensorPlan(*self.records)

    @cached_property
    def digest(self) -> bytes:
        """The statement's digest: proof type, parameters, program, and the plan that follows from it."""

        def plain(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return [value.size, hashlib.sha256(np.ascontiguousarray(value, "<i8").tobytes()).hexdigest()]
            return value

        said = [PROOF_TYPE, PARAMETERS, self.program, self.groups, self.assumed, self.records]
        content = json.dumps(said, default=plain, sort_keys=True)
        return hashlib.sha256(content.encode()).digest()

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
        """The values of all wires. Raises Undefined where the program has no value."""
        values = [np.asarray(inputs[name], np.int64, order="C") for name in self.inputs]

        def run(index: int, operation: Any, sources: list[Integers]) -> Sequence[Integers]:
            try:
                made: Sequence[Integers] = operation.run(*sources)
                return made
            except Undefined as error:
                raise Undefined(f"{error}, {self.arrow.edge(index).provenance}; no proof exists") from None

        return [value for value in fold(self.arrow, values, run, keep=True) if value is not None]

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
    program: Program,
    limb_bits: int | None = None,
    assumed: Collection[GroupName] = frozenset(),
    dataset: Dataset | None = None,
) -> Plan:
    """The plan of an integer program, with limbs as wide as is cheapest unless told otherwise.

    Committed inputs of the `assumed` groups are not range-checked. Soundness: every rule takes wires to be within their
    types, so a proof by such a plan holds only for roots that are known to hold values within the formats: outputs of a
    verified proof, or inputs of a verified proof of `format_program`. The plan's digest names the groups.

    Inputs that are batches of a `dataset` are rows of its tensors, which are committed to as the group of data; the
    numbers of the rows are public.

    Raises Unprovable, naming operation, place, interval and remedy, for a program that this prover cannot prove, and
    CircuitizeError for a group that the program has not.
    """
    require_groups(program, assumed)
    if dataset is not None:
        require_batches(program, dataset)
    arrow = _expanded(program)
    draft = _draft(program, arrow, assumed, dataset)
    widest = settle(draft, limb_bits)
    return _placed(program, arrow, draft, assumed, dataset, widest)


def _expanded(program: Program) -> Arrow:
    formats_alone = not program.outputs and any(port.visibility is Visibility.COMMITTED for port in program.inputs)
    if not program.binds() and not formats_alone:
        raise Unprovable("expected a public or committed input and output, found none; a proof would say nothing")
    try:
        return expand(program.arrow, KEPT)
    except OverflowRisk as error:
        raise Unprovable(str(error)) from None


def _draft(program: Program, arrow: Arrow, assumed: Collection[GroupName], dataset: Dataset | None) -> Draft:
    draft = Draft()
    forms: dict[int, Form] = {}
    for port, wire in zip(program.inputs, arrow.inputs.tolist(), strict=True):
        format = port.format
        assert format is not None

        def value(trace: Trace, wire: int = wire) -> Integers:
            return trace[wire]

        draft.part = f"{INPUT} {port.name}"
        if port.visibility is Visibility.PUBLIC:
            forms[wire] = draft.public(format.shape, value, INPUT, port.name)
            continue
        if dataset is not None and port.name in dataset.batches:
            tensor, label = dataset.batches[port.name]
            forms[wire] = draft.rows(format.shape, value, (tensor, dataset.shape(port)), label)
        else:
            forms[wire] = draft.column(format.shape, value, f"{INPUT} {port.name}", whole=port.role is Role.DATA)
        if port.visibility is Visibility.PRIVATE or group(port) not in assumed:
            draft.interval(forms[wire], format.low, format.high, value, f"{INPUT} {port.name}")
    fused = _fused(arrow)
    merged, strict = set(fused.values()), _strict(arrow)
    for index, (operation_index, sources, targets, provenance) in enumerate(arrow.rows):
        operation = arrow.operations[operation_index]
        rule = RULES.get(type(operation))
        where = f"{operation.name} of {arrow.provenances[provenance]}"
        draft.part = where
        if rule is None:
            raise Unprovable(f"{where}: expected an operation that this prover knows, found {type(operation).__name__}")
        types = tuple(_fixed(arrow, wire) for wire in sources)
        if index in merged:
            forms[targets[0]] = forms[sources[0]]
            continue
        checked = arrow.operations[arrow.rows[fused[index]][0]] if index in fused else None
        interval = (checked.low, checked.high) if isinstance(checked, Check) else None
        site = Site(where, tuple(sources), types, targets[0], _fixed(arrow, targets[0]), interval, targets[0] in strict)
        made = rule(draft, operation, site, tuple(forms[wire] for wire in sources))
        forms[targets[0]] = _in_one(draft, made, site) if draft.depth(made) > DEEPEST else made
    _bind_outputs(program, arrow, draft, forms)
    return draft


def _in_one(draft: Draft, form: Form, site: Site) -> Form:
    """A column that equals the form, whose claims would double with each more level of a tree of products or maxima.

    Soundness: the equation holds modulo p, and the form is an integer of the wire's type modulo p; so is the column.
    """
    column = draft.column(form.shape, site.value, f"{site.name} in one")
    draft.zero(form - column)
    return column


def _fixed(arrow: Arrow, wire: int) -> FixedType:
    found = arrow.type(wire)
    assert isinstance(found, FixedType)
    return found


def _fused(arrow: Arrow) -> dict[int, int]:
    """For each Shift or Divide that one Check alone reads, that Check: the quotient is looked up in its interval."""
    readers = arrow.readers()
    writer = {target: index for index, row in enumerate(arrow.rows) for target in row[2]}
    found: dict[int, int] = {}
    for index, (operation, sources, _, _) in enumerate(arrow.rows):
        if isinstance(arrow.operations[operation], Check) and readers[sources[0]] == 1:
            before = writer.get(sources[0])
            if before is not None and isinstance(arrow.operations[arrow.rows[before][0]], (Shift, Divide)):
                found[before] = index
    return found


def _strict(arrow: Arrow) -> set[int]:
    """The wires that are taken from something before its sign is asked for, as the derivative of a ReLU does."""
    writer = {target: row for row in arrow.rows for target in row[2]}
    asked = [row[1][0] for row in arrow.rows if isinstance(arrow.operations[row[0]], IsNegative)]
    rows = [writer[wire] for wire in asked if wire in writer]
    return {row[1][1] for row in rows if isinstance(arrow.operations[row[0]], Subtract)}


def _bind_outputs(program: Program, arrow: Arrow, draft: Draft, forms: Mapping[int, Form]) -> None:
    """A committed output is the column that holds its value, if no other port has it; else one equal to its form."""
    taken: set[int] = set()
    for port, input_wire in zip(program.inputs, arrow.inputs.tolist(), strict=True):
        if port.visibility is Visibility.COMMITTED:
            taken |= {base for base, _ in forms[input_wire].terms}
            if forms[input_wire].key() in draft.columns:
                draft.ports[INPUT, port.name] = _columns(draft, forms[input_wire])
    for port, wire in zip(program.outputs, arrow.outputs.tolist(), strict=True):
        if port.visibility is Visibility.PRIVATE:
            continue
        draft.part = f"{OUTPUT} {port.name}"

        def value(trace: Trace, wire: int = wire) -> Integers:
            return trace[wire]

        form = forms[wire]
        if port.visibility is Visibility.PUBLIC:
            draft.zero(form - draft.public(form.shape, value, OUTPUT, port.name))
            continue
        own, whole = draft.columns.get(form.key()), port.role is Role.DATA
        laid = [form.shape] if whole else [block.shape for block in blocks(form.shape)]
        if own is None or not taken.isdisjoint(own) or [draft.bases[base].shape for base in own] != laid:
            column = draft.column(form.shape, value, f"{OUTPUT} {port.name}", whole)
            draft.zero(form - column)
            form = column
        taken.update(base for base, _ in form.terms)
        draft.ports[OUTPUT, port.name] = _columns(draft, form)


def _columns(draft: Draft, form: Form) -> tuple[Column, ...]:
    found = [draft.bases[base] for base in draft.columns[form.key()]]
    return tuple(base for base in found if isinstance(base, Column))


def _placed(
    program: Program,
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
    if dataset is not None:
        tensors = [base for number in draft.tensors.values() if isinstance(base := draft.bases[number], Column)]
        placed[[one.key for one in named].index((INPUT, DATA))] = tensors
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


def _base_record(base: Base) -> tuple[Any, ...]:
    shape = list(base.shape)
    match base:
        case Column():
            return "column", shape, base.commitment, base.offset
        case Public():
            return "public", shape
        case Rows():
            return "rows", shape, base.column, base.index
        case Fixed():
            return "constant", shape, np.ascontiguousarray(base.values.reshape(-1), np.int64)
        case Product():
            return "product", shape, list(base.letters), list(base.forms)
