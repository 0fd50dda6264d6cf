"""The rules by which operations are read, by their names; other modules register theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .graph import Node
from .known import Known
from .products import Product
from .walks import Walk

Value = Known | Product | Walk
Made = Value | None
Rule = Callable[[Any, Node], Made]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for UOps with the given names."""

    def registered(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return registered


WITHOUT: dict[str, str] = {
    "BUFFER": "an input or a parameter, by its name; a constant where it has none",
    "CONST": "known; so is what follows from known elements alone: ranges, masks, shapes",
    "RESHAPE, EXPAND, PERMUTE": "Reshape, Broadcast, Transpose, where they are not taken up by what reads them",
    "SHRINK, PAD, FLIP": "Slice, Pad, Flip; the chain of movements of a convolution or pooling is Window",
    "STORE, AFTER": "the tensor that is assigned, renewed: an output by its name",
    "DETACH, CONTIGUOUS, CONTIGUOUS_BACKWARD, COPY, NOOP": "nothing",
}
"""Operations that are read without a rule of their own, and what they become."""


def table() -> str:
    """The table of operations that are understood, for the documentation, where operations of one rule are in one
    row.
    """
    rows: dict[str, list[str]] = {}
    for name, function in RULES.items():
        rows.setdefault((function.__doc__ or "").strip(), []).append(name)
    made = {", ".join(names): meaning for meaning, names in rows.items()} | WITHOUT
    lines = [f"| {names} | {meaning} |" for names, meaning in sorted(made.items())]
    return "\n".join(["| UOp | here |", "|---|---|", *lines])
