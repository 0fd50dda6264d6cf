"""Formats that a real program states: which wires are never rounded because of them, and which wires are constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from .arrays.arithmetic.rescale import Rescale
from .arrays.language import RealOperation, Rounding
from .arrays.layout.movement import Flip, Pad, Reshape, Slice, Transpose
from .arrays.layout.window import Window
from .arrays.piecewise.comparison import ReLU
from .arrays.piecewise.extrema import Max
from .arrays.piecewise.quantize import Quantize
from .builder import Builder
from .errors import TypingError
from .hypergraph import Arrow, evaluate
from .integers import Constant
from .lowering import Lowering, Precision
from .operation import Operation
from .types import Fixed

SIGNIFICANT = 32
"""How many bits a constant keeps beside an accumulator that is not rounded."""
WIDEST = 60
"""How many bits a constant keeps beside an accumulator that is not rounded, if the constant's own format is stated."""


def with_formats(arrow: Arrow, formats: Mapping[int, Operation]) -> Arrow:
    """Return an arrow in which the numbered wires have stated formats, each a `Quantize` or `Rescale`, for every
    operation that reads them.

    An edge added for a stated format takes the provenance of the edge that wrote the wire. Raise TypingError for a wire
    that the arrow lacks, and for an operation that states no format.
    """
    for wire, operation in formats.items():
        if not 0 <= wire < arrow.wire_count:
            raise TypingError(f"expected wires below {arrow.wire_count}, found {wire}; take one from an edge's targets")
        if not states(operation):
            raise TypingError(
                f"wire {wire}: expected an operation that states a format, found {operation}; Quantize does"
            )
    builder = Builder()
    wires = [-1] * arrow.wire_count

    def write(wire: int, made: int) -> None:
        wires[wire] = builder.add(formats[wire], made) if wire in formats else made

    for wire, made in zip(arrow.inputs.tolist(), builder.inputs(arrow.source), strict=True):
        write(wire, made)
    for index, sources, targets, provenance in arrow.rows:
        builder.provenance = arrow.provenances[provenance]
        for wire, made in zip(
            targets, builder.apply(arrow.operations[index], *[wires[w] for w in sources]), strict=True
        ):
            write(wire, made)
    return builder.build([wires[wire] for wire in arrow.outputs.tolist()])


COMMUTE = (Flip, Max, Pad, Reshape, Slice, Transpose, Window)
"""Operations that choose elements, or put zeros beside them: such operations commute with a rectifier."""


def without_rectifiers(arrow: Arrow) -> Arrow:
    """Return an arrow of the same function with fewer rectifiers: a rectifier is not needed before a format that
    saturates at 0 or above.

    Every rule of rounding is monotone and keeps 0, so a negative value becomes the least value of a format that
    saturates at 0 or above, with or without a rectifier. A rectifier is removed only if the operations between it and
    the format commute with it, and nothing else reads their results.
    """
    writers = {row[2][0]: row for row in arrow.rows if _commutes(arrow.operations[row[0]])}
    readers = Counter(wire for row in arrow.rows for wire in row[1]) + Counter(arrow.outputs.tolist())
    skipped = {}
    for index, sources, _, _ in arrow.rows:
        operation = arrow.operations[index]
        if isinstance(operation, Quantize) and operation.low >= 0 and operation.overflow == "saturate":
            wire = sources[0]
            while wire in writers and readers[wire] == 1 and not _is_rectifier(arrow, writers[wire]):
                wire = writers[wire][1][0]
            if wire in writers and readers[wire] == 1 and _is_rectifier(arrow, writers[wire]):
                skipped[wire] = writers[wire][1][0]
    if not skipped:
        return arrow
    builder = Builder()
    wires = [-1] * arrow.wire_count
    for wire, entering in zip(arrow.inputs.tolist(), builder.inputs(arrow.source), strict=True):
        wires[wire] = entering
    for index, sources, targets, provenance in arrow.rows:
        builder.provenance = arrow.provenances[provenance]
        if targets[0] in skipped:
            wires[targets[0]] = wires[skipped[targets[0]]]
            continue
        made = builder.apply(arrow.operations[index], *[wires[wire] for wire in sources])
        for wire, target in zip(targets, made, strict=True):
            wires[wire] = target
    return builder.build([wires[wire] for wire in arrow.outputs.tolist()])


def _commutes(operation: Operation) -> bool:
    """Return whether an operation commutes with a rectifier: a second rectifier, a positive multiple or a choice of
    elements does.
    """
    positive = isinstance(operation, Rescale) and bool((operation.factors > 0).all())
    return positive or isinstance(operation, (ReLU, *COMMUTE))


def _is_rectifier(arrow: Arrow, row: tuple[int, list[int], list[int], int]) -> bool:
    return isinstance(arrow.operations[row[0]], ReLU)


def is_exact(operation: Operation) -> bool:
    """Return whether an operation is lowered exactly on operands of any fraction bits, also on unrounded ones."""
    return isinstance(operation, RealOperation) and (operation.rounding is Rounding.LINEAR or operation.exact)


def states(operation: Operation) -> bool:
    """Return whether an operation states the format of its result."""
    return isinstance(operation, RealOperation) and operation.rounding is Rounding.FORMAT


def kept_whole(arrow: Arrow) -> bytearray:
    """Return which wires are never rounded: those that only exact operations read, and that some result with a stated
    format depends on.

    The wires are found in one pass from the last edge to the first, since the readers of a wire come after its writer.
    """
    kept, stated = bytearray(arrow.wire_count), bytearray(arrow.wire_count)
    if not any(map(states, arrow.operations)):
        return kept
    stating, exact = list(map(states, arrow.operations)), list(map(is_exact, arrow.operations))
    read_inexactly = bytearray(arrow.wire_count)
    for operation, sources, targets, _ in reversed(arrow.rows):
        later = stating[operation] or (exact[operation] and any(kept[wire] for wire in targets))
        for wire in sources:
            stated[wire] |= later
            read_inexactly[wire] |= not (stating[operation] or exact[operation])
            kept[wire] = stated[wire] and not read_inexactly[wire]
    return kept


def known(arrow: Arrow, precision: Precision, exponents: Sequence[int]) -> dict[int, Constant]:
    """Return the constants, by wire, that result from applying operations that state formats to constants, and exact
    operations to these results.

    Weights with a stated format stay constants, with the integers of that format.
    """
    found: dict[int, Constant] = {}
    if not any(map(states, arrow.operations)):
        return found
    constants: dict[int, Operation] = {}
    for index, sources, targets, _ in arrow.rows:
        operation = arrow.operations[index]
        if operation.constant is not None:
            constants[targets[0]] = operation
        elif all(wire in found or wire in constants for wire in sources) and (
            states(operation) or (is_exact(operation) and any(wire in found for wire in sources))
        ):
            given = [
                found.get(wire) or exact_constant(constants[wire], precision, WIDEST - exponents[wire])
                for wire in sources
            ]
            found[targets[0]] = _computed(operation, given, precision)
    return found


def unread(arrow: Arrow, computed: dict[int, Constant]) -> set[int]:
    """Return the constants that nothing reads any more once the given wires are computed."""
    constants = {row[2][0] for row in arrow.rows if arrow.operations[row[0]].constant is not None}
    needed = set(arrow.outputs.tolist())
    for _, sources, targets, _ in arrow.rows:
        if targets[0] not in computed:
            needed.update(sources)
    return (constants | computed.keys()) - needed


def exact_constant(operation: Operation, precision: Precision, most: int) -> Constant:
    """Return a constant of reals with as many fraction bits as it needs, up to `most`; if it needs more, it is rounded
    to `most`.
    """
    return _computed(operation, [], precision, Fixed((), most, -1, 1))


def _computed(
    operation: Operation, given: Sequence[Constant], precision: Precision, result: Fixed | None = None
) -> Constant:
    assert isinstance(operation, RealOperation)
    scratch = Builder()
    wires = [scratch.add(constant) for constant in given]
    (made,) = operation.lower(Lowering(scratch, precision, result), *wires)
    arrow = scratch.build([made])
    return Constant.of(evaluate(arrow, [])[0], arrow.format(made).fraction_bits)
