"""The requirement that a folded design's status is 1 for each frame in which a check of the statement fails or an input
beat is wrong, and 0 for all other frames.
"""

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
    """Raise Refused unless the status is the OR of the failures of the statement's checks and of the functions in
    `wrong`, which are 1 for wrong input beats.

    What is known of a value after a check holds only if the check passes. So the bit that reports the failure of a
    check may rely only on earlier checks: in a frame with failures, at least the first failure is reported. Each
    function of one OR must equal a function of the other OR, or imply the OR of all functions of the other OR that
    depend on a bit of that function.
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
    """An index of functions of bits, which finds a function by itself or by the bits on which the function depends."""

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
        """Return whether a function implies the OR of the functions in the index that rely on at most `most` checks, or
        of all functions in the index if `most` is None.
        """

        def usable(one: int) -> bool:
            return most is None or self.least[one] <= most

        if function in self.least and usable(function):
            return True
        near = {one for variable in self.bits.variables(function) for one in self.of.get(variable, ())}
        made = 1 if 1 in self.least and usable(1) else 0
        for one in sorted(filter(usable, near), key=lambda one: -self.bits.nodes[one][0]):
            made = self.bits.either(one, made)
        return self.bits.choose(function, made, 1) == 1
