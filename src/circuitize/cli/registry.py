"""The provers that the command line knows."""

from __future__ import annotations

from types import MappingProxyType

from circuitize.provers.names import KEYED

PROVERS = MappingProxyType({name: f"circuitize.provers.{name}" for name in KEYED})
