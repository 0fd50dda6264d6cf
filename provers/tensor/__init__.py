"""The tensor prover: succinct proofs by sumchecks, without a setup, in zero knowledge, or faster without zero
knowledge.
"""
