"""The folded scheduler: loop nests on a few lanes, tensors in memories between them."""

from .graph import RULES
from .schedule import schedule, table

__all__ = ["RULES", "schedule", "table"]
