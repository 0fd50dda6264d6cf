"""Tensor proofs of catgrad's models, too, are judged by both verifiers."""

from tensor.conftest import judged_by_both

__all__ = ["judged_by_both"]
