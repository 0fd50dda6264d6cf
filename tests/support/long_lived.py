"""For conftests: what there is once tests are collected stays, and the collector of garbage leaves it alone."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the collector of garbage need not look at them again and again."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
