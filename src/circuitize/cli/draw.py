"""The command `circuitize draw` draws a program as a picture, folded by part."""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.drawing import draw, require_ending
from circuitize.circuits.folder import require_file

from .loading import quantized, read_program
from .output import print_json, progress, say


def run(options: Namespace) -> int:
    """Write the picture of the program, or, with --integers, of the integer program to which it is quantized."""
    require_ending(options.output)
    require_file(options.output)
    program = read_program(options.program, options=options)
    if options.integers:
        program = quantized(program).integer
    with progress("drawing"):
        said = {name: getattr(options, name) for name in ("unfolded", "depth", "types", "cost")}
        made = draw(program, **said, title=options.program)
        made.save(options.output)
    size = options.output.stat().st_size
    if options.json:
        print_json({"boxes": made.boxes, "operations": made.arrow.edge_count, "bytes": size})
        return 0
    say(f"{options.output}: {made.boxes:,} boxes of {made.arrow.edge_count:,} operations, {size:,} bytes")
    return 0
