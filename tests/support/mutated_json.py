"""JSON in which a value or two have become others, at random: what a reader of it must refuse, or read."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

OTHERS: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 3, 7, 10**6, 1 << 40, 1 << 63, -(1 << 63), 0.5, float("inf"), float("nan"), ""),
    *("x", "-Infinity", "real.add", "integer.shift", "tanh", [], {}, [0], [1, 2, 3], [-1], [[1]]),
    *({"as_int": 3}, {"as_ints": [0]}, {"as_none": True}, {"as_float": 0.0}, {"as_tensor": {"name": "x"}}),
    *({"as_tensors": []}, {"class": "Array", "shape": [2]}, {"class": "real.relu"}),
    *({"dtype": "<f8", "shape": [2], "values": [1.0]}, {"dtype": "<f8", "shape": [1 << 20, 8], "values": [1.0]}),
]


def mutated(made: Any, random: np.random.Generator) -> Any:
    """A copy with one to three values replaced, or gone; the place is found by going down at random."""
    found: Any = copy.deepcopy(made)
    above: Any
    key: Any
    for _ in range(int(random.integers(1, 4))):
        at, above, key = found, None, 0
        while isinstance(at, dict | list) and at and (above is None or random.random() < 0.9):
            keys = list(at) if isinstance(at, dict) else range(len(at))
            above, key = at, keys[int(random.integers(len(keys)))]
            at = above[key]
        if above is not None and random.random() < 0.15:
            del above[key]
        elif above is not None:
            above[key] = copy.deepcopy(OTHERS[int(random.integers(len(OTHERS)))])
    return found
