"""The table of rules by which UOps are translated, by the UOps' names, in which other modules register rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from .graph import Node
from .known import Known
from .products import Product
from .walks import Walk

if TYPE_CHECKING:
    from .translate import Translation

Value = Known | Product | Walk
Made = Value | None
Rule: TypeAlias = "Callable[[Translation, Node], Made]"
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a translation rule for UOps with the given names."""

    def registered(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return registered


WITHOUT: dict[str, str] = {
    "BUFFER": "Translate the UOp to an input or a parameter, by its name, or to a constant if it has no name.",
    "CONST": "Compute the UOp when the graph is read, as all that depends on known elements alone: ranges, masks.",
    "RESHAPE, EXPAND, PERMUTE": "Translate the UOps to Reshape, Broadcast or Transpose, if the next UOp needs them.",
    "SHRINK, PAD, FLIP": "Translate the UOps to Slice, Pad or Flip, or those of a convolution or pooling to Window.",
    "STORE, AFTER": "Translate the UOp to the new value of the tensor that is assigned: an output by its name.",
    "DETACH, CONTIGUOUS, CONTIGUOUS_BACKWARD, COPY, NOOP": "Translate the UOps to nothing.",
}
"""Operations that are read without a rule of their own, and what they become."""


def table() -> str:
    """Return the table of UOps that are understood, for the documentation, where UOps with the same rule are in one
    row.
    """
    rows: dict[str, list[str]] = {}
    for name, function in RULES.items():
        rows.setdefault((function.__doc__ or "").strip(), []).append(name)
    made = {", ".join(names): meaning for meaning, names in rows.items()} | WITHOUT
    lines = [f"| {names} | {meaning} |" for names, meaning in sorted(made.items())]
    return "\n".join(["| UOp | here |", "|---|---|", *lines])
