"""Both packages compute in Python here: no compiler is needed. Tensor proofs are judged by both verifiers."""

import os

import pytest
from two_verifiers import judged_by_both

os.environ |= {"DEV": "PYTHON", "POLY_DEV": "INTERP"}

__all__ = ["judged_by_both"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deep tests run in the deep tier only."""
    deep = [item for item in items if item.get_closest_marker("deep")]
    if os.environ.get("TIER") != "deep":
        config.hook.pytest_deselected(items=deep)
        items[:] = [item for item in items if item not in deep]
