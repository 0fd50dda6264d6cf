"""What the verifier does with numbers that the prover sent: sums of multiples, products of two, and checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from .arithmetic import Elements, Field, Numbers, dot, interpolation, multiply, same, scale, stack, total, zero
from .transcript import Refused, Transcript

Value = Any
"""An element, or a form in numbers that are not known."""


class Checks(Protocol):
    transcript: Transcript

    def receive(self, label: str, count: int) -> Sequence[Value]:
        """The numbers of one message."""

    def constant(self, element: Elements) -> Value:
        """What the verifier knows."""

    def sum(self, values: Sequence[Value], factors: Elements | Numbers) -> Value:
        """The sum of values times factors, which are all of the base field or all of the extension."""

    def product(self, x: Value, y: Value) -> Value: ...

    def zero(self, value: Value, reason: str) -> None:
        """Refuses for this reason what is not zero."""

    def not_zero(self, value: Value, reason: str) -> None: ...


class Clear:
    """Numbers as they were sent, each checked at once."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript

    def receive(self, label: str, count: int) -> Sequence[Value]:
        found: Sequence[Value] = self.transcript.elements(label, count)
        return found

    def constant(self, element: Elements) -> Value:
        return element

    def sum(self, values: Sequence[Value], factors: Elements | Numbers) -> Value:
        stacked = stack(values)
        return total(scale(stacked, factors)) if factors.ndim == 1 else dot(stacked, factors)

    def product(self, x: Value, y: Value) -> Value:
        return multiply(x, y)

    def zero(self, value: Value, reason: str) -> None:
        if value.any():
            raise Refused(reason)

    def not_zero(self, value: Value, reason: str) -> None:
        if same(value, zero(self.transcript.degree)):
            raise Refused(reason)


def sumcheck(checks: Checks, label: str, degree: int, variables: int, claim: Value) -> tuple[Value, Elements]:
    """The claim that is left, and the point where it is about."""
    messages: list[Value] = []
    drawn: list[Elements] = []
    for _ in range(variables):
        messages.extend(checks.receive(label, degree))
        drawn.append(checks.transcript.challenge(label))
    if not drawn:
        return claim, Field.zeros((0, checks.transcript.degree))
    point = stack(drawn)
    weights, factor = interpolation(point, degree)
    return checks.sum([*messages, claim], np.concatenate([weights.reshape(-1, len(factor)), factor[None]])), point
