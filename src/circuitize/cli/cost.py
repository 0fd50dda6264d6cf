"""The command `circuitize cost` counts the words that a program moves between memories, as a cost for a cache, for an
FPGA, and for the prover of a run.
"""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.costs.shown import readings, shown

from .loading import read_program
from .output import print_json, print_shown, say, show

READINGS = ("memory", "word", "lanes", "words_per_clock", "steps")


def run(options: Namespace) -> int:
    """Print the number of words that the program moves between memories."""
    program = read_program(options.program, options=options)
    found, made = readings(program, **{name: getattr(options, name) for name in READINGS}, progress=show)
    if options.json:
        print_json(made)
        return 0
    say(f"{options.program}:")
    print_shown(shown(found, made))
    return 0
