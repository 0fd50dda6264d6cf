"""Folders, and files that belong together, written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError


@contextmanager
def whole_folder(path: Path, marker: str) -> Iterator[Path]:
    """A temporary folder beside `path` that takes its name when the block ends, and is removed when it raises.

    A folder that is already there is replaced if it is empty or holds a file called `marker`, so that only an earlier
    result of the same kind is ever deleted. Raises CircuitizeError for any other, or where nothing can be written.
    """
    path = Path(os.path.abspath(path))
    if path.exists() and not (path.is_dir() and ((path / marker).is_file() or not any(path.iterdir()))):
        raise CircuitizeError(
            f"{path}: expected a new folder, or an earlier one with {marker}, found something else; choose another"
        )
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with _naming(path, temporary):
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.mkdir()
            yield temporary
            _take_name(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file's path beside `path`; what the block writes there takes the name when the block ends."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with _naming(path, temporary):
            yield temporary
            temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def _naming(path: Path, temporary: Path) -> Iterator[None]:
    """Errors of the block are CircuitizeErrors that name the path, never the temporary one."""
    try:
        yield
    except OSError as error:
        raise CircuitizeError(f"cannot write {path}: {error.strerror or error}; what was there is unchanged") from error
    except CircuitizeError as error:
        if str(temporary) not in str(error):
            raise
        raise CircuitizeError(str(error).replace(str(temporary), str(path))) from error


def _take_name(temporary: Path, path: Path) -> None:
    old = path.with_name(f".{path.name}.{secrets.token_hex(8)}.old")
    replaced = path.exists()
    if replaced:
        path.rename(old)
    try:
        temporary.rename(path)
    except OSError:
        if replaced:
            with suppress(OSError):
                old.rename(path)
        raise
    if replaced:
        shutil.rmtree(old, ignore_errors=True)
