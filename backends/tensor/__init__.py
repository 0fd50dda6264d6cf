"""Tensor systems: the statements about an integer program's tensors that sumcheck proofs show."""
