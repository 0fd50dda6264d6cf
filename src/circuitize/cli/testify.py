"""`circuitize testify`: run a step of one's own training again, and write the value of every wire for a referee."""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.disputes.testimony import testify

from .output import print_json, say, show


def run(options: Namespace) -> int:
    """Return 0 if this machine repeats the step that the journal records; 1 if it does not, and nothing is written."""
    found = testify(options.train, options.step, progress=show)
    if options.json:
        print_json(found.as_json())
    elif found:
        say(f"wrote every wire of step {found.step:,} to {found.path}")
    else:
        say(f"this machine does not repeat step {found.step:,} as the journal has it; nothing is written")
    return 0 if found else 1
