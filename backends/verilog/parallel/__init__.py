"""The parallel scheduler: a program fully unrolled into a pipeline that takes a frame a cycle."""

from .operations import RULES
from .schedule import schedule

__all__ = ["RULES", "schedule"]
