"""Modules of torch: archives of torch.export, and modules themselves if torch is installed."""

from .graph import arrow, rules
from .network import from_torch, network

__all__ = ["arrow", "from_torch", "network", "rules"]
