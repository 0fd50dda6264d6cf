"""Readers of files that others wrote: what is expected of a file limits how much of it is read, before it is read."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from .errors import FormatError, excerpt

Json: TypeAlias = dict[str, Any]
"""An object as `json` reads and writes it."""


class TooLong(FormatError):
    """The error for a file that is longer than a file of its kind may be."""


def read_at_most(path: Path, most: int, what: str, remedy: str) -> bytes:
    """Read the bytes of a file that may have at most `most` bytes.

    Raise TooLong for a file that is longer, before a byte is read; a path that is no file, such as a pipe, is read
    until more than `most` bytes have come. Raise OSError if the file cannot be read.
    """
    with Path(path).open("rb") as file:
        found = os.fstat(file.fileno())
        size = found.st_size if stat.S_ISREG(found.st_mode) else 0
        content = b"" if size > most else file.read(most + 1 if size == 0 else size + 1)
    if max(size, len(content)) > most:
        counted = f"{size:,}" if size else "more"
        raise TooLong(f"{path}: expected {what} of at most {most:,} bytes, found {counted}; {remedy}")
    return content


def parse_json(content: bytes, most: int, *, distinct: bool = False) -> Any:
    """Parse a JSON text of at most about `most` values; with `distinct`, the names in each object must differ.

    A parsed value takes many times the memory of its text, so the values are counted before parsing: each but the first
    follows a comma or an opening bracket. Raise ValueError for a JSON text of more values, for text that is no JSON in
    UTF-8, for nesting that is too deep, and for a repeated name if names must differ.
    """
    found = sum(content.count(mark) for mark in (b",", b"[", b"{"))
    if found > most:
        raise ValueError(f"expected about {most} values at the most, found {found}")
    try:
        # As text: of bytes, json.loads guesses an encoding, and imports what decodes it.
        return json.loads(content.decode(), object_pairs_hook=_distinct if distinct else None)
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_object(value: object) -> Mapping[str, object]:
    """Return a value of JSON that is an object, by name. Raise TypeError for any other value."""
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, found {excerpt(value)}")
    return value


def read_list(value: object) -> list[object]:
    """Return a value of JSON that is a list. Raise TypeError for any other value."""
    if not isinstance(value, list):
        raise TypeError(f"expected a list, found {excerpt(value)}")
    return value


def read_text(value: object) -> str:
    """Return a value of JSON that is a text. Raise TypeError for any other value."""
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {excerpt(value)}")
    return value


def whole(value: object) -> int:
    """Return the given value, if it is an integer that fits into 64 bits. Raise TypeError for a value that is no
    integer of 64 bits.
    """
    if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
        raise TypeError(f"expected a whole number of 64 bits, found {str(value)[:40]}")
    return value


def _distinct(pairs: list[tuple[str, object]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{excerpt(next(name for name in names if names.count(name) > 1))} twice")
    return found
