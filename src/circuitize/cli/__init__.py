"""The command line of the package: `circuitize COMMAND ...`, with one file for each command."""

from .entry import main

__all__ = ["main"]
