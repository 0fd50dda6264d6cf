"""Concatenations of many elements in Verilog."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 256
"""The most elements of one concatenation that a simulator may compute anew for each element that changes."""


def concatenated(
    target: str, elements: Sequence[str], bits: Sequence[int], part: str, spare: int = 0, indent: str = "  "
) -> list[str]:
    """Return the Verilog that drives the wire `target` with expressions, each of its number of bits, the first one in
    the lowest bits, and with `spare` zeros above them.

    A simulator may compute the value of a net whenever one operand changes: Icarus Verilog takes time with the square
    of the elements of a concatenation. An `always` block runs once for all changes of a moment. So more than LONGEST
    elements are first joined in parts, each by a block of its own; the names of the parts begin with `part`.
    """
    zeros = [f"{spare}'d0"] if spare else []
    if len(elements) <= LONGEST:
        return _joined(f"assign {target}", [*elements, *zeros], indent, 1)
    lines, names = [], []
    for start in range(0, len(elements), LONGEST):
        some = elements[start : start + LONGEST]
        name = f"{part}{start // LONGEST}"
        declared = f"[{sum(bits[start : start + LONGEST]) - 1}:0] {name};"
        if all(element[0].isdigit() for element in some):  # Nothing changes, so that no block would run.
            lines += [f"{indent}wire {declared}", *_joined(f"assign {name}", some, indent, 1)]
        else:
            lines += [f"{indent}reg {declared}", f"{indent}always @* begin"]
            lines += [*_joined(name, some, indent, 2), f"{indent}end"]
        names.append(name)
    return [*lines, *_joined(f"assign {target}", [*names, *zeros], indent, 1)]


def _joined(assigned: str, elements: Sequence[str], indent: str, depth: int) -> list[str]:
    listed = ",\n".join(f"{indent * (depth + 1)}{element}" for element in reversed(elements))
    return [f"{indent * depth}{assigned} = {{", listed, f"{indent * depth}}};"]
