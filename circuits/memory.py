"""The memory of this machine, and checks that refuse work that cannot fit into it."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import CircuitizeError
from .integers import Shift
from .program import IntegerProgram

BYTES_PER_FILE_BYTE = 4.5
"""Bytes of memory for each byte of a .r1cs file that is checked or audited; measured as 4.2 including the file itself.
"""

SMALLER = "prove a smaller batch or model, with --prover tensor (no keys, not zero-knowledge), or on a larger machine"


def amount_of_bytes(count: int) -> str:
    """Return a size in bytes as text, in the largest decimal unit that keeps the number at least one."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def physical_bytes() -> int:
    """Return the memory of the machine in bytes, 0 if the system does not tell it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 0


def resident_bytes(table: Path = Path("/proc/self/statm")) -> int:
    """Return the memory of this process in bytes, 0 if the system does not tell it."""
    try:
        return int(table.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def swap_bytes(table: Path = Path("/proc/meminfo")) -> int:
    """Return how many bytes Linux may still move to swap, 0 if the system does not tell it."""
    try:
        lines = table.read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("SwapTotal:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return 0


def require_circuit_memory(program: IntegerProgram, bytes_per_bit: int, bytes_per_element: int) -> None:
    """Raise CircuitizeError if keys and proofs of a program surely need more memory than the machine has.

    The estimate of a proof's memory is made before a circuit is emitted, in time linear in the operations: most rows,
    lookups and cells belong to inputs and to rounding, so only these are counted.
    """
    arrow = program.arrow
    checked = [port.format for port in program.inputs]
    for operation, sources, _, _ in arrow.rows:
        if isinstance(arrow.operations[operation], Shift):
            checked.append(arrow.format(sources[0]))
    elements = sum(type.size for type in checked)
    bits = sum(type.size * type.width for type in checked)
    needed = bits * bytes_per_bit + elements * bytes_per_element
    require_memory(needed, SMALLER)


def require_file_memory(path: Path) -> None:
    """Raise CircuitizeError if reading a .r1cs file surely needs more memory than the machine has."""
    size = path.stat().st_size if path.is_file() else 0
    require_memory(BYTES_PER_FILE_BYTE * size, "read it on a larger machine", "circuit")


def require_memory(needed: float, remedy: str, what: str = "proof") -> None:
    """Raise CircuitizeError if the machine has less memory than a prediction says is needed, as far as the system
    tells.
    """
    physical = physical_bytes()
    if not physical or needed <= physical:
        return
    found = physical + swap_bytes()
    if needed > found:
        raise CircuitizeError(
            f"expected a machine with about {amount_of_bytes(int(needed))} of memory for this {what}, found one with "
            f"{amount_of_bytes(found)}; {remedy}"
        )
