"""Drafting the statement that the proof of a program shows: the form of each port, each operation by its rule, and the
outputs that the proof binds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers.arithmetic import IsNegative, Shift, Subtract
from circuitize.circuits.integers.check import Check
from circuitize.circuits.integers.division import Divide
from circuitize.circuits.integers.view import View
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.scan import Scan, Trajectory
from circuitize.circuits.types import Fixed

from .blocks import Block, blocks, in_one
from .dataset import Dataset
from .draft import Draft
from .errors import Unprovable
from .forms import Column, Form, Integers, Trace
from .groups import INPUT, OUTPUT, GroupName, group_names
from .lowering import RULES, Site

DEEPEST = 3
"""The depth of nested products beyond which a form becomes a column."""


def drafted(
    program: IntegerProgram,
    arrow: Arrow,
    assumed: Collection[GroupName],
    dataset: Dataset | None,
    scanned: Scan | None = None,
) -> Draft:
    """Return the draft of everything that is to be proved of a program; `arrow` is the program's arrow after expanding
    operations without a rule.

    Raise Unprovable for an operation that has no rule, and for an operation that its rule refuses.
    """
    draft = Draft(None if scanned is None else scanned.count)
    forms: dict[int, Form] = {}
    names = group_names(program)
    handed_on = _handed_on(program, arrow, () if scanned is None else scanned.trajectories)
    for port, wire in zip(program.inputs, arrow.inputs.tolist(), strict=True):
        format = port.format

        def value(trace: Trace, wire: int = wire) -> Integers:
            return trace[wire]

        draft.part = f"{INPUT} {port.name}"
        if port.visibility is Visibility.PUBLIC:
            forms[wire] = draft.public(format.shape, value, INPUT, port.name)
            continue
        if port.name in handed_on:
            first, leaving = handed_on[port.name]
            forms[wire] = _entering(draft, arrow, wire, forms[first], leaving)
            continue
        if dataset is not None and port.name in dataset.batches:
            tensor, label = dataset.batches[port.name]
            forms[wire] = draft.rows(format.shape, value, (tensor, dataset.shape(port)), label, dataset.axes)
        else:
            cut = None if port.visibility is Visibility.PRIVATE and port.role is not Role.DATA else _laid(port)
            forms[wire] = draft.column(format.shape, value, f"{INPUT} {port.name}", cut)
        if port.visibility is Visibility.PRIVATE or names[port.name] not in assumed:
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
        types = tuple(arrow.format(wire) for wire in sources)
        if index in merged:
            forms[targets[0]] = forms[sources[0]]
            continue
        checked = arrow.operations[arrow.rows[fused[index]][0]] if index in fused else None
        interval = (checked.low, checked.high) if isinstance(checked, Check) else None
        site = Site(where, tuple(sources), types, targets[0], arrow.format(targets[0]), interval, targets[0] in strict)
        made = rule(draft, operation, site, tuple(forms[wire] for wire in sources))
        columned = targets[0] in draft.expected or draft.depth(made) > DEEPEST
        forms[targets[0]] = _in_one(draft, made, site) if columned else made
    _bind_outputs(program, arrow, draft, forms)
    return draft


def _in_one(draft: Draft, form: Form, site: Site) -> Form:
    """Return a column that equals a form, because without the column the claims on the form would double with each
    level of a tree of products or maxima.

    Soundness: the column equals the form modulo p, and the form equals, modulo p, an integer of the wire's type, so
    that the column equals the same integer.
    """
    column = draft.result(site.target_wire, form.shape, site.value, f"{site.name} in one")
    draft.zero(form - column)
    return column


def _handed_on(program: IntegerProgram, arrow: Arrow, trajectories: Iterable[Trajectory]) -> dict[str, tuple[int, int]]:
    """Return, for each input that steps hand on, the wire of its first values and the wire of the values that leave
    each step, before they are checked.

    An input whose values leave a step as those of another input is left out: an equation says that the two are equal.
    """
    entering = {port.name: wire for port, wire in zip(program.inputs, arrow.inputs.tolist(), strict=True)}
    leaving = {port.name: wire for port, wire in zip(program.outputs, arrow.outputs.tolist(), strict=True)}
    checked = {row[2][0]: row[1][0] for row in arrow.rows if isinstance(arrow.operations[row[0]], Check)}
    found = {}
    for one in trajectories:
        wire = leaving[one.leaving]
        while wire in checked:
            wire = checked[wire]
        if wire == entering[one.entering] or wire not in entering.values():
            found[one.entering] = entering[one.first], wire
    return found


def _entering(draft: Draft, arrow: Arrow, wire: int, first: Form, leaving: int) -> Form:
    """Return the values that enter each step: the first values, and then the values that each step except the last
    leaves, which are in a column.

    Soundness: the argument for handing values from step to step is that of `circuits/scan.py`. The program of the scan
    checks that the values which leave a step enter the next step; since both are forms of the same columns, this takes
    no equation. It needs no further proof that the values handed from step to step are in format: the values that enter
    the first step are, and if the values that enter a step are in format, then what is shown of this step holds, so
    that the values which leave it, and enter the next step, are in format too.
    """
    count, *shape = arrow.format(wire).shape
    start, rest = View.broadcast((1, *shape), (0,)), [0] * len(shape)
    if wire == leaving:
        return draft.along(first, View.broadcast((count, *shape), (0,)), sums=False)
    column = draft.expect(leaving, (count, *shape), lambda trace: trace[leaving], draft.part)
    made = draft.along(first, start.then(View.pad((1, *shape), (0, *rest), (count - 1, *rest))), sums=False)
    if count == 1:
        return made
    before = View.slice(column.shape, (0, *rest), (count - 1, *shape))
    return made + draft.along(column, before.then(View.pad((count - 1, *shape), (1, *rest), (0, *rest))), sums=False)


def _fused(arrow: Arrow) -> dict[int, int]:
    """Return the Check of each Shift or Divide whose only reader is a Check; the quotient is then looked up in the
    interval of the Check.
    """
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
    """Return the wires that are subtracted from something before the sign of the difference is needed, as in the
    derivative of a ReLU.
    """
    writer = {target: row for row in arrow.rows for target in row[2]}
    asked = [row[1][0] for row in arrow.rows if isinstance(arrow.operations[row[0]], IsNegative)]
    rows = [writer[wire] for wire in asked if wire in writer]
    return {row[1][1] for row in rows if isinstance(arrow.operations[row[0]], Subtract)}


def _bind_outputs(program: IntegerProgram, arrow: Arrow, draft: Draft, forms: Mapping[int, Form]) -> None:
    """Bind each output: a committed output is the column that holds its value, if no other port is that column, and
    otherwise a new column that equals its form.
    """
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
        own, cut = draft.columns.get(form.key()), _laid(port)
        laid = [block.shape for block in cut]
        if own is None or not taken.isdisjoint(own) or [draft.bases[base].shape for base in own] != laid:
            column = draft.column(form.shape, value, f"{OUTPUT} {port.name}", cut)
            draft.zero(form - column)
            form = column
        taken.update(base for base, _ in form.terms)
        draft.ports[OUTPUT, port.name] = _columns(draft, form)


def _laid(port: Port[Fixed]) -> tuple[Block, ...]:
    """Return the blocks of a port's column, which follow from the list of ports to which the root commits."""
    return in_one(port.format.shape) if port.role is Role.DATA else blocks(port.format.shape)


def _columns(draft: Draft, form: Form) -> tuple[Column, ...]:
    found = [draft.bases[base] for base in draft.columns[form.key()]]
    return tuple(base for base in found if isinstance(base, Column))
