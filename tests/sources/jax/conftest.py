"""The tier's tests, in JAX's quicker way to compile: it takes longer to optimise than to run what is tested here."""

from __future__ import annotations

import os

import pytest
import tiers

os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "true")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("KERAS_BACKEND", "jax")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items[:], left = tiers.select(items)
    config.hook.pytest_deselected(items=left)
