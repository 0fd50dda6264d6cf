"""The gadgets of rank-one constraint systems: each gadget states a fact about integers by rows over a field, with a
paragraph on its soundness.
"""
