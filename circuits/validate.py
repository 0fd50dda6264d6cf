"""Checks that an arrow is well formed: each wire has one writer, writers come before readers, and types are those that
the operations give.
"""

from __future__ import annotations

import numpy as np

from .errors import TypingError
from .hypergraph import Arrow


def validate(arrow: Arrow) -> None:
    """Raise TypingError, naming the wire or edge, unless the arrow is well formed. Checking that an arrow is well
    formed takes linear time.
    """
    wires, edges = arrow.wire_count, arrow.edge_count
    for name in ("source_wires", "target_wires", "inputs", "outputs"):
        column = getattr(arrow, name)
        if len(column) and (column.min() < 0 or column.max() >= wires):
            raise TypingError(f"expected wires below {wires} in {name}, found {column.min()}..{column.max()}")
    for name in ("source_offsets", "target_offsets"):
        offsets, end = getattr(arrow, name), len(getattr(arrow, name.replace("offsets", "wires")))
        if len(offsets) != edges + 1 or offsets[0] or offsets[-1] != end or (np.diff(offsets) < 0).any():
            raise TypingError(f"expected {name} to rise from 0 to {end} over {edges} edges, found otherwise")
    tables = {"wire_types": arrow.types, "edge_operations": arrow.operations, "edge_provenances": arrow.provenances}
    for name, table in tables.items():
        column = getattr(arrow, name)
        if len(column) and (column.min() < 0 or column.max() >= len(table)):
            raise TypingError(f"expected {name} to index a table of {len(table)}, found {column.min()}..{column.max()}")

    written = np.bincount(np.concatenate([arrow.inputs, arrow.target_wires]), minlength=wires)
    if (written != 1).any():
        wire = int(np.argmax(written != 1))
        raise TypingError(f"expected each wire to be written once, found wire {wire} written {written[wire]} times")
    writer = np.full(wires, -1, np.int64)
    writer[arrow.target_wires] = np.repeat(np.arange(edges), np.diff(arrow.target_offsets))
    reader = np.repeat(np.arange(edges), np.diff(arrow.source_offsets))
    late = writer[arrow.source_wires] >= reader
    if late.any():
        raise TypingError(f"expected writers before readers, found edge {reader[late][0]} reading a later wire")

    wire_types = arrow.wire_types.tolist()
    known: dict[tuple[int, ...], tuple[object, ...]] = {}
    for index, (operation, sources, targets, _) in enumerate(arrow.rows):
        key = (operation, *[wire_types[wire] for wire in sources])
        expected = known.get(key)
        if expected is None:
            expected = known[key] = arrow.operations[operation].target_types(*[arrow.types[t] for t in key[1:]])
        found = tuple(arrow.types[wire_types[wire]] for wire in targets)
        if found != expected:
            raise TypingError(
                f"edge {index} ({arrow.operations[operation].name}, {arrow.edge(index).provenance}): expected targets "
                f"{', '.join(map(str, expected))}, found {', '.join(map(str, found))}"
            )
