"""Proofs that are the inputs: whoever verifies runs the program again."""
