"""Both packages compute in Python here: no compiler is needed. Tensor proofs are judged by both verifiers."""

import os

from two_verifiers import judged_by_both

os.environ |= {"DEV": "PYTHON", "POLY_DEV": "INTERP"}

__all__ = ["judged_by_both"]
