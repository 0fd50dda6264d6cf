"""The Python API for programs: it makes circuits, proofs, verdicts and runs of them."""
