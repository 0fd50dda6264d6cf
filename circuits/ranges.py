"""The interval of every wire of an integer arrow: a list of the widest intervals, and a proof that no value leaves its
interval and none overflows.
"""

from __future__ import annotations

from .errors import OverflowRisk, TypingError
from .hypergraph import Arrow
from .operation import Provenance
from .types import Fixed, fixed


def report(arrow: Arrow) -> list[tuple[int, Fixed, Provenance]]:
    """List each wire of an integer arrow with its type and its origin, widest interval first.

    In a report of intervals, the origin of the wire of input i is the part "input i". In a report of intervals, wires
    whose intervals have equal width stay in the order of their numbers.
    """
    origins = {wire: Provenance(f"input {i}") for i, wire in enumerate(arrow.inputs.tolist())}
    for _, _, targets, provenance in arrow.rows:
        origins.update(dict.fromkeys(targets, arrow.provenances[provenance]))
    rows = [(wire, arrow.format(wire), origin) for wire, origin in sorted(origins.items())]
    return sorted(rows, key=lambda row: row[1].low - row[1].high)


def prove(arrow: Arrow) -> None:
    """Raise OverflowRisk unless the type of every edge, found anew from its sources' types, stays within its targets'
    intervals.

    By induction over the edges, no value of a program whose intervals are proved ever leaves the interval of its wire,
    or passes 2^62. The message of a failed interval proof names the operation, its source line, both intervals and the
    remedy. Raise TypingError if an edge's operation does not accept its sources' types. The proof of intervals takes
    linear time; the type of each operation is found once per combination of source types.
    """
    wire_types = arrow.wire_types.tolist()
    proved: set[tuple[int, ...]] = set()
    for index, (operation, sources, targets, provenance) in enumerate(arrow.rows):
        key = (operation, len(sources), *[wire_types[wire] for wire in (*sources, *targets)])
        if key in proved:
            continue
        proved.add(key)
        name = arrow.operations[operation].name
        where = f"edge {index} ({name}), {arrow.provenances[provenance]}"
        source_types = [arrow.format(wire) for wire in sources]
        try:
            found = arrow.operations[operation].target_types(*source_types)
        except (OverflowRisk, TypingError) as error:
            applied = ", ".join(map(str, source_types))
            raise error.__class__(f"{error}; in {where}, on ({applied})") from None
        for wire, type in zip(targets, map(fixed, found), strict=True):
            declared = arrow.format(wire)
            if declared.shape != type.shape or declared.fraction_bits != type.fraction_bits:
                raise TypingError(f"expected wire {wire} of type {type}, found {declared}; in {where}; type it again")
            if type.low < declared.low or type.high > declared.high:
                raise OverflowRisk(
                    f"expected wire {wire} in its declared interval [{declared.low}, {declared.high}], found that "
                    f"it may reach [{type.low}, {type.high}]; in {where}; add a Check or declare the wider interval"
                )
