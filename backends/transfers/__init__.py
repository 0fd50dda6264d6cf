"""What a program moves between memories: arrays cut into tiles, their words counted from the axes of the arrow."""
