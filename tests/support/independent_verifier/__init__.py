"""A second verifier of tensor proofs, its field arithmetic its own, that shares no code with the native one."""

from .compiled_once import compiled_once

with compiled_once():
    from .verifier import refusal

__all__ = ["refusal"]
