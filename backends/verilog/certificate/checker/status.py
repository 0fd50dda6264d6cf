"""The status of a frame of a folded design: 1 where a check of the statement fails or a beat is wrong, 0 elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .forms import Form
from .refusal import Refused
from .word import Word
from .words import Words

Pair = tuple[int, int]
"""A function of bits, and a number of checks."""


def require_failures(
    words: Words, told: Word, failures: Sequence[tuple[Form, int]], wrong: Sequence[int], top: str
) -> None:
    """Raise Refused unless the status is the OR of the checks' failures and of what is wrong with beats.

    What is known of values after a check holds only if the check passes. So the bit that reports a failed check may
    rely only on the checks before it: in a frame with failures the first one is reported. Functions are compared one by
    one, and where that does not do, with those that share a bit with them.
    """
    symbols = words.symbols
    wanted = [(function, 0) for function in wrong if function]
    wanted += [(symbols.decided(form), number) for form, number in failures]
    found = words.functions(told) if not isinstance(told, int) else frozenset({(told, 0)})
    told_of, asked = Index(words, found), Index(words, wanted)
    for function, number in wanted:
        if not told_of.imply(function, number):
            raise Refused(f"{top}: status does not tell of a failure, or relies on a check to tell that it fails")
    for function, _ in found:
        if function and not asked.imply(function, None):
            raise Refused(f"{top}: status is 1 for other frames than those without a value")


class Index:
    """Functions, found by themselves or by the bits on which they depend."""

    def __init__(self, words: Words, pairs: Iterable[Pair]) -> None:
        self.bits = words.symbols.bits
        self.least: dict[int, int] = {}
        """The fewest checks on which a function relies."""
        for function, last in pairs:
            self.least[function] = min(last, self.least.get(function, last))
        self.of: dict[int, list[int]] = {}
        for function in self.least:
            for variable in self.bits.variables(function):
                self.of.setdefault(variable, []).append(function)

    def imply(self, function: int, most: int | None) -> bool:
        """Whether a function implies the OR of these functions, of those that rely on at most that many checks."""

        def usable(one: int) -> bool:
            return most is None or self.least[one] <= most

        if function in self.least and usable(function):
            return True
        near = {one for variable in self.bits.variables(function) for one in self.of.get(variable, ())}
        made = 1 if 1 in self.least and usable(1) else 0
        for one in sorted(filter(usable, near), key=lambda one: -self.bits.nodes[one][0]):
            made = self.bits.either(one, made)
        return self.bits.choose(function, made, 1) == 1
