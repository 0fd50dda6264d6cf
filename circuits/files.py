"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from .errors import CircuitizeError


def write_whole(path: Path, chunks: Iterable[bytes | memoryview]) -> None:
    """Write `chunks` to `path`, so that a reader finds the old file, the new one, and never a part of it.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and then take the name in
    one step. Folders above `path` are made. Raises CircuitizeError when the disk, a limit or a permission
    forbids it; the temporary file is then removed, as it is when `chunks` itself raises.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise CircuitizeError(f"cannot write {path}: {reason}; the file there is unchanged") from error
        raise
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make the new name itself durable, where the file system allows a folder to be flushed."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
