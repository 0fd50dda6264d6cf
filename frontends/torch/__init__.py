"""Modules of torch, imported from archives of torch.export, or directly if torch is installed."""

from .graph import arrow, rules
from .network import from_torch, network

__all__ = ["arrow", "from_torch", "network", "rules"]
