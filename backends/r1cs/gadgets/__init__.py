"""Integers in a field, for rank-one constraint systems: each gadget with its paragraph on soundness."""
