"""Models, optimisers and losses written in catgrad 0.2.2, taken in as arrows and programs."""

from .diagrams import arrow, forward
from .operations import register
from .programs import network, predict, program_of, step

__all__ = ["arrow", "forward", "network", "predict", "program_of", "register", "step"]
