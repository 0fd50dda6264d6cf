"""The audit of a constraint system for missing constraints: whether the inputs of the system leave any other wire
undetermined.
"""

from __future__ import annotations

from .mutation import Ambiguity
from .removal import Removal, Removals
from .report import Audit, Place, audit, locate

__all__ = ["Ambiguity", "Audit", "Place", "Removal", "Removals", "audit", "locate"]
