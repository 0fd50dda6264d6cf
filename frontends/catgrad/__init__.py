"""Models, optimisers and losses written in catgrad 0.2.2, imported as arrows and programs, and arrows exported to
catgrad.
"""

from .diagrams import arrow, forward
from .drawing import diagram
from .hypergraphs import arrow_of, hypergraph
from .operations import register
from .programs import network, predict, program_of, step

__all__ = [
    "arrow",
    "arrow_of",
    "diagram",
    "forward",
    "hypergraph",
    "network",
    "predict",
    "program_of",
    "register",
    "step",
]
