"""Expressions as the checker of certificates reads them: operators bind as IEEE 1364-2005, table 5-4, says."""

from __future__ import annotations

import numpy as np
import pytest
from tiers import count

from circuitize.backends.verilog.certificate import Refused
from circuitize.backends.verilog.certificate.checker.expressions import Expressions
from circuitize.backends.verilog.certificate.checker.syntax import Binary, Choice, Expression, Name, Unary

TIGHTER = {"*": 9, "/": 9, "+": 8, "-": 8, "<": 7, "<=": 7, ">": 7, ">=": 7, "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3}
"""The greater the number, the tighter an operator binds; a choice binds loosest, from right to left."""
CHOICE, UNARY = 1, 10
CASES = count(400, deep=20_000)


def drawn(random: np.random.Generator, depth: int) -> Expression:
    kind = int(random.integers(0, 8)) if depth else 0
    if kind == 0:
        return Name("abc"[random.integers(0, 3)])
    if kind == 1:
        return Unary("~-&|^"[random.integers(0, 5)], drawn(random, depth - 1))
    if kind == 2:
        return Choice(*(drawn(random, depth - 1) for _ in range(3)))
    return Binary([*TIGHTER][random.integers(0, len(TIGHTER))], drawn(random, depth - 1), drawn(random, depth - 1))


def written(value: Expression, least: int) -> str:
    """The expression with no more parentheses than it needs where operators that bind more loosely than `least` end."""
    match value:
        case Name(name):
            return name
        case Unary(operator, inner):
            return f"{operator} {written(inner, UNARY)}"
        case Choice(condition, yes, no):
            own = CHOICE
            text = f"{written(condition, CHOICE + 1)} ? {written(yes, CHOICE)} : {written(no, CHOICE)}"
        case Binary(operator, left, right):
            own = TIGHTER[operator]
            text = f"{written(left, own)} {operator} {written(right, own + 1)}"
        case _:
            raise AssertionError(value)
    return f"({text})" if own < least else text


def read(text: str) -> Expression:
    reader = Expressions(text, "a.v")
    found = reader.expression()
    assert reader.tokens[reader.at] == "", "the whole text is one expression"
    return found


def test_operators_bind_as_the_standard_says() -> None:
    random = np.random.default_rng(0)
    operators = set()
    for _ in range(CASES):
        expression = drawn(random, 5)
        text = written(expression, CHOICE)
        operators |= set(text.split())
        assert read(text) == expression, text
    assert operators >= {*TIGHTER, "?", "~"}


@pytest.mark.parametrize("text", ["a +", "* a", "a ? b", "(a", "a + ) b"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        read(text)
