"""A public start is the same everywhere: its numbers are pinned, drawn again by the definition, and nearly normal."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

import circuitize as cz
from circuitize.circuits.errors import TypingError
from circuitize.frontends.draws import DOMAIN, Draws

SEED = bytes(range(8))


def test_numbers_are_those_of_the_definition() -> None:
    draws = Draws(SEED)
    draws.normal(0.0, 1.0, (3,))
    found = draws.normal(1.0, 0.5, (2, 2))
    head = DOMAIN + (8).to_bytes(8, "little") + SEED + (1).to_bytes(8, "little")
    stream = hashlib.shake_256(head).digest(4 * 12 * 2)
    words = [int.from_bytes(stream[k : k + 2], "little") for k in range(0, len(stream), 2)]
    sums = [sum(words[k : k + 12]) - 6 * 65535 for k in range(0, 48, 12)]
    assert found.reshape(-1).tolist() == [own / 65536 * 0.5 + 1.0 for own in sums]
    uniform = draws.uniform(-1.0, 1.0, (3,))
    stream = hashlib.shake_256(head[:-8] + (2).to_bytes(8, "little")).digest(12)
    words = [int.from_bytes(stream[k : k + 4], "little") for k in range(0, 12, 4)]
    assert uniform.tolist() == [word / 2**32 * 2.0 - 1.0 for word in words]


def test_numbers_stay_what_they_are() -> None:
    model = cz.sequential(cz.dense(3, 2), cz.relu(), cz.dense(2, 1))
    first = model.initial(SEED)
    assert all(np.array_equal(first[name], again) for name, again in model.initial(SEED).items())
    assert hashlib.sha256(b"".join(values.tobytes() for values in first.values())).hexdigest() == PINNED
    assert any((values != model.initial(SEED + b"\0")[name]).any() for name, values in first.items())


PINNED = "c6a4e893e2b99c69d0b4cf05529298d31960b47dfd2de8946f83f5570ed6130d"


def test_moments_are_those_of_a_normal_distribution() -> None:
    found = Draws(SEED).standard_normal((200_000,))
    assert abs(found.mean()) < 0.01 and abs(found.var() - 1) < 0.01 and abs((found**3).mean()) < 0.03
    assert np.abs(found).max() < 6 and abs((np.abs(found) < 1).mean() - 0.6827) < 0.01


def test_other_draws_are_refused() -> None:
    with pytest.raises(TypingError, match="found 'integers'"):
        Draws(SEED).integers(3)
