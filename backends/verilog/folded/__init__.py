"""The folded scheduler: loop nests on a few lanes, tensors in memories between them."""

from .schedule import schedule

__all__ = ["schedule"]
