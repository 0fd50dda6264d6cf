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
    """Registers the rule of some operations."""

    def registered(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return registered
