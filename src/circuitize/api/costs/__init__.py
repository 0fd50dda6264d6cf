"""The words that a program moves between memories, converted to costs for caches, for hardware and for provers."""
