"""Training without proofs: steps are run in integers, in float64 or in both, can be interrupted and resumed, and can be
proved later as a run.
"""
