"""A network for a chip: number formats and reuse of multipliers by layer, predictions and traces that equal the
design's bits, and the design's sizes.
"""
