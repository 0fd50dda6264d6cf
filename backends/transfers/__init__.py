"""The number of words that a program moves between memories: arrays are cut into tiles, and words are counted from the
axes of the arrow.
"""
