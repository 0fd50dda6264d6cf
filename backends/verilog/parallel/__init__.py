"""The parallel scheduler: a program fully unrolled into a pipeline that takes a frame a cycle."""

from .schedule import schedule

__all__ = ["schedule"]
