"""The command `circuitize estimate` counts the sizes of a program's circuits for every target, or for the named
targets, before anything is emitted.
"""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.estimate import estimate, options_by_target
from circuitize.api.targets.native import MISSING
from circuitize.api.targets.registry import TARGETS

from .circuit_arguments import target_options
from .loading import load_program
from .output import print_json, print_shown, say, show


def run(options: Namespace) -> int:
    """Print the sizes that the emitted circuits would have."""
    own = target_options(options)
    wanted = options.target or []
    options_by_target(own, wanted)
    found = estimate(load_program(options.program, options=options), targets=wanted, progress=show, **own)
    if options.json:
        print_json({"digest": found.digest, "operations": found.operations, "targets": found.targets})
        return 0
    say(f"{options.program}: {found.operations} integer operations, digest {found.digest}")
    written = {name for name, target in TARGETS.items() if target.files is not None}
    left_out: dict[str, list[str]] = {}
    for name, reason in found.left_out.items():
        if name.partition(",")[0] in written or reason == MISSING:
            left_out.setdefault(reason, []).append(name)
    for name, target in TARGETS.items():
        if name in found.targets:
            print_shown(target.shown(found.targets[name]))
        for reason, names in left_out.items():
            if names[0].partition(",")[0] == name:
                say(f"{' and '.join(names)}: {reason}")
    return 0
