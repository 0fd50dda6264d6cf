"""A diagram in DOT, the language of Graphviz: a node for each box, and an edge from the writer of a wire to each reader
of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .diagram import Diagram, described
from .glyphs import Port, joined
from .text import plain


def graph(diagram: Diagram, names: Sequence[str], title: str) -> str:
    """Return the DOT graph of a diagram, with its nodes in the diagram's order; inputs and outputs of the arrow are
    nodes too.
    """
    lines = [f"digraph {_quoted(title or 'arrow')} {{", "rankdir=LR;", "node [shape=box];"]
    for wire, name in diagram.entering.items():
        lines.append(f"i{wire} [shape=plaintext,label={_quoted(name)}];")
    for number, box in enumerate(diagram.boxes):
        if box.edges:
            said = [box.title, ", ".join(box.lines), ", ".join(box.places)]
            lines.append(f"b{number} [label={_quoted(chr(10).join(filter(None, said)))}];")
            lines += [
                f"{f'b{diagram.written[wire]}' if wire in diagram.written else f'i{wire}'} -> b{number} "
                f"[label={_quoted(_type(diagram, wire))}];"
                for wire in box.sources
            ]
    for wire, outputs in diagram.leaving.items():
        for place, name in enumerate(outputs):
            lines.append(f"o{wire}_{place} [shape=plaintext,label={_quoted(name)}];")
            writer = f"b{diagram.written[wire]}" if wire in diagram.written else f"i{wire}"
            lines.append(f"{writer} -> o{wire}_{place} [label={_quoted(_type(diagram, wire))}];")
    return "\n".join([*lines, "}", ""])


def _type(diagram: Diagram, wire: int) -> str:
    type = diagram.types[wire]
    shape = joined(Port(wire, (), tuple(map(str, type.shape)))) or "1"
    return f"{shape} {described(type)}"


def _quoted(text: str) -> str:
    escaped = "\n".join(map(plain, text.split("\n"))).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
