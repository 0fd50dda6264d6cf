"""How many words a program moves between memories: arrays cut into tiles, and words counted from the axes of the
arrow.
"""
