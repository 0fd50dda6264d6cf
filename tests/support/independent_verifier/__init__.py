"""A second verifier of tensor proofs, its field arithmetic in galois, that shares no code with the native one."""

from .verifier import refusal

__all__ = ["refusal"]
