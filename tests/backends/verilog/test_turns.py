"""Readers of one memory at random clocks: each gets its frame, and without any guard of a turn some do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from turns_bench import channel, run

QUEUED = {
    "a reader does not wait for the one before": ("(turn == 2'd1) & ~busy", "~busy"),
    "a reader starts beside another": ("& (turn == 2'd2) & ~busy", ""),
    "a reader reads again in its turn": ("busy <= starts | (busy & ~ends)", "busy <= 1'b0"),
    "a bank is free too early": ("w_free = taken !=", "w_free = 1'b1 | taken !="),
    "a frame is read before it is there": ("filled !=", "1'b1 | filled !="),
}
STATE = {
    "a reader does not wait for the one before": ("((turn == 2'd1) & ~busy)", "~busy"),
    "a reader reads again in its turn": ("busy <= starts | (busy & ~ends)", "busy <= 1'b0"),
    "a turn ends with its start": ("if (ends) turn", "if (starts) turn"),
    "the next frame reads before new state is sent": (" & ~late)", ")"),
    "the next frame writes before new state is sent": ("w_free = ~late", "w_free = 1'b1"),
    "new state is sent while the old is read": ("(all_done | late)", "1'b1"),
    "new state is sent before it is there": ("= owed & ~sending", "= ~sending"),
    "new state is sent from the bank that is read": ("s_bank <= w_bank", "s_bank <= r_bank"),
    "new state is sent from the bank that is written": ("if (w_done) s_bank <= w_bank", "s_bank <= w_bank"),
    "new state is sent twice": (" & ~r2_done)", ")"),
}
"""By what goes wrong: a guard, and what stands there without it."""


@pytest.mark.parametrize("banks", [1, 2, 3])
def test_each_reader_gets_every_frame(banks: int, tmp_path: Path) -> None:
    right, ended = run(channel(3, banks, None), tmp_path)
    assert right and ended > 25


@pytest.mark.parametrize("shows", [False, True])
@pytest.mark.parametrize("readers", [2, 3])
def test_each_reader_gets_the_state_kept_last(readers: int, shows: bool, tmp_path: Path) -> None:
    right, ended = run(channel(readers, 2, shows), tmp_path)
    assert right and ended > 25


@pytest.mark.parametrize("name", QUEUED)
def test_a_guard_of_a_queue_is_missed(name: str, tmp_path: Path) -> None:
    right, ended = run(channel(3, 2, None), tmp_path, QUEUED[name])
    assert not right or ended < 3


@pytest.mark.parametrize("name", STATE)
def test_a_guard_of_state_is_missed(name: str, tmp_path: Path) -> None:
    right, ended = run(channel(3, 2, True), tmp_path, STATE[name])
    assert not right or ended < 3
