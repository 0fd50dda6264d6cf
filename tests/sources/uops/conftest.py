"""Both packages compute in Python here: no compiler is needed. In `make deep` both verifiers judge tensor proofs.

tinygrad does not optimise its kernels, which takes it longer than to run them, and compiles them in this process.
"""

import os

import tiers
from tiers import pytest_collection_modifyitems

if tiers.TIER == "deep":
    from two_verifiers import judged_by_both as judged_by_both

os.environ |= {"DEV": "PYTHON", "POLY_DEV": "INTERP", "NOOPT": "1", "PARALLEL": "0"}

__all__ = ["pytest_collection_modifyitems"]
