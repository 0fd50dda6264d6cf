"""The state of a program: the held inputs that an output of the same name updates, and the values they begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Values
from circuitize.circuits.port import Port
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Raw, to_integers


def initial_values(ports: Sequence[Port[Fixed]], initial: Mapping[str, Values]) -> dict[str, NDArray[np.int64]]:
    """Return the initial values of state by the name of its port, after checking them.

    Raise CircuitizeError for a value that is missing or misshapen or outside its format, and for one of something else
    than state.
    """
    names = [port.name for port in ports]
    for name in names:
        if name not in initial:
            raise CircuitizeError(f"expected an initial value for state {name!r}, found {sorted(initial)}; add it")
    for name in initial:
        if name not in names:
            raise CircuitizeError(
                f"expected the name of state ({', '.join(names) or 'none'}), found {name!r}; remove it"
            )
    return {port.name: to_integers(port, Raw(initial[port.name]), "initial values") for port in ports}
