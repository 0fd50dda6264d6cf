"""The state of a parallel design, in registers that change when the status of a frame is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.port import Port
from circuitize.circuits.types import Fixed

from ...verilog.design import Stream
from ...verilog.netlist import Integers
from ...verilog.signals import Literal
from .text import Operand, extended

STATE = "state"
"""The register, in each module that has elements of state."""
KEPT = "kept"
"""The signal that is 1 in the clock in which state changes."""


@dataclass
class State:
    """State of a program: its port, its elements as a stream would carry them, and the nodes of the elements.

    The nodes `following` have the state after a frame, and `initial` has the elements that the state begins with.
    """

    port: Port[Fixed]
    register: Stream
    nodes: Integers
    following: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    initial: list[int] = field(default_factory=list)

    def bits(self, live: NDArray[np.bool_]) -> int:
        """Return the number of bits of the elements that are live."""
        return self.register.element_bits * int(live[self.nodes].sum())

    def lines(self, nodes: Sequence[int], signal: Callable[[int], Operand]) -> tuple[list[str], list[str]]:
        """Return the Verilog that declares the register of some elements of state, and that loads it with the signals
        of the nodes that follow; the first element is in the lowest bits.
        """
        bits = self.register.element_bits
        places = np.searchsorted(self.nodes, nodes)[::-1].tolist()
        begins = ",\n".join(f"        {Literal(self.initial[place]).slice(0, bits)}" for place in places)
        follows = ",\n".join(
            f"                {extended(signal(int(self.following[place])), bits)}" for place in places
        )
        declared = [f"    reg [{bits * len(places) - 1}:0] {STATE};", f"    initial {STATE} = {{", begins, "    };"]
        return declared, [f"            {STATE} <= {{", follows, "            };"]
