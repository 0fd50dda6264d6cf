"""The bytes that a root of a tensor proof binds besides the values: the list of its ports, and how often the root may
be opened.
"""

from __future__ import annotations

from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.ports import Listed, PortList

FLAGS, HIDDEN, CHUNKS = 0, 1, 1
"""The header of a list of ports: whether its root is for proofs in zero knowledge, and in how many chunks its data
are.
"""


def encoded(ports: PortList, openings: int | None = None) -> bytes:
    """Return the encoding of a list of ports, to which a root is bound by a hash. No two lists of ports have the same
    encoding: each part of it has a fixed length or is preceded by a count.

    A root for proofs in zero knowledge is made for a number of `openings`, which determine its size.
    """
    kind = (FLAGS, CHUNKS) if openings is None else (HIDDEN, CHUNKS, openings)
    return b"".join([*map(_number, (*kind, len(ports))), *map(_listed, ports)])


def _listed(port: Listed) -> bytes:
    name = port.name.encode("utf-8", "surrogatepass")
    interval = (port.fraction_bits, port.low, port.high)
    return _number(len(name)) + name + b"".join(map(_number, (*interval, len(port.shape), *port.shape, port.blocks)))


def _number(value: int) -> bytes:
    try:
        return value.to_bytes(8, "little", signed=True)
    except OverflowError:
        raise Unprovable(f"expected formats and shapes of numbers below 2^63, found {value}") from None
