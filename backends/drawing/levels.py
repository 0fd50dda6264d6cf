"""The column of each box, counted from the left: behind the boxes that it reads, near the boxes that read its wires."""

from __future__ import annotations

from .diagram import Diagram


def levels(diagram: Diagram) -> list[int]:
    """Return the longest way to each box from a box that reads nothing; then boxes move toward their readers.

    A box moves to a later column if it hands on at least as many arrays as it takes from other boxes, so that wires get
    no longer. Finding the levels takes time linear in boxes and wires.
    """
    boxes, written, read = diagram.boxes, diagram.written, diagram.read
    found = [0] * len(boxes)
    for number, box in enumerate(boxes):
        found[number] = max((found[written[wire]] + 1 for wire in box.sources if wire in written), default=0)
    for number in reversed(range(len(boxes))):
        box = boxes[number]
        if not box.edges:
            continue
        readers = [found[reader] for wire in box.targets for reader in read.get(wire, ())]
        taken = len({wire for wire in box.sources if wire in written})
        if readers and taken <= len(box.targets):
            found[number] = max(found[number], min(readers) - 1)
    return found
