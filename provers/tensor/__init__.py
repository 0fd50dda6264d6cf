"""The tensor prover: succinct proofs by sumchecks, with no setup; NOT zero-knowledge."""
