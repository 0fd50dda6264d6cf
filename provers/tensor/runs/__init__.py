"""Training runs: consecutive steps that are proved one by one, each joined to the next by the roots of the values that
it keeps.
"""
