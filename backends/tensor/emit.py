"""Lowering an integer program to a tensor system, which depends only on the program, so that prover and verifier have
the same system.
"""

from __future__ import annotations

from collections.abc import Collection

from circuitize.circuits.encode import canonical, program_digest
from circuitize.circuits.errors import OverflowRisk
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers.arithmetic import Subtract
from circuitize.circuits.integers.contraction import Contract
from circuitize.circuits.integers.expand import expand
from circuitize.circuits.integers.selection import Maximum, Select
from circuitize.circuits.integers.wiring import Concatenate
from circuitize.circuits.operation import Operation
from circuitize.circuits.port import Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.scan import Scan

from . import frozen
from .checks import settle
from .dataset import Dataset, require_batches, tensors
from .draft import Draft
from .drafting import drafted
from .errors import Unprovable
from .forms import Column
from .groups import DATA, INPUT, GroupName, groups, layout, require_groups
from .ports import listed
from .system import TensorSystem

KEPT: frozenset[type[Operation]] = frozenset({Subtract, Contract, Concatenate, Select, Maximum})
"""The operations that have a definition but are proved directly instead of by it."""


def emit(
    program: IntegerProgram,
    limb_bits: int | None = None,
    assumed: Collection[GroupName] = frozenset(),
    dataset: Dataset | None = None,
    scanned: Scan | None = None,
) -> TensorSystem:
    """Return the tensor system of an integer program; limbs have the width that is cheapest, unless `limb_bits` is
    given.

    Programs with the same digest have the same tensor system: operations are taken in the canonical order, in which the
    digest hashes them.

    Committed inputs in the `assumed` groups are not range-checked. Soundness: every rule assumes that wires are within
    their types, so that a proof of the system is valid only for roots that are known to commit to values in format:
    outputs of a verified proof, or inputs of a verified proof of `format_program`. The tensor system names the groups
    that it assumes to be in format.

    Inputs that are batches of a `dataset` are rows of its tensors, which are committed to as the group of data; the
    numbers of the rows are public.

    If the program is that of a scan, the argument `scanned` is the scan: the columns of the values that leave a step
    then also hold the values that enter the next step.

    Raise Unprovable, naming the operation, its place, the interval and a remedy, for a program that has no tensor
    system; raise CircuitizeError for a group that the program does not have.
    """
    require_groups(program, assumed)
    if dataset is not None:
        require_batches(program, dataset)
    arrow = _expanded(program)
    draft = drafted(program, arrow, assumed, dataset, scanned)
    widest = settle(draft, limb_bits)
    return _placed(program, arrow, draft, assumed, dataset, widest)


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
) -> TensorSystem:
    """Return the tensor system with its columns placed in commitments: the columns of ports in the commitments of their
    groups, and all other columns in the last commitment.
    """
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
    return TensorSystem(
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
        {one.key: frozen.openings(frozen.size(one.ports)) for one in named if one.ports[0].role is Role.FROZEN},
    )
