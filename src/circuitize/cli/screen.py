"""Text for a screen: unprintable characters are shown as escapes, so that no text acts on a terminal or hides in it.

Names, digests and paths come from files that somebody else wrote. If text from others' files were printed unchanged,
control codes could erase a verdict and write another one over it.
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
    r"""Return the same text on one line, with `\x1b`, `\n`, `\u202e` for unprintable characters.

    Characters are unprintable by `str.isprintable`: control codes (C0, DEL, C1), line ends, marks that turn the
    direction of writing, other formats, surrogates, spaces but the usual one, and unassigned code points.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def one_line(message: str, most: int = MOST) -> str:
    """Return a message with any content on one line, without the wide gaps that could pass for a line's end."""
    shown = SPACES.sub(" ", visible(message)).strip()
    return shown if len(shown) <= most else f"{shown[: most - most // 4]} [...] {shown[-(most // 4) :]}"


class Screen:
    """A stream that shows text of any origin (a user's file, a warning) with escapes; line ends stay."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write the visible form of a text, with escapes for characters that the stream's encoding lacks."""
        shown = "\n".join(map(visible, text.split("\n")))
        encoding = getattr(self.stream, "encoding", None)
        if encoding and not shown.isascii():
            shown = shown.encode(encoding, "backslashreplace").decode(encoding)
        self.stream.write(shown)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write lines to the screen as `write` writes text."""
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def screens() -> Iterator[None]:
    """Make standard output and standard error screens while the block runs."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, Screen(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
