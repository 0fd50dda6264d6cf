"""What a program moves between memories: arrays cut into tiles, with words counted from the axes of the arrow."""
