"""From a program to circuits, proofs, verdicts and runs: what `import circuitize` offers above the languages."""
