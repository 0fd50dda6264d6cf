"""Every real operation with its cases, for the tests that walk over the language."""

from __future__ import annotations

from functools import cache

from operations.real import Case, Described
from operations.reals import arithmetic, composites, curves, layout, piecewise

from circuitize.circuits import arrays
from circuitize.circuits.operation import Operation


def language() -> list[type[arrays.RealOperation]]:
    """Every class of the real language, from the registry."""
    return [
        kind
        for kind in Operation.registry.values()
        if issubclass(kind, arrays.RealOperation) and kind.__module__.startswith(arrays.__name__)
    ]


@cache
def described() -> dict[type[arrays.RealOperation], Described]:
    """Every class of the real language, with its cases."""
    every = (*arithmetic.CASES, *layout.CASES, *piecewise.CASES, *curves.CASES, *composites.CASES)
    found = [(type(each.cases[0].operation), each) for each in every]
    assert len(dict(found)) == len(found), "write the cases of a class in one place"
    return dict(found)


def cases() -> list[Case]:
    """At least one case of every class of the real language."""
    return [case for each in described().values() for case in each.cases]
