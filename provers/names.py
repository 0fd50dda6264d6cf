"""The names of the provers; each is a folder here, with a descriptor."""

KEYED = ("groth16", "mirage", "halo2")
"""Provers with a setup: the verifier's key decides."""

KEYLESS = ("tensor",)
"""Provers that need no setup: the verifier holds the program."""
