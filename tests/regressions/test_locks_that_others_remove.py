"""Processes that wait for one lock all get it, one after another, though each removes the lock's file at its end, and
the folder of it where it made that.

A waiting process looked whether the file was still there, and then what it was; between the two looks another process
could remove it, and the first was told that it cannot lock.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import alone


def counted(path: Path, threads: int, times: int) -> int:
    """How far threads count that each take the lock so many times, and read and write one number while they have it."""
    number = [0]

    def count(_: int) -> None:
        for _ in range(times):
            with alone(path):
                found = number[0]
                number[0] = found + 1

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(count, range(threads)))
    return number[0]


def test_locks_are_had_by_one_after_another(tmp_path: Path) -> None:
    assert counted(tmp_path / "kept.json", 8, 200) == 1600
    assert not any(tmp_path.iterdir())


def test_a_folder_that_its_maker_removes_is_made_again(tmp_path: Path) -> None:
    assert counted(tmp_path / "new" / "folder" / "kept.json", 4, 100) == 400


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kept.json.lock").symlink_to(tmp_path / "nowhere" / "lock")
    with pytest.raises(CircuitizeError, match="cannot lock"), alone(tmp_path / "kept.json"):
        pass
