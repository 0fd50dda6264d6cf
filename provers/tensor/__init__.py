"""The tensor prover: succinct proofs by sumchecks, with no setup, in zero knowledge, or faster without it."""
