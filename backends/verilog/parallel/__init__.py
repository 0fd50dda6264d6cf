"""The parallel scheduler, which unrolls a program completely into a pipeline that takes a frame in every cycle."""

from .operations import RULES
from .schedule import schedule

__all__ = ["RULES", "schedule"]
