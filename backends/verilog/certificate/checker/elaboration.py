"""What is known when a Verilog design is elaborated: the scopes of its expressions, and the values of constant
expressions.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass

from .refusal import Refused
from .syntax import Binary, Expression, Module, Name, Number


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of an expression: the module, the names of its nets in the circuit, and the values of its parameters
    and loop variables.
    """

    module: Module
    path: str
    names: MutableMapping[str, str]
    numbers: dict[str, int]


def compares(*operands: Expression) -> bool:
    """Return whether any of the operands is a comparison, whose result is one bit without a sign."""
    return any(isinstance(part, Binary) and part.operator in ("<", ">", "==", "!=") for part in operands)


def number(expression: Expression, scope: Scope) -> int:
    """Return the value of an expression that is constant when the design is elaborated: operands and results are
    integers without widths, of 32 bits.
    """
    found = _number(expression, scope)
    if not -1 << 31 <= found < 1 << 31:
        raise Refused(f"{scope.module.name}: {found} is no number of 32 bits")
    return found


def _number(expression: Expression, scope: Scope) -> int:
    if isinstance(expression, Number) and expression.width is None:
        return expression.value
    if isinstance(expression, Name) and expression.name in scope.numbers:
        return scope.numbers[expression.name]
    if isinstance(expression, Binary):
        left, right = number(expression.left, scope), number(expression.right, scope)
        operator = expression.operator
        if operator in ("+", "-", "*") and not compares(expression.left, expression.right):
            return left + right if operator == "+" else left - right if operator == "-" else left * right
        if operator == "/" and left >= 0 and right > 0 and not compares(expression.left, expression.right):
            return left // right
        if operator in ("<", ">", "==", "!=") and not compares(expression.left, expression.right):
            return int({"<": left < right, ">": left > right, "==": left == right, "!=": left != right}[operator])
    raise Refused(f"{scope.module.name}: expected a number known beforehand, found another expression")
