"""Every integer operation with its cases, for the tests that walk over the language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from operations.integer import Case, Described
from operations.integers import arithmetic, choices, layout
from tiers import TIER

from circuitize.circuits import integers
from circuitize.circuits.integers import IntegerOperation


@cache
def described() -> dict[type[IntegerOperation], Described]:
    """Every class of the integer language, with its cases."""
    found = [(type(each.cases[0].operation), each) for each in (*arithmetic.CASES, *choices.CASES, *layout.CASES)]
    assert len(dict(found)) == len(found), "write the cases of a class in one place"
    return dict(found)


def cases() -> list[Case]:
    """At least one case of every class of the integer language."""
    return [case for each in described().values() for case in each.cases]


def by_operation(chosen: Iterable[Case]) -> dict[str, list[Case]]:
    """Cases by the name of their operation, so that those of one share what is dear."""
    found: dict[str, list[Case]] = {}
    for one in chosen:
        found.setdefault(one.operation.name.removeprefix("integer."), []).append(one)
    return found


def few() -> list[Case]:
    """All cases, but of contractions, views and sums every fourth; in the deep tier all of those too."""
    kept: list[Case] = []
    seen: Counter[type] = Counter()
    for one in cases():
        kind = type(one.operation)
        seen[kind] += 1
        if TIER == "deep" or kind not in (integers.Contract, integers.Reindex, integers.Sum) or seen[kind] % 4 == 0:
            kept.append(one)
    return kept
