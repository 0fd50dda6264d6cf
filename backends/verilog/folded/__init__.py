"""The folded scheduler: it lays a program out as loop nests on a few lanes, with memories for the tensors
between them.
"""

from .cutting import RULES
from .schedule import schedule, table

__all__ = ["RULES", "schedule", "table"]
