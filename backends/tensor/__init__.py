"""Tensor systems: what sumcheck proofs say of an integer program's tensors."""
