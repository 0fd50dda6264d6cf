"""Reports: pages that describe a program, its costs, and the proofs of it."""
