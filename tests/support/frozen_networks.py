"""Small networks of GPT-2's kind with weights apart, in two frozen groups."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from tensor_proofs import Integers

import circuitize as cz
from circuitize.api.exact import Exact, exact
from circuitize.backends.tensor import frozen
from circuitize.circuits.phases import Phases
from circuitize.circuits.values import to_integers
from circuitize.frontends.formats import labels
from circuitize.frontends.transformer import gpt2

GROUPS = ("frozen.1", "frozen.2")
UNREAD = "positions"
"""Its last row is of a position past the sequence: no value depends on it."""


@contextmanager
def groups_of_at_most(elements: int) -> Iterator[None]:
    """No frozen group is larger, so that small networks have several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frozen, "MOST", elements)
        yield


def frozen_network(vocabulary: int, tokens: tuple[float, ...], tied: bool = True) -> Exact:
    """One block of width 8; where it is `tied`, the table of tokens is read twice."""
    model = gpt2(vocabulary, context=4, width=8, blocks=1, heads=2, length=len(tokens), tied=tied, last=True)
    model = model.freeze(apart=True)
    example = {**model.initial(0), "inputs": np.array([tokens])}
    return exact(cz.predict(model, 1, labels(vocabulary), [example]), Phases())


def inputs_of(program: Exact) -> dict[str, Integers]:
    """The integers of the first example."""
    batch = program.integer.examples[0]
    return {port.name: to_integers(port, batch[port.name], "example") for port in program.integer.inputs}


def with_unread_out_of_format(program: Exact) -> dict[str, Integers]:
    """Weights of which one lies past its format, and no value depends on it."""
    inputs = inputs_of(program)
    port = next(port for port in program.integer.inputs if port.name == UNREAD)
    inputs[UNREAD] = np.array(inputs[UNREAD])
    inputs[UNREAD][-1, 0] = port.format.high + 1
    return inputs
