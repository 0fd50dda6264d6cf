"""A second verifier of tensor proofs, in plain Python integers, that shares no code with the native one."""

from .verifier import refusal

__all__ = ["refusal"]
