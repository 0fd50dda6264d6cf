"""The command `circuitize plan` finds the best ways to build a program, by format, partition and target."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from circuitize.api.planning.quantities import QUANTITIES, TAKEN

from .loading import read_program
from .output import print_json, print_shown, show
from .parameters import count, output, repeated
from .program_arguments import program


def plan(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize plan`."""
    known = f"({', '.join(QUANTITIES)}; error:OUTPUT is of one output)"
    program(command)
    repeated(command, "--objective", "NAME[,NAME]", f"what is to be little {known}; repeatable")
    repeated(command, "--limit", "NAME=NUMBER", "at most so much: luts=2000, error=1e-3, memory=2GB; repeatable")
    repeated(command, "--target", "NAME", f"this target alone ({', '.join(TAKEN)}; default: all that fit); repeatable")
    for flag, metavar, kind, default, told in (
        ("--steps", "N", count, 1, "how many runs are proved (default: 1); tensor proofs have several each"),
        ("--dataset-size", "N", count, None, "how many examples their batches are drawn from"),
        ("--bits", "LOW:HIGH", str, "4:18", "the fraction bits that are tried, both ends included (default: 4:18)"),
        ("--held-out", "FILE.npz", Path, None, "measure errors on these rows, by input name (default: the examples)"),
        ("--within", "SECONDS", count, 60, "end the search after that (default: 60)"),
        ("--plot", "FILE.svg", Path, None, "draw the front there"),
        ("--point", "N", count, 1, "the point of the front that -o builds (default: 1)"),
    ):
        command.add_argument(flag, metavar=metavar, type=kind, default=default, help=told)
    output(command, "-o", "DIR", "write a point's program, inputs and commands, and the front", required=False)


def run(options: Namespace) -> int:
    """Print the front of designs, and write the chosen plan; if the limits contradict each other, explain this and
    return exit status 1.
    """
    from circuitize.api.planning.request import answered, requested

    request = requested(options.objective, options.limit, options.bits, options.output, options.plot)
    given = read_program(options.program, options=options)
    wanted = {name: getattr(options, name) for name in ("steps", "dataset_size", "held_out", "within")}
    found, written = answered(request, given, options.target, options.point, show, **wanted)
    print_json(found.as_json()) if options.json else print_shown((*found.shown(), *written))
    return 0 if found else 1
