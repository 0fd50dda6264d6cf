"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from .errors import CircuitizeError

PRIVATE = 0o600
"""The mode of a file that holds private values: its owner reads it and writes it, nobody else."""

REMOVALS = 1000
"""How often others may remove the folder of a lock before its file is there."""


def write_whole(path: Path, chunks: Iterable[bytes | memoryview], *, private: bool = False) -> None:
    """Write `chunks` to `path`, so that a reader finds either the old file or the new one, never a part.

    The bytes of a file go to a temporary file in the same folder, are flushed to the disk, and then take the file's
    name in one step. Missing folders above the file to write are made. Raise CircuitizeError if the disk, a limit or a
    permission forbids writing the file; the temporary file is then removed, and also if `chunks` itself raises. A path
    that is no file, for instance a device, is never replaced. A `private` file has the mode PRIVATE from its creation,
    before it holds a byte, whatever the mode of the file that it replaces; the umask decides the mode of any other
    file.
    """
    path = Path(path)
    require_file_name(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "xb", opener=_private) if private else temporary.open("xb") as file:
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


@contextmanager
def alone(path: Path, what: str = "", wait: bool = True) -> Iterator[None]:
    """Keep every other process that asks for the same lock from working on a file meanwhile: the lock is a second file
    in the same folder.

    Raise CircuitizeError if no lock can be made, or, unless the caller is to `wait`, if another process holds the lock;
    `what` names what that process does. The lock of a process that was killed is free for the next process.
    """
    lock = path.with_name(f"{path.name}.lock")
    missing = [folder for folder in path.parents if not folder.exists()]
    descriptor = _locked(lock, path, what, wait)
    try:
        yield
    finally:
        try:
            lock.unlink(missing_ok=True)
        finally:
            os.close(descriptor)
            with suppress(OSError):
                for folder in missing:  # Those that nothing was written into.
                    folder.rmdir()


def _locked(lock: Path, path: Path, what: str, wait: bool) -> int:
    from fcntl import LOCK_EX, LOCK_NB, flock

    try:
        while True:
            descriptor = _opened(lock)
            try:
                flock(descriptor, LOCK_EX if wait else LOCK_EX | LOCK_NB)
                if _names(lock, descriptor):
                    return descriptor
            except OSError:
                os.close(descriptor)
                raise
            os.close(descriptor)
    except BlockingIOError:
        raise CircuitizeError(f"{path}: expected no other process that {what}, found one; wait until it ends") from None
    except OSError as error:
        raise CircuitizeError(f"cannot lock {path}: {error.strerror or error}; choose another folder") from None


def _opened(lock: Path) -> int:
    """Return the descriptor of a lock's file. Before a new lock's file is in its folder, the last holder of the lock
    may remove the folder that it had made.
    """
    for left in reversed(range(REMOVALS)):
        # A folder that is removed meanwhile is there when it is made, and not when it is looked at.
        with suppress(*(FileNotFoundError, FileExistsError) if left else ()):
            lock.parent.mkdir(parents=True, exist_ok=True)
            return os.open(lock, os.O_CREAT | os.O_RDWR, PRIVATE)
    raise AssertionError


def _names(lock: Path, descriptor: int) -> bool:
    """Return whether other processes see this lock: they do not if its last holder has removed the lock's file and
    another process has made a new one.

    A single system call finds whether other processes see a lock: between two calls the new lock's file may be removed
    too.
    """
    try:
        return os.path.samestat(os.fstat(descriptor), lock.stat())
    except FileNotFoundError:
        return False


def remove_parts(folder: Path, name: str | None = None) -> None:
    """Remove the temporary files that a killed process of `write_whole` left in a folder, or those of one file in it.

    The caller of `remove_parts` must know that no process of `write_whole` is writing the temporary files that are
    removed.
    """
    for part in folder.glob(f".{'*' if name is None else escape(name)}.{'[0-9a-f]' * 16}.part"):
        with suppress(OSError):
            part.unlink()


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, PRIVATE)


def require_file_name(path: Path) -> None:
    """Raise CircuitizeError unless a file may take the given name: whatever already has the name must itself be a file.

    A file that takes a name replaces whatever has the name: a device such as /dev/null would be gone for every process.
    """
    if path.name in ("", ".."):
        raise CircuitizeError(f"{path}: expected the name of a file to write, found a folder's; choose another")
    with suppress(OSError):
        if path.exists() and not path.is_file():
            found = "a folder" if path.is_dir() else "a device or a pipe"
            raise CircuitizeError(
                f"cannot write {path}: expected a new file or an earlier one, found {found}; choose another name"
            )


def _flush_folder(folder: Path) -> None:
    """Make the new name of a file durable, if the file system allows a folder to be flushed."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
