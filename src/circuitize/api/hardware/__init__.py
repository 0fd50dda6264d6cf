"""A network for a chip: formats and reuse by layer, predictions and traces that equal the design's bits, its sizes."""
