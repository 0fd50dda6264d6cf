"""Under-constraint analysis: whether the inputs of a constraint system leave any other wire a choice."""
