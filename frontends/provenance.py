"""The place in the user's program that an edge comes from: the current part, and the file and line outside this
package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType

from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Provenance

_part: ContextVar[str] = ContextVar("part", default="")
_place: ContextVar[tuple[str, int] | None] = ContextVar("place", default=None)
_OTHERS = ("circuitize", "contextlib", "numpy", "polygrad", "tinygrad")
"""The packages whose frames are not the user's code: circuitize and packages that call it back."""


@contextmanager
def part(name: str) -> Iterator[None]:
    """Label the operations that are traced in the block with a part of the model; the names of nested parts are joined
    by a dot: `block1.dense1`.
    """
    outer = _part.get()
    token = _part.set(f"{outer}.{name}" if outer and name else outer or name)
    try:
        yield
    finally:
        _part.reset(token)


@contextmanager
def placed_at(place: tuple[str, int] | None) -> Iterator[None]:
    """Label the operations that are traced in the block with a given file and line, for layers that are traced later
    than they are declared.
    """
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def here() -> tuple[str, int]:
    """Return the file and line of the innermost frame of the user's own code, with the file as `_named` gives it."""
    frame = _outside()
    return _named(frame), frame.f_lineno


def _shown(frame: FrameType) -> str:
    """Return FILE:LINE of a frame for a message: the path is relative to the working directory if the file is inside
    it.
    """
    path, working = Path(frame.f_code.co_filename), Path.cwd()
    return f"{path.relative_to(working) if path.is_relative_to(working) else path}:{frame.f_lineno}"


def current() -> Provenance:
    """Return the provenance of an edge that is added at the current point of the trace."""
    file, line = _place.get() or here()
    return Provenance(_part.get(), file, line)


def located(message: str) -> str:
    """Return a message with the user's file and line before it, or the message alone for a command that runs no file of
    the user's.
    """
    frame = _outside()
    return message if _is_command(frame) else f"{_shown(frame)}: {message}"


def refused(message: str) -> TypingError:
    """Return an error to raise, whose message begins with the user's file and line."""
    return TypingError(located(message))


def _outside() -> FrameType:
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] in _OTHERS:
        if frame.f_back is None:
            break
        frame = frame.f_back
    return frame


def _is_command(frame: FrameType) -> bool:
    """Return whether a frame outside the package is the frame that started the package's command line."""
    inner: FrameType | None = sys._getframe(1)
    while inner is not None and inner is not frame:
        if inner.f_globals.get("__name__", "").startswith("circuitize.cli."):
            return True
        inner = inner.f_back
    return False


def _named(frame: FrameType) -> str:
    """Return a module's file with the folders of its packages: `net.py`, `models/vision/net.py`.

    Provenance is saved and emitted, so it depends neither on the folder of the user's program nor on the working
    directory.
    """
    path, spec = Path(frame.f_code.co_filename), frame.f_globals.get("__spec__")
    module = str(getattr(spec, "name", None) or frame.f_globals.get("__name__", ""))
    packages = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
    name = path.name
    for package, folder in zip(reversed(packages), path.parents, strict=False):
        if folder.name != package:
            break
        name = f"{package}/{name}"
    return name
