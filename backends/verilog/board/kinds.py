"""Boards that there are files for, and what of them may be chosen."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.errors import CircuitizeError

BOARDS = ("ulx3s-85f",)
"""Boards that there are files for."""

CRYSTAL = 25
"""MHz of the board's own clock."""

BAUD = 1_000_000
"""Bits a second on the serial line: a divisor of every clock."""

SLOWEST, FASTEST, DEFAULT = 10, 200, 50
"""MHz of the design's clock."""


@dataclass(frozen=True)
class Board:
    """A board, and the MHz of the design's clock on it."""

    name: str
    mhz: int = DEFAULT

    def __post_init__(self) -> None:
        if self.name not in BOARDS:
            raise CircuitizeError(f"--board: expected {' or '.join(BOARDS)}, found {self.name!r}; choose one")
        if not SLOWEST <= self.mhz <= FASTEST or self.mhz % 5:
            raise CircuitizeError(
                f"--mhz: expected a multiple of 5 from {SLOWEST} to {FASTEST}, found {self.mhz}; "
                f"the board's clock has {CRYSTAL}, its loop no others"
            )

    @property
    def clocks(self) -> int:
        """Of the design's clock, those of a bit on the serial line."""
        return self.mhz * 1_000_000 // BAUD
