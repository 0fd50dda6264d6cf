"""Tensor proofs of catgrad's models, too, are judged by both verifiers."""

from tiers import pytest_collection_modifyitems
from two_verifiers import judged_by_both

__all__ = ["judged_by_both", "pytest_collection_modifyitems"]
