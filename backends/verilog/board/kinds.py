"""The boards for which there are files, and the choices that each of them allows."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.errors import CircuitizeError

BOARDS = ("ulx3s-85f",)
"""The names of the boards for which there are files."""

CRYSTAL = 25
"""The frequency of the board's own clock, in MHz."""

BAUD = 1_000_000
"""The rate of the serial line in bits a second, which divides every clock's frequency."""

SLOWEST, FASTEST, DEFAULT = 10, 200, 50
"""The frequencies, in MHz, that the design's clock may have."""


@dataclass(frozen=True)
class Board:
    """A board, and the frequency in MHz of the design's clock on it."""

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
        """Return how many cycles of the design's clock a bit on the serial line takes."""
        return self.mhz * 1_000_000 // BAUD
