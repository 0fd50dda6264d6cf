"""The streams of a command: results on standard output, remarks and progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

from circuitize.circuits import phases
from circuitize.circuits.reading import Json

from .screen import Screen, one_line, visible

CLEAR = "\r\x1b[K"


def say(text: str = "") -> None:
    """Print one line on standard output; unprintable characters are shown as escapes."""
    print(visible(text))


def remark(message: str) -> None:
    """Print a remark of one line on standard error, with unprintable characters as escapes; the command continues."""
    print("circuitize:", one_line(message), file=sys.stderr)


def print_json(content: Json) -> None:
    """Print the JSON object that --json asks for, in ASCII."""
    print(json.dumps(content, ensure_ascii=True))


def print_table(rows: Sequence[tuple[str, object]], indent: str = "  ") -> None:
    """Print a table with names in a left column and values in a right column; whole numbers get thousands
    separators.
    """
    width = max((len(visible(name)) for name, _ in rows), default=0)
    for name, value in rows:
        say(f"{indent}{visible(name):<{width}}  {f'{value:,}' if isinstance(value, int) else value}".rstrip())


def print_shown(shown: Iterable[str | Sequence[tuple[str, object]]]) -> None:
    """Print lines of text, and tables of names and values."""
    for part in shown:
        say(part) if isinstance(part, str) else print_table(part)


def show(stage: str) -> None:
    """Replace the stage of work that standard error shows, if standard error is a terminal; an empty stage clears the
    line.
    """
    stream = sys.stderr.stream if isinstance(sys.stderr, Screen) else sys.stderr
    if stream.isatty():
        print(f"{CLEAR}{visible(stage)}" + " ..." * bool(stage), end="", file=stream, flush=True)


def progress(stage: str) -> AbstractContextManager[None]:
    """Show a stage of work on standard error while the block runs."""
    return phases.under_way(show, stage)


class Phases(phases.Phases):
    """The phases of a command, shown as progress while they run."""

    def __init__(self) -> None:
        super().__init__(show)


def shown_number(value: object) -> str:
    """Return a number as text, or, for an array, the first few numbers in row-major order."""
    if not isinstance(value, list):
        return f"{value:.9g}"
    leaves: list[object] = [value]
    while leaves and isinstance(leaves[0], list):
        leaves = [entry for group in leaves if isinstance(group, list) for entry in group]
    shown = ", ".join(f"{leaf:.6g}" for leaf in leaves[:6])
    return f"[{shown}]" if len(leaves) <= 6 else f"[{shown}, ...] ({len(leaves)} values)"
