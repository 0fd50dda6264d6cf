"""The memory of this machine, and what is refused because it cannot fit there."""

from __future__ import annotations

import os
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError

from .output import amount_of_bytes


def physical_bytes() -> int:
    """Bytes of memory of the machine; 0 where it cannot be asked."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 0


def swap_bytes(table: Path = Path("/proc/meminfo")) -> int:
    """Bytes that Linux may move elsewhere; 0 where it cannot be asked."""
    try:
        lines = table.read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("SwapTotal:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return 0


def require_memory(needed: float, remedy: str) -> None:
    """Raises CircuitizeError where the machine, as far as it tells, has less memory than a prediction says."""
    physical = physical_bytes()
    found = physical + swap_bytes()
    if physical and needed > found:
        raise CircuitizeError(
            f"expected a machine with about {amount_of_bytes(int(needed))} of memory for this proof, found one with "
            f"{amount_of_bytes(found)}; {remedy}"
        )
