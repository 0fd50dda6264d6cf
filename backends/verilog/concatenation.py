"""Concatenations of many elements in Verilog, written so that simulators compute them in time."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 256
"""The most elements of one concatenation.

Icarus Verilog computes the concatenation of a net anew for each element that changes. An `always` block computes it
once for all changes of a moment, but for each signal that the block reads, the compiler searches the module's signals.
"""


def pieces(count: int) -> list[slice]:
    """Return the slices of so many elements that have at most LONGEST elements each."""
    return [slice(start, min(start + LONGEST, count)) for start in range(0, count, LONGEST)]


def concatenation(assigned: str, elements: Sequence[str], indent: str) -> list[str]:
    """Return the Verilog that assigns the concatenation of expressions, the first one in the lowest bits, to a target
    such as `assign data`.
    """
    listed = ",\n".join(f"{indent * 2}{element}" for element in reversed(elements))
    return [f"{indent}{assigned} = {{", listed, f"{indent}}};"]


def computed_once(name: str, elements: Sequence[str], bits: int, indent: str) -> list[str]:
    """Return the Verilog that declares a concatenation of so many bits, and computes it by a block, which runs once for
    all changes of a moment: never, if all elements are known numbers.
    """
    body = [f"{indent}{line}" for line in concatenation(name, elements, indent)]
    return [f"{indent}reg [{bits - 1}:0] {name};", f"{indent}always @* begin", *body, f"{indent}end"]
