"""The tier's tests, in JAX's quicker way to compile: it takes longer to optimise than to run what is tested here."""

import os

from long_lived import pytest_collection_finish
from tiers import pytest_collection_modifyitems

os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "true")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("KERAS_BACKEND", "jax")

__all__ = ["pytest_collection_finish", "pytest_collection_modifyitems"]
