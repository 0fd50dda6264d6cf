"""A reader of columns of numbers and names from a CSV file."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError

Reals = NDArray[np.float64]

UNKNOWN = ("", "nan", "inf", "-inf", "infinity", "-infinity")
"""Texts in the place of a number, in lower case: no class is named by one in a column of numbers."""


@dataclass(frozen=True)
class Table:
    """The rows of a CSV file: the text of every cell, [rows, columns], and the columns' names."""

    path: Path
    names: tuple[str, ...]
    cells: NDArray[np.str_]
    lines: tuple[int, ...]
    """The line of the file at which each row ends."""

    def column(self, name: str) -> int:
        """Return the place of a named column among the columns. Raise CircuitizeError if no column of the CSV file has
        that name.
        """
        if name not in self.names:
            shown = ", ".join(self.names)
            raise CircuitizeError(f"{self.path}: expected a column among {shown}, found {name!r}; name one of them")
        return self.names.index(name)

    def numbers(self, columns: list[int]) -> Reals:
        """Return the given columns of a CSV file as numbers, [rows, columns].

        Raise CircuitizeError, naming line and column, if a cell of the CSV file holds no finite number.
        """
        chosen = self.cells[:, columns]
        try:
            found = chosen.astype(np.float64)
        except ValueError:
            found = np.vectorize(_number, otypes=[np.float64])(chosen)
        if not np.isfinite(found).all():
            row, place = (int(at) for at in np.argwhere(~np.isfinite(found))[0])
            raise CircuitizeError(
                f"{self.path}:{self.lines[row]}: expected a number in column {self.names[columns[place]]!r}, "
                f"found {str(chosen[row, place])!r}; fill it in, leave the row out, or name the columns to read"
            )
        return np.asarray(found, np.float64)

    def answers(self, column: int, numbers: bool | None = None) -> NDArray[np.float64] | NDArray[np.str_]:
        """Return the column of a CSV file that is to be predicted: as numbers if every cell holds a number, else as the
        cells' texts.

        The argument `numbers` requires numbers if it is True and permits any texts if it is False; None requires
        numbers if a cell has a fraction, or if every text that is no number is empty, NaN or infinity. Raise
        CircuitizeError, naming line and column, for an empty cell, and for a cell that holds no finite number if
        numbers are required.
        """
        texts = self.cells[:, column]
        values = np.vectorize(_number, otypes=[np.float64])(texts)
        finite = np.isfinite(values)
        if numbers is None:
            fraction = bool((values[finite] != np.rint(values[finite])).any())
            numbers = fraction or all(finite | np.isin(np.char.lower(texts), UNKNOWN))
        wrong = ~finite if numbers else texts == ""
        if wrong.any():
            row = int(wrong.argmax())
            raise CircuitizeError(
                f"{self.path}:{self.lines[row]}: expected a {'number' if numbers else 'class'} in column "
                f"{self.names[column]!r}, found {str(texts[row])!r}; fill it in, or leave the row out"
            )
        return values if finite.all() else texts


def read_csv(path: Path) -> Table:
    """Return the table in a CSV file with or without a line of names; without one the columns are called 1, 2, ...

    Raise CircuitizeError if the CSV file cannot be read, is empty, or has rows of different lengths.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [(reader.line_num, row) for reader in [csv.reader(file)] for row in reader if row]
    except OSError as error:
        raise CircuitizeError(f"{path}: expected a CSV file, found {error.strerror or error}; check the path") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise CircuitizeError(f"{path}: expected a CSV file in UTF-8, found another ({error}); convert it") from None
    if not rows:
        raise CircuitizeError(f"{path}: expected rows of numbers, found none; check the file")
    width = len(rows[0][1])
    odd = next(((line, row) for line, row in rows if len(row) != width), None)
    if odd is not None:
        raise CircuitizeError(
            f"{path}:{odd[0]}: expected {width} columns as in the first line, found {len(odd[1])}; correct the row"
        )
    named = not any(np.isfinite(_number(cell)) for cell in rows[0][1])
    if named and len(rows) == 1:
        raise CircuitizeError(f"{path}: expected rows of numbers below the line of names, found none; check the file")
    if width == 1 and any(mark in rows[0][1][0] for mark in ";\t"):
        raise CircuitizeError(
            f"{path}: expected columns separated by commas, found one column {rows[0][1][0]!r}; "
            "write the file with commas"
        )
    names = tuple(cell.strip() for cell in rows[0][1]) if named else tuple(str(k + 1) for k in range(width))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise CircuitizeError(f"{path}: expected distinct columns, found {twice!r} twice; rename one")
    body = rows[1:] if named else rows
    cells = np.array([[cell.strip() for cell in row] for _, row in body])
    return Table(path, names, cells, tuple(line for line, _ in body))


def _number(text: str) -> float:
    """Return the number that a cell of a CSV file holds; NaN if the cell holds no number."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
