"""The metrics of a training: a row for each step, as JSON lines and as CSV, with the same rows whether or not the
training was interrupted.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import write_whole
from circuitize.circuits.reading import parse_json

LINES = "metrics.jsonl"
TABLE = "metrics.csv"

MOST_BYTES = 1 << 16
"""The largest number of bytes of a row."""

Row = Mapping[str, float | int]
"""The measures of one step, by name."""


class Metrics:
    """The writer of a training's rows of metrics to both files. Rows of metrics wait in memory until they are flushed,
    together with a checkpoint.

    The files of metrics therefore never have fewer rows than the last checkpoint has steps; a killed process may leave
    more rows, which a resumed training cuts off and writes again.
    """

    def __init__(self, folder: Path, columns: Sequence[str], done: int) -> None:
        """Open the files of metrics after the rows of the first `done` steps. Raise FormatError if the files of metrics
        do not have one row for each of the first `done` steps, or have other columns.
        """
        self._lines, self._table, self._columns = folder / LINES, folder / TABLE, list(columns)
        self._waiting: list[Row] = []
        rows = list(read(folder, done)) if done else []
        steps, names = [row.get("step") for row in rows], {name for row in rows for name in row}
        if steps != list(range(1, done + 1)) or not names <= {*columns}:
            raise FormatError(
                f"{self._lines}: expected a line for each of {done} steps, found others; put the file back, or choose "
                "another folder"
            )
        write_whole(self._lines, [_line(row).encode() for row in rows])
        write_whole(self._table, [(",".join(self._columns) + "\n" + self._cells(rows)).encode()])

    def add(self, row: Row) -> None:
        """Add the row of metrics of one step, which is written at the next flush."""
        self._waiting.append(row)

    def flush(self) -> None:
        """Append the waiting rows to the files of metrics."""
        try:
            with self._lines.open("a") as lines, self._table.open("a") as table:
                lines.writelines(map(_line, self._waiting))
                table.write(self._cells(self._waiting))
        except OSError as error:
            raise CircuitizeError(f"cannot write {self._lines}: {error.strerror or error}; it goes on later") from None
        self._waiting.clear()

    def _cells(self, rows: Sequence[Row]) -> str:
        text = io.StringIO()
        csv.DictWriter(text, self._columns, lineterminator="\n").writerows(rows)
        return text.getvalue()


def read(folder: Path, most: int | None = None) -> Iterator[Row]:
    """Yield the rows of metrics that a training wrote, or at most the first `most` of them. Raise FormatError for a
    line that is not a row of metrics.
    """
    path = folder / LINES
    try:
        with path.open("rb") as file:
            for number in count(1) if most is None else range(1, most + 1):
                line = file.readline(MOST_BYTES + 1)
                if not line:
                    break
                row = parse_json(line, MOST_BYTES) if len(line) <= MOST_BYTES else None
                if not isinstance(row, dict) or not all(map(_is_number, row.values())):
                    raise FormatError(f"{path}:{number}: expected a row by name, found another value; remove the line")
                yield row
    except (OSError, ValueError) as error:
        raise FormatError(f"{path}: expected metrics of a training, found {error}; put the file back") from None


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) < 1 << 63)


def read_last(folder: Path) -> Row:
    """Return the row of metrics of a training's last step."""
    last: Row = {}
    for last in read(folder):  # noqa: B007 - the last one is wanted
        pass
    return last


def _line(row: Row) -> str:
    return json.dumps(row) + "\n"
