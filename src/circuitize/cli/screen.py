"""Text for a screen: unprintable characters are shown as escapes, so that no text can control the terminal or hide
something.

Names, digests and paths that a command prints can come from files that somebody else wrote. If text from files of
others were printed unchanged, control codes in it could erase a verdict and write another one over it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

MOST = 2000
"""The greatest number of characters of one message; the middle of a longer message is left out."""

SPACES = re.compile(" {2,}")


def visible(text: str) -> str:
    r"""Return the text on one line, with escapes such as `\x1b`, `\n` or `\u202e` for its unprintable characters.

    The unprintable characters are those of `str.isprintable`: control codes (C0, DEL, C1), line ends, marks that change
    the direction of writing, other format characters, surrogates, all spaces but the ordinary one, and unassigned code
    points.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def one_line(message: str, most: int = MOST) -> str:
    """Return a message of any content on one line, without wide gaps, which could pass for the end of a line."""
    shown = SPACES.sub(" ", visible(message)).strip()
    return shown if len(shown) <= most else f"{shown[: most - most // 4]} [...] {shown[-(most // 4) :]}"


class Screen:
    """A stream that shows text of any origin (a user's file, a warning) with escapes for unprintable characters, except
    line ends.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text with escapes for its unprintable characters, and for characters that the stream's encoding
        lacks.
        """
        shown = "\n".join(map(visible, text.split("\n")))
        encoding = getattr(self.stream, "encoding", None)
        if encoding and not shown.isascii():
            shown = shown.encode(encoding, "backslashreplace").decode(encoding)
        self.stream.write(shown)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write lines to the screen, each as `write` writes a text."""
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def screens() -> Iterator[None]:
    """Replace standard output and standard error by streams of the class Screen while the block runs."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, Screen(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
