"""The quantities by which ways to build a program are compared, by name: those that are counted, those that are
measured, and those that are predicted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["counted", "measured", "predicted"]
"""The origin of a figure: counted in what is emitted, measured on examples, or predicted by a model."""

ERROR, WORST = ERRORS = "error", "worst"
"""The errors of outputs, which follow from the formats: for all outputs, or with :NAME for one."""

SHARE = 0.9
"""The share of examples whose greatest error is within `error`. The greatest error on all examples is due to few
examples, where a rectifier is active in one run only: other examples have another greatest error, but nearly the same
`error`.
"""


@dataclass(frozen=True)
class Quantity:
    """A quantity by which designs are compared; less of it is better."""

    name: str
    unit: str
    bytes: bool = False


_ALL = (
    Quantity(ERROR, "error that outputs of nine in ten examples stay within, in real units"),
    Quantity(WORST, "greatest error of an output on any example, in real units"),
    Quantity("seconds", "processor seconds of all proofs, the run of the program apart"),
    Quantity("bytes", "bytes of all proofs", bytes=True),
    Quantity("memory", "bytes of memory that the prover takes at most", bytes=True),
    Quantity("rows", "constraints of one proof"),
    Quantity("lookups", "elements that one proof looks up"),
    Quantity("cells", "cells of one proof's Plonkish layout, rows times advice columns"),
    Quantity("luts", "lookup tables of hardware"),
    Quantity("registers", "flip-flops"),
    Quantity("dsps", "multiplier blocks"),
    Quantity("bram_bits", "bits of block memory"),
    Quantity("cycles", "clocks from frame to frame"),
    Quantity("latency", "clocks from the first beat of a frame to its last"),
)
QUANTITIES = {quantity.name: quantity for quantity in _ALL}

PREDICTED = "seconds", "memory"
"""The quantities that models predict for every target that has them; their constants were measured. The quantity
`error` is predicted by a sample.
"""

TAKEN: Mapping[str, tuple[str, ...]] = {
    "r1cs": ("seconds", "bytes", "memory", "rows"),
    "mirage": ("seconds", "bytes", "memory", "rows"),
    "plonkish": ("seconds", "bytes", "memory", "cells"),
    "tensor": ("seconds", "bytes", "memory", "lookups"),
    "verilog": ("luts", "registers", "dsps", "bram_bits", "cycles", "latency"),
}
"""For each target, in the order in which targets are tried, the quantities of its circuits; errors follow from the
formats.
"""


def base(name: str) -> str:
    """Return the name of a quantity without the output's name, such as `error` for `error:loss`."""
    return name.partition(":")[0]


def kind(name: str, target: str) -> Kind:
    """Return whether a target's figure of a quantity is counted, measured or predicted."""
    own = base(name)
    if own == WORST:
        return "measured"
    return "predicted" if own in (ERROR, *PREDICTED) or (own == "bytes" and target == "tensor") else "counted"


def having(names: Iterable[str]) -> list[str]:
    """Return the targets for which all named quantities are known."""
    wanted = {base(name) for name in names} - {*ERRORS}
    return [target for target, own in TAKEN.items() if wanted <= {*own}]
