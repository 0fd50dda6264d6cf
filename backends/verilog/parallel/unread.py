"""The bits of signals that a module does not read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...verilog.signals import Signal

READ = re.compile(r"([A-Za-z_]\w*)(?:\[(\d+)(?::(\d+))?\])?")


def unread(signals: Iterable[Signal], texts: Iterable[str]) -> list[str]:
    """Return declarations of wires that read those bits of signals which no other text reads, so that linters do not
    report the bits as forgotten.
    """
    missing = {signal.name: (1 << signal.width) - 1 for signal in signals}
    for text in texts:
        for name, high, low in READ.findall(text):
            if name in missing:
                last = int(low) if low else int(high) if high else 0
                mask = ((2 << (int(high) - last)) - 1) << last if high else -1
                missing[name] &= ~mask
    found: list[str] = []
    for name, mask in missing.items():
        while mask:
            low = (mask & -mask).bit_length() - 1
            count = (~(mask >> low) & ((mask >> low) + 1)).bit_length() - 1
            found.append(f"    wire unused{len(found)} = &{{1'b0, {name}[{low + count - 1}:{low}]}};")
            mask &= ~(((1 << count) - 1) << low)
    return found
