"""What a program moves between memories, read for caches, for hardware and for provers."""
