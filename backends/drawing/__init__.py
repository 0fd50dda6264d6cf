"""Draws arrows as neural circuit diagrams: axes as strands, contractions as cups, an SVG without scripts; or as DOT."""
