"""Tensor proofs of catgrad's models, too, are judged by both verifiers."""

from two_verifiers import judged_by_both

__all__ = ["judged_by_both"]
