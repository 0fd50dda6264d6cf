"""The command `circuitize dispute` finds the first step, operation and element in which two trainings differ, and who
is right.
"""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.disputes.dispute import Dispute, dispute

from .output import print_json, print_shown, say, show


def run(options: Namespace) -> int:
    """Return exit status 0 if both trainings agree, and 1 if they differ."""
    prover = None if options.prover == "none" else options.prover
    found = dispute(options.a, options.b, prover=prover, proof=options.output, progress=show)
    if options.json:
        print_json(found.as_json())
        return 0 if found else 1
    if found:
        say(f"A and B agree on all of {found.steps:,} steps")
        return 0
    by = "this machine's own run of it" if found.proof is None else f"a proof of it ({found.proof.prover})"
    if found.proof is not None and found.proof.setup == "development":
        by += " by keys that were made here"
    verdicts = {name: "is right" if name in found.right else "is WRONG" for name in ("A", "B")}
    say(f"A and B differ at step {found.step:,}: {', '.join(f'{n} {v}' for n, v in verdicts.items())}, by {by}")
    print_shown([_rows(found)])
    return 1


def _rows(found: Dispute) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = [("A", found.a), ("B", found.b)]
    rows += [(f"fault of {name}", place) for name, place in found.places.items()]
    rows.append(
        ("found by", f"{found.asked} entries of each journal, {found.executed:,} steps from {found.since:,} on")
    )
    if found.proof is not None and found.proof.path is not None:
        rows.append(("proof", found.proof.path))
    folders = {"A": found.a, "B": found.b}
    rows += [("operation", f"ask for: circuitize testify {folders[n]} --step {found.step}") for n in found.testify]
    return rows
