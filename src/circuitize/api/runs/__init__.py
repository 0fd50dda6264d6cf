"""Runs of training steps: consecutive steps proved one by one, and verified as a whole."""
