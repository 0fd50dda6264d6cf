"""This module draws arrows and programs."""

from __future__ import annotations

from circuitize.backends.drawing.cost import MEASURES as MEASURES
from circuitize.backends.drawing.cost import counted
from circuitize.backends.drawing.drawing import DEPTH as DEPTH
from circuitize.backends.drawing.drawing import Drawing, drawing
from circuitize.backends.drawing.drawing import require_ending as require_ending
from circuitize.circuits.cost import products
from circuitize.circuits.errors import CircuitizeError, TypingError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.simplify import simplify

from .estimate import MOST_COUNTED


def draw(
    given: Arrow | Program,
    *,
    unfolded: bool = False,
    depth: int | None = DEPTH,
    types: bool = False,
    cost: str | None = None,
    title: str = "",
) -> Drawing:
    """Draw an arrow or a program: the picture shows itself in a notebook, and `.svg`, `.dot` and `.save(path)` export
    it.

    In a folded picture, each layer is one box, and so are its derivative and its update; layers nested more than
    `depth` names deep belong to the box of the layer around them, and with None every layer has a box. If `unfolded` is
    true, each operation of the picture is a box. The argument `types` writes formats and ranges beside the wires of the
    picture.

    The argument `cost` colours the boxes of an integer program (a program of reals is quantized first) by "rows"
    (constraints of R1CS), "lookups" (of Plonkish) or "bits" (bits that rounding drops from each element).

    An arrow without a program is drawn without simplification. In the picture of a program, operations that occur
    twice, such as the forward pass in the program of a step, are drawn once; `draw(program.arrow)` draws them twice.
    Raise TypingError for an object that is neither an arrow nor a program, for a depth below 1, and for the cost of an
    arrow without a program; raise CircuitizeError for an unknown cost, or if the target has no circuit of the program.
    """
    if depth is not None and (not isinstance(depth, int) or isinstance(depth, bool) or depth < 1):
        raise TypingError(f"draw: expected a depth of at least 1, found {depth!r}; write depth=2, or None for all")
    costs = None
    if isinstance(given, Program):
        if cost is not None:
            given = quantize(given)
            _require_countable(given, cost)
            costs = cost, counted(given, cost)
        # What an integer program costs is known by its own operations.
        arrow = given.arrow if cost is not None else simplify(given.arrow)
        inputs, outputs = ([port.name for port in ports] for ports in (given.inputs, given.outputs))
    elif isinstance(given, Arrow):
        if cost is not None:
            raise TypingError("draw: expected a program to colour by cost, found an arrow; say who learns its values")
        arrow = given
        inputs = [f"input {place}" for place in range(len(arrow.inputs))]
        outputs = [f"output {place}" for place in range(len(arrow.outputs))]
    else:
        raise TypingError(f"draw: expected an arrow or a program, found {type(given).__name__}; see trace")
    return drawing(
        arrow, inputs, outputs, fold=not unfolded, depth=depth, types=types, cost=costs, title=title or repr(given)
    )


def _require_countable(program: IntegerProgram, cost: str) -> None:
    """Raise CircuitizeError if counting a picture's costs would mean emitting a large circuit, which an estimate
    avoids.
    """
    named = products(program.arrow)
    if cost in ("rows", "lookups") and named > MOST_COUNTED:
        raise CircuitizeError(
            f"draw: expected at most {MOST_COUNTED:,} products to count {cost} of, found {named:,}; colour by bits, or "
            "lower the batch size"
        )
