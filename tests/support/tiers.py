"""The three tiers of tests: which tests each runs, how many cases of a test, and how many random ones.

`quick` leaves out files and tests that simulate hardware or prove, and runs one case of each class of the others.
`test`, the default, is what continuous integration runs. `deep` adds the tests marked so, and thousands of cases.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from fnmatch import fnmatch
from typing import Any, TypeVar

import pytest

TIERS = ("quick", "test", "deep")
TIER = os.environ.get("TIER", "test")
if TIER not in TIERS:
    raise pytest.UsageError(f"expected TIER to be one of {', '.join(TIERS)}, found {TIER!r}")

LEFT_OUT = {
    "quick": {"rtl", "proof", "slow", "deep", "interop", "browser"},
    "test": {"deep"},
    "deep": set(),
}[TIER]
"""Markers of the tests that this tier leaves out."""

FILES = {
    "rtl": ("backends/verilog/*", "cli/test_cli_commands.py"),
    "proof": (
        *("attacks/*", "interop/*", "sources/*", "frontends/test_sources.py", "provers/test_prover_files.py"),
        *("provers/groth16/test_groth16.py", "provers/mirage/*", "provers/halo2/*", "provers/tensor/*"),
        *("api/test_api.py", "regressions/test_groth16_*", "regressions/test_verify_*"),
        *("cli/test_cli_demo.py", "cli/test_cli_halo2.py", "cli/test_cli_hostile.py", "cli/test_cli_mirage.py"),
        "cli/test_cli_prove*.py",
    ),
}
"""Whole files of a kind, by their path in tests/: `quick` does not even read them."""


def count(test: int, deep: int) -> int:
    """How many random cases a test tries: `test` of them, or `deep` in that tier."""
    return deep if TIER == "deep" else test


def seeds(test: int, deep: int) -> range:
    """The seeds of a test's random cases."""
    return range(count(test, deep))


def examples(count: int, deep: int = 0) -> int:
    """How many examples hypothesis tries where `make test` tries `count`: a fifth in `quick`, and `deep` or fifty times
    as many in `deep`.
    """
    return {"quick": max(2, count // 5), "test": count, "deep": deep or 50 * count}[TIER]


Cases = TypeVar("Cases", bound=Any)


def of_each(cases: Iterable[Cases], first: bool = False) -> list[Cases]:
    """The last case of each operation, or the first, in the order of cases; in `deep` all of them."""
    given = list(cases)
    if TIER == "deep":
        return given
    chosen = {type(case.operation): case for case in (reversed(given) if first else given)}
    return [case for case in given if chosen[type(case.operation)] is case]


def read(path: str) -> bool:
    """Whether this tier reads a file, given its path in tests/."""
    return not any(kind in LEFT_OUT and is_dear(path, kind) for kind in FILES)


def is_dear(path: str, *kinds: str) -> bool:
    """Whether a file is one of those kinds, of whole files, or of any."""
    return any(fnmatch(path, pattern) for kind in kinds or FILES for pattern in FILES[kind])


def select(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The tests that this tier runs, and the others."""
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    seen: set[Hashable] = set()
    for item in items:
        marked = any(item.get_closest_marker(name) for name in LEFT_OUT)
        again = TIER == "quick" and case_class(item) in seen
        (left if marked or again else kept).append(item)
        if not marked:
            seen.add(case_class(item))
    return kept, left


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For the conftest of tests in an environment of their own: the tier's tests."""
    items[:], left = select(items)
    config.hook.pytest_deselected(items=left)


def case_class(item: pytest.Item) -> Hashable:
    """Cases of one test whose parameters have the same types, and apply the same operation, are of one class."""
    given = getattr(item, "callspec", None)
    values = given.params.items() if given else ()
    return (item.nodeid.split("[")[0], *((name, kind(value)) for name, value in values))


def kind(value: object) -> Hashable:
    """The operation that a case applies, or the function it is of; of anything else the type."""
    operation = getattr(value, "operation", None) or getattr(value, "of", None)
    name = getattr(operation, "name", None) or getattr(operation, "__name__", None)
    return name or type(value).__name__
