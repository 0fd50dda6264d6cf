"""Tests of many tiny cases as one test, which names every case that fails: a report of each would take longer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable
from functools import wraps
from typing import Any

import pytest
import tiers


def every_case(cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a test's first parameter, or as many as a tuple has, each of the cases; `quick` runs one of each class.

    What other parameters name are fixtures, which all cases share.
    """
    given = [case if type(case) is tuple else (case,) for case in cases]
    assert given, "expected cases, found none"
    if tiers.TIER == "quick":
        given = list({classes(case): case for case in reversed(given)}.values())[::-1]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def whole(**fixtures: Any) -> None:
            failed: list[tuple[str, BaseException]] = []
            for case in given:
                try:
                    test(*case, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    failed.append((", ".join(map(str, case)), error))
            if failed:
                told = "\n".join(f"{name}: {type(error).__name__}: {error}" for name, error in failed)
                raise AssertionError(f"{len(failed)} of {len(given)} cases fail\n{told}") from failed[0][1]

        parameters = list(inspect.signature(test).parameters.values())[len(given[0]) :]
        whole.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return whole

    return decorate


def classes(case: tuple[Any, ...]) -> Hashable:
    return tuple(tiers.kind(value) for value in case)
