"""Integers in a field, for rank-one constraint systems: each gadget has a paragraph on soundness."""
