"""Many small cases in one test, where each takes less time than the report of a test: all are tried, failures named."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def each(
    names: str | Sequence[str], values: Iterable[Any], ids: Iterable[object] | Callable[[Any], object] | None = None
) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, but one test, whose cases share their fixtures. What fails is raised as a group."""
    given = [names] if isinstance(names, str) else [*names]
    cases = [(value,) if isinstance(names, str) else tuple(value) for value in values]
    if callable(ids):
        ids = [tuple(map(ids, case)) for case in cases]
    shown = [case[0] if isinstance(names, str) else case for case in cases]
    labels = [str(label)[:100] for label in (shown if ids is None else ids)]
    assert cases and len(labels) == len(cases)

    def made(test: Test) -> Test:
        @wraps(test)
        def tried(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            for label, case in zip(labels, cases, strict=True):
                try:
                    test(**fixtures, **dict(zip(given, case, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"case {label}")
                    failed.append(error)
            if failed:
                named = [note for error in failed for note in error.__notes__[-1:]]
                raise BaseExceptionGroup(f"{len(failed)} of {len(cases)}: {', '.join(named)}", failed)

        own = inspect.signature(test)
        others = [parameter for name, parameter in own.parameters.items() if name not in given]
        vars(tried)["__signature__"] = own.replace(parameters=others)
        return tried

    return made
