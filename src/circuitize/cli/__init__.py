"""The command line: `circuitize COMMAND ...`, one file per command."""

from .entry import main

__all__ = ["main"]
