"""Training without proofs: steps in integers, in float64 or both, interrupted and resumed, for a run to prove later."""
