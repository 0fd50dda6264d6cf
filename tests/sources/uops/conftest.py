"""Both packages compute in Python here: no compiler is needed. Tensor proofs are judged by both verifiers.

tinygrad does not optimise its kernels, which takes it longer than to run them.
"""

import os

from tiers import pytest_collection_modifyitems
from two_verifiers import judged_by_both

os.environ |= {"DEV": "PYTHON", "POLY_DEV": "INTERP", "NOOPT": "1"}

__all__ = ["judged_by_both", "pytest_collection_modifyitems"]
