"""Drawing arrows as neural circuit diagrams, with axes as strands and contractions as cups: as SVG without scripts, or
as DOT.
"""
