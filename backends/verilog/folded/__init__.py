"""The folded scheduler: loop nests on a few lanes, tensors in memories between them."""

from .schedule import schedule, table

__all__ = ["schedule", "table"]
