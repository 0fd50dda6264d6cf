"""The command `circuitize testify` runs a step of the user's own training again, and writes the value of every wire for
a referee.
"""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.disputes.testimony import testify

from .output import print_json, say, show


def run(options: Namespace) -> int:
    """Return exit status 0 if this machine reproduces the step that the journal records; otherwise return 1, and write
    nothing.
    """
    found = testify(options.train, options.step, progress=show)
    if options.json:
        print_json(found.as_json())
    elif found:
        say(f"wrote every wire of step {found.step:,} to {found.path}")
    else:
        say(f"this machine does not repeat step {found.step:,} as the journal has it; nothing is written")
    return 0 if found else 1
