"""A second verifier of tensor proofs, its field arithmetic its own, that shares no code with the native one."""

from .verifier import refusal

__all__ = ["refusal"]
