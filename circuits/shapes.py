"""Remedies for an array that has another shape than the expected one."""

from __future__ import annotations

import math

from .types import Shape


def remedy(expected: Shape, found: Shape, data: bool) -> str:
    """Return the remedy that gives an array the expected shape without disordering its elements; `data` says that the
    array's first axis is that of examples.

    Reshaping is the last remedy that is suggested, since it keeps the order of the elements and so scrambles a
    transposed array.
    """
    kept = [[extent for extent in shape if extent != 1] for shape in (expected, found)]
    if kept[0] == kept[1]:
        return f"reshape it: array.reshape({', '.join(map(str, expected)) or '()'})"
    if len(found) > 1 and found[::-1] == expected:
        return "transpose it (array.T): reshaping would scramble it"
    if len(found) > 1 and sorted(found) == sorted(expected):
        return "transpose its axes (numpy.transpose): reshaping would scramble it"
    if data and expected and found == expected[:-1]:
        each = f"give an indicator (one-hot) for each of {expected[-1]} classes"
        return f"{each}: numpy.eye({expected[-1]})[labels]; or give training_step a target_shape"
    if data and found and found[:-1] == expected:
        return "give the number of a class for each example (array.argmax(axis=-1)), or one value"
    if data and found[1:] == expected[1:] and len(found) == len(expected):
        examples = "example" if expected[0] == 1 else "examples"
        return f"give {expected[0]} {examples}, or make the program with batch={found[0]}"
    if data and found == expected[1:]:
        return f"give a batch of {expected[0]} examples: this is one"
    if math.prod(expected) == math.prod(found) and (data or len(found) == 1):
        return f"reshape it: array.reshape({', '.join(map(str, expected))}), if its elements are in that order"
    return "give an array of this shape, or change the model"
