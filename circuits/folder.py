"""Folders, and files that belong together, each written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import CircuitizeError, FormatError
from .files import require_file_name

Own = Collection[str] | Callable[[Path], Collection[str]]
"""The names that a command gives to its files, relative to the folder; or a function of the folder that finds them."""


@contextmanager
def whole_folder(path: Path, marker: str, own: Own) -> Iterator[Path]:
    """Make a temporary folder next to `path` that takes the name `path` when the block ends, and is removed if the
    block raises.

    A folder that already has the name `path` is replaced if it is empty, or if it holds a file called `marker` and
    nothing but files that `own` names: so only an earlier result of the same kind is ever deleted. Raise
    CircuitizeError if a folder with the name `path` holds other files, even if one is added during the work, or if
    nothing can be written.
    """
    path = Path(os.path.abspath(path))
    require_folder(path, marker, own)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with _naming(path, temporary):
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.mkdir()
            yield temporary
            require_folder(path, marker, own)
            _take_name(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def require_folder(path: Path, marker: str, own: Own) -> None:
    """Raise CircuitizeError unless `whole_folder` could give its folder the name `path`, as far as can be told before
    the work.
    """
    try:
        empty = path.is_dir() and not any(path.iterdir())
        if path.exists() and not (path.is_dir() and (empty or (path / marker).is_file())):
            raise CircuitizeError(
                f"{path}: expected a new folder, or an earlier one with {marker}, found something else; choose another"
            )
        other = None
        if path.is_dir() and not empty:
            names = own(path) if callable(own) else own
            other = next((name for name in _entries(path) if name not in names), None)
    except OSError as error:
        raise CircuitizeError(f"cannot write {path}: {error.strerror or error}; choose another place") from None
    if other is not None:
        raise CircuitizeError(
            f"{path}: expected a new folder, or only an earlier result in it, found {other}; it is left as it is: "
            "choose another folder, or move that"
        )
    _require_parent(path)


def _entries(path: Path, above: str = "") -> Iterator[str]:
    """Yield the path, relative to a folder, of every entry in the folder and in the folders below it, also of links and
    of empty folders.
    """
    with os.scandir(path) as found:
        inside = sorted(found, key=lambda entry: entry.name)
    for entry in inside:
        if entry.is_dir(follow_symlinks=False) and any(Path(entry.path).iterdir()):
            yield from _entries(Path(entry.path), f"{above}{entry.name}/")
        else:
            yield f"{above}{entry.name}"


def require_plain_files(folder: Path) -> None:
    """Raise FormatError if a folder that a prover wrote holds an entry that is no file, such as a pipe, which would
    keep a reader waiting for ever.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        odd = [entry.path for entry in entries if not entry.is_file() and not entry.is_dir() and Path(entry).exists()]
        if odd:
            raise FormatError(f"{odd[0]}: expected a file, found a device or a pipe; ask for the proof again")


def require_new_file(path: Path, secrets: str) -> None:
    """Raise CircuitizeError if a file of secrets cannot be written or exists already: nothing replaces a file of
    secrets.
    """
    if os.path.lexists(path):
        raise CircuitizeError(
            f"{path}: expected no file yet, found {secrets} of an earlier proof, which nothing else can open; it is "
            "left as it is: choose another -o, or move it away"
        )
    require_file(path)


def require_file(path: Path | None) -> None:
    """Raise CircuitizeError if a file of the given name cannot be written, as far as can be told before the work."""
    if path is not None:
        require_file_name(path)
        _require_parent(path)


def _require_parent(path: Path) -> None:
    """Raise CircuitizeError unless the nearest existing folder above `path` is a folder in which names can be made."""
    above = Path(os.path.abspath(path)).parent
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        raise CircuitizeError(f"cannot write {path}: expected a folder at {above}, found a file; choose another place")
    if not os.access(above, os.W_OK | os.X_OK):
        raise CircuitizeError(f"cannot write {path}: found no permission to write in {above}; choose another place")


@contextmanager
def whole_file(path: Path, secrets_of: str | None = None) -> Iterator[Path]:
    """Make a temporary file next to `path`; what the block writes to the temporary file takes the name `path` when the
    block ends.

    If `secrets_of` names the secrets in the file, an existing file is not replaced, as `require_new_file` says.
    """
    require_file_name(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with _naming(path, temporary):
            yield temporary
            if secrets_of is not None:
                require_new_file(path, secrets_of)
            temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def _naming(path: Path, temporary: Path) -> Iterator[None]:
    """Turn errors in the `with` block into CircuitizeErrors that name the final path, never the temporary path."""
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
