"""The sections of a report about a program: its picture, who learns the values of its ports, its sizes, its errors, and
the words that it moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from circuitize.backends.drawing.folding import part_of
from circuitize.backends.report.html import Markup, picture, section, table, tag
from circuitize.circuits.accuracy import Report as Accuracy
from circuitize.circuits.accuracy import WireError
from circuitize.circuits.accuracy import report as accuracy
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.phases import Progress
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

from ..costs.cost import cost
from ..drawing import DEPTH, draw
from ..estimate import estimate
from ..exact import Exact
from ..targets.contract import Shown
from ..targets.registry import TARGETS

LEARN = {
    Visibility.PUBLIC: "public: everyone learns it",
    Visibility.COMMITTED: "committed: a root binds it, and does not tell it",
    Visibility.PRIVATE: "hidden: a proof says only that there is such a value",
}


def what_it_computes(made: Exact, title: str) -> Markup:
    """Return the section of a report with the program's folded picture, and the number of the program's operations
    before and after it is quantized.
    """
    drawing = draw(made.given, title=title)
    operations = drawing.arrow.edge_count
    return section(
        "What it computes",
        tag(
            "p",
            f"{operations:,} operations in {drawing.boxes:,} parts: layers blue, derivatives orange, updates green, "
            "outputs violet. As integers they are ",
            made.integer.arrow.edge_count,
            " operations.",
        ),
        picture(drawing.svg, f"Diagram of {title}: {drawing.boxes} parts of {operations} operations"),
    )


def who_learns_what(program: IntegerProgram) -> Markup:
    """Return the section of a report with a table of all ports: their formats, and who learns their values."""
    rows = [
        (side, port.name, port.role.value, _shape(port.format), _range(port.format), LEARN[port.visibility])
        for side, ports in (("input", program.inputs), ("output", program.outputs))
        for port in ports
    ]
    counts = [
        f"{sum(port.visibility is seen for port in (*program.inputs, *program.outputs))} {word}"
        for seen, word in (
            (Visibility.PUBLIC, "public"),
            (Visibility.COMMITTED, "committed"),
            (Visibility.PRIVATE, "hidden"),
        )
    ]
    return section(
        "What is public, committed and hidden",
        tag("p", f"{', '.join(counts)}. Values are integers of a format: steps of 2^-bits in a range."),
        table(("", "name", "role", "shape", "range and step", "who learns it"), rows),
    )


def _shape(format: Fixed) -> str:
    return " x ".join(f"{extent:,}" for extent in format.shape) or "number"


def _range(format: Fixed) -> str:
    low, high = (f"{end * 2.0**-format.fraction_bits:.9g}" for end in (format.low, format.high))
    return f"{low} to {high}, 2^-{format.fraction_bits}" if format.fraction_bits else f"{low} to {high}, whole"


def sizes(made: Exact, progress: Progress) -> Markup:
    """Return the section of a report with the program's sizes for every target, as the emitters count them."""
    try:
        found = estimate(made, progress=progress)
    except CircuitizeError as error:
        return section("Sizes", tag("p", f"None: {error}"))
    parts: list[Markup] = []
    rows: list[tuple[str, str, int]] = []
    for name, own in found.targets.items():
        target = TARGETS[name]
        counted = own.get(target.measure)
        rows.append((name, target.measure, counted if isinstance(counted, int) else target.cost(made.integer)))
        parts.append(tag("details", tag("summary", f"{name}: all sizes"), *_shown(target.shown(own))))
    missing = [(name, reason) for name, reason in found.left_out.items()]
    return section(
        "Sizes by target", table(("target", "counts", "how many"), rows), *parts, table(("left out", "why"), missing)
    )


def _shown(content: Iterator[Shown]) -> Iterator[Markup]:
    for part in content:
        if isinstance(part, str):
            yield tag("h3", part)
        else:
            yield table((), [(name, value if isinstance(value, int | float) else str(value)) for name, value in part])


def errors(made: Exact, progress: Progress) -> Markup:
    """Return the section of a report with the errors of the integer program against float64, by layer, on the program's
    examples.
    """
    title = "Errors by layer"
    if isinstance(made.given, IntegerProgram):
        return section(title, tag("p", "Not known: the program of reals that these integers stand for is not here."))
    try:
        found = accuracy(made.given, progress)
    except CircuitizeError as error:
        return section(title, tag("p", f"Not known: {error}"))
    parts: dict[str, list[WireError]] = {}
    for tensor in (tensor for tensor in found.tensors if tensor.operation != "input"):
        parts.setdefault(part_of(tensor.provenance, DEPTH).title, []).append(tensor)
    return section(
        title,
        tag(
            "p",
            f"The greatest differences of the integers from float64 over {len(made.given.examples):,} examples, beside "
            "those that the formats predict; and how many bits of the greatest value are right, in the worst array.",
        ),
        _outputs(found),
        table(
            ("part", "arrays", "predicted", "measured", "bits right", "worst in"),
            [(name, *_worst(own)) for name, own in parts.items()],
        ),
    )


def _outputs(found: Accuracy) -> Markup:
    rows = [(name, error.scale, error.predicted, error.measured, _bits(error)) for name, error in found.outputs.items()]
    return table(("output", "greatest value", "predicted", "measured", "bits right"), rows)


def _worst(own: Sequence[WireError]) -> tuple[int, float, float, str, str]:
    worst = min(own, key=lambda error: error.bits_kept)
    place = worst.provenance
    where = f"{worst.operation} ({place.file}:{place.line})" if place.file else worst.operation
    return len(own), max(e.predicted for e in own), max(e.measured for e in own), _bits(worst), where


def _bits(error: WireError) -> str:
    return f"{error.bits_kept:.1f}" if math.isfinite(error.bits_kept) else "all" if error.bits_kept > 0 else "none"


def words(made: Exact, progress: Progress) -> Markup:
    """Return the section of a report with the words that the program moves between memories."""
    found = cost(made.given, progress=progress)
    cache, clocks = found.bytes(), found.cycles()
    rows = [
        ("words moved, operations that share tiles", found.moved),
        ("words moved, each operation by itself", found.moved_apart),
        ("words held at most", found.held),
        ("products of contractions", found.products),
        ("moved in words of 4 bytes", amount_of_bytes(cache["moved_bytes"])),
        (f"clocks of an FPGA with {clocks['lanes']} lanes, at least", clocks["cycles_at_least"]),
    ]
    return section("Words moved", tag("p", f"Through a memory of {found.memory:,} words."), table((), rows))
