"""Results that are remembered by what arrays hold are those of the function, and take bounded memory."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from circuitize.backends.verilog.folded import remembered as module
from circuitize.backends.verilog.folded.remembered import remembered


class Host:
    """An object that is known by its identity."""


def test_arrays_are_known_by_their_contents() -> None:
    calls: list[object] = []

    @remembered
    def total(values: np.ndarray, size: int, host: Host | None = None) -> int:
        calls.append(host)
        return int(values.sum()) + size

    first, host = np.arange(6), Host()
    assert total(first, 1) == total(first.copy(), 1) == total(np.arange(12)[:6], 1) == 16 and len(calls) == 1
    assert total(first[::-1].copy()[::-1], 1) == 16 and len(calls) == 1, "the order in memory does not matter"
    assert (total(first, 2), total(first + 1, 1), total(first.reshape(2, 3), 1)) == (17, 22, 16) and len(calls) == 4
    assert total(first.astype(np.int32), 1) == 16 and len(calls) == 5
    assert total(first.astype(bool), 1) == 6 and len(calls) == 6
    assert total(first, 1, host) == total(first, 1, host) == 16 and len(calls) == 7
    assert total(first, 1, Host()) == 16 and len(calls) == 8


def test_what_is_known_by_identity_stays() -> None:
    @remembered
    def named(host: Host) -> int:
        return id(host)

    host = Host()
    there = weakref.ref(host)
    named(host)
    del host
    gc.collect()
    assert there() is not None, "another object could get its identity"


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 4 * 80)
    monkeypatch.setattr(module, "LARGEST", 160)
    calls: list[int] = []

    @remembered
    def first(values: np.ndarray) -> int:
        calls.append(len(values))
        return int(values[0])

    tables = [np.full(10, number) for number in range(6)]
    assert [first(table) for table in tables] == [*range(6)]
    assert [first(table) for table in tables[2:]] == [2, 3, 4, 5] and len(calls) == 6
    assert (first(tables[2]), first(tables[0]), first(tables[2]), first(tables[3])) == (2, 0, 2, 3)
    assert len(calls) == 8, "the one that was used least recently was forgotten"
    large = np.zeros(21, np.int64)
    assert first(large) == first(large) == 0 and len(calls) == 10
