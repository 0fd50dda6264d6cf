"""What the command line says of tensor proofs, two verifiers say."""

from two_verifiers import judged_by_both

__all__ = ["judged_by_both"]
