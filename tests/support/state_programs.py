"""Small steps whose state is replaced unread, read early, handed on, or left: what a scheduler may break."""

from __future__ import annotations

import numpy as np
from folded_programs import named
from numpy.typing import NDArray

from circuitize.backends.verilog.modes import Modal
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Clamp, Contract
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

Integers = NDArray[np.int64]

SHAPES: dict[str, tuple[int, ...]] = {"a": (12,), "b": (12,), "s": ()}
"""The state: two tensors, and one element."""

UPDATES = {
    "replaced": ("x", "x", "sum"),
    "delayed": ("x", "a", "sum"),
    "swapped": ("b", "a", "s"),
    "added": ("a+x", "b+a", "s+sum"),
    "one": ("a", "b", "sum"),
}
"""By name, what a, b and s become."""


def step(name: str, outputs: bool = True) -> IntegerProgram:
    """One of UPDATES, with an output that reads all state late, behind two products, where `outputs` says so.

    `x` and `m` enter. Without `outputs` the only output beside the state is a sum of products.
    """
    builder = Builder()
    vector, square = Fixed((12,), 0, -100, 100), Fixed((12, 12), 0, -3, 3)
    x, m, a, b, s = builder.inputs([vector, square, vector, vector, Fixed((), 0, -30000, 30000)])
    clamp, wide = Clamp(-100, 100), Clamp(-30000, 30000)
    total = builder.add(Contract("i,ij->"), x, m)
    made = {
        "x": builder.add(clamp, builder.add(Add(), x, x)),
        "a": a,
        "b": b,
        "s": s,
        "sum": builder.add(wide, total),
        "a+x": builder.add(clamp, builder.add(Add(), a, x)),
        "b+a": builder.add(clamp, builder.add(Add(), b, a)),
        "s+sum": builder.add(wide, builder.add(Add(), s, total)),
    }
    out = [made[update] for update in UPDATES[name]]
    if outputs:
        product = builder.add(Contract("i,ij->j"), x, m)
        late = builder.add(Contract("i,ij->j"), builder.add(clamp, product), m)
        out += [builder.add(Add(), late, a), builder.add(Add(), late, b)]
        out += [a, builder.add(Add(), builder.add(Contract("i,ij->"), x, m), s)]
    else:
        out += [total]
    return named(builder, ["x", "m", "a", "b", "s"], out, ["a", "b", "s"])


def modal(name: str) -> tuple[Modal, dict[str, Integers]]:
    """The step in a design with modes, and the contents of its memory."""
    return Modal(step(name)), initial()


def initial() -> dict[str, Integers]:
    """What the memory holds at first."""
    draw = np.random.default_rng(7)
    return {name: draw.integers(-100, 101, shape) for name, shape in SHAPES.items()}
