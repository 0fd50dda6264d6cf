"""In `make deep` both verifiers judge the tensor proofs of catgrad's models, too."""

import tiers
from long_lived import pytest_collection_finish
from tiers import pytest_collection_modifyitems

if tiers.TIER == "deep":
    from two_verifiers import judged_by_both as judged_by_both

__all__ = ["pytest_collection_finish", "pytest_collection_modifyitems"]
