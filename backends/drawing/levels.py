"""The column of each box in a picture, counted from the left: to the right of the boxes whose wires it reads, and near
the boxes that read its own wires.
"""

from __future__ import annotations

from .diagram import Diagram


def levels(diagram: Diagram) -> list[int]:
    """Return the column of each box: the length of the longest path to it from a box that reads no other, after which
    boxes are moved toward their readers.

    A box moves to a later column if it writes at least as many arrays as it reads from other boxes, so that wires do
    not become longer in total. Finding the columns takes time linear in the numbers of boxes and wires.
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
