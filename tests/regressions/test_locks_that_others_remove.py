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


def test_locks_are_had_by_one_after_another(tmp_path: Path) -> None:
    path, counted = tmp_path / "kept.json", [0]

    def count(_: int) -> None:
        for _ in range(200):
            with alone(path):
                found = counted[0]
                counted[0] = found + 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(8)))
    assert counted == [1600] and not any(tmp_path.iterdir())


def test_a_folder_that_its_maker_removes_is_made_again(tmp_path: Path) -> None:
    path, counted = tmp_path / "new" / "folder" / "kept.json", [0]

    def count(_: int) -> None:
        for _ in range(100):
            with alone(path):
                found = counted[0]
                counted[0] = found + 1

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count, range(4)))
    assert counted == [400]


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kept.json.lock").symlink_to(tmp_path / "nowhere" / "lock")
    with pytest.raises(CircuitizeError, match="cannot lock"), alone(tmp_path / "kept.json"):
        pass
