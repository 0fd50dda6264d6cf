"""The width of text, computed from a fixed table, so that a picture is the same on every machine, whatever fonts the
machine has.
"""

from __future__ import annotations

from functools import lru_cache
from unicodedata import east_asian_width

# Advance widths of Helvetica, and of the fonts made to its measure (Arial, Liberation Sans), in 1/1000 of the size:
# the characters from space to ~. Source: the Core 14 AFM files of Adobe.
# fmt: off
_REGULAR = (
    278, 278, 355, 556, 556, 889, 667, 222, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 222, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
)
_BOLD = (
    278, 333, 474, 556, 556, 889, 722, 278, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, 278, 556, 611, 556, 611,
    556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389,
    280, 389, 584,
)
# fmt: on
_OTHER, _WIDE = 667, 1000

MOST = 48
"""The characters of a text that is not cut."""


@lru_cache(maxsize=1 << 14)
def width(text: str, size: int, bold: bool = False) -> int:
    """Return the width of a line of text in whole pixels, rounded up."""
    table = _BOLD if bold else _REGULAR
    total = sum(
        table[ord(c) - 32] if " " <= c <= "~" else (_WIDE if east_asian_width(c) in "WF" else _OTHER) for c in text
    )
    return -(-total * size // 1000)


def plain(text: str) -> str:
    """Return the text with a replacement sign for every character that is not printable, since control characters are
    not allowed in XML.
    """
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def shortened(text: str, most: int = MOST) -> str:
    """Return the text as one line of printable characters, with its middle left out if it is longer than `most`
    characters.
    """
    line = plain(text)
    if len(line) <= most:
        return line
    half = (most - 1) // 2
    return f"{line[:half]}\N{HORIZONTAL ELLIPSIS}{line[len(line) - (most - 1 - half) :]}"


def wrapped(words: list[str], most: int, size: int, separator: str = ", ") -> list[str]:
    """Return words joined into lines that are at most `most` pixels wide; a word that is wider has a line of its
    own.
    """
    lines: list[str] = []
    for word in words:
        if lines and width(f"{lines[-1]}{separator}{word}", size) <= most:
            lines[-1] = f"{lines[-1]}{separator}{word}"
        else:
            if lines:
                lines[-1] += separator.rstrip()
            lines.append(word)
    return lines
