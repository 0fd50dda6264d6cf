"""The audit of a constraint system for missing constraints: whether the inputs of a constraint system leave any other
wire a choice.
"""

from __future__ import annotations

from .mutation import Ambiguity
from .removal import Removal, Removals
from .report import Audit, Place, audit, locate

__all__ = ["Ambiguity", "Audit", "Place", "Removal", "Removals", "audit", "locate"]
