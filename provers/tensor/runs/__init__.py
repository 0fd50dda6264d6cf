"""Training runs: consecutive steps proved one by one, each joined to the next by the roots of what it keeps."""
