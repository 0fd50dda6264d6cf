"""The command `circuitize audit` checks whether a circuit's inputs determine every other wire, and what each row is
for.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from circuitize.api.audit import Audit, audit
from circuitize.circuits.reading import Json

from .loading import load_program, require_no_choices
from .output import print_json, print_table, say, show
from .screen import one_line

MOST_OF_NAME = 200
"""The number of characters of a wire's name that are printed; --json has all."""

SHOWN = 20
"""The number of wires that are printed; --json lists all."""


def run(options: Namespace) -> int:
    """Return exit status 0 if every wire is determined (and the purpose of every row is known), and 1 if some wire is
    not determined or may not be.
    """
    path = Path(options.program)
    written = path.is_dir() or path.suffix == ".r1cs"
    if written:
        require_no_choices(options.program, options)
    source = path if written else load_program(options.program, options=options)
    found = audit(source, each_row=options.each_row, progress=show)
    if options.json:
        print_json({name: value for name, value in vars(found).items() if value is not None})
    else:
        _print(options.program, found)
        _print_rows(found.rows or [])
    return int(not found)


def _print(source: str, found: Audit) -> None:
    wires, others = found.open, found.wires - 1 - found.inputs
    state = "determine every other wire" if found.determined else f"leave {len(wires):,} of {others:,} wires open"
    say(f"{source}: {found.inputs:,} inputs {state}, {found.constraints:,} rows")
    print_table([(rule, count) for rule, count in found.rules.items() if rule != "given"])
    for row in found.impossible:
        say(f"  no assignment satisfies {row}")
    for told in wires[:SHOWN]:
        values = f": {told['values'][0]} or {told['values'][1]}" if "values" in told else ""
        say(f"  {told['state']}: wire {told['wire']}, {one_line(told['name'], MOST_OF_NAME)}{values}")
    if len(wires) > SHOWN:
        say(f"  and {len(wires) - SHOWN:,} more (--json lists them)")


def _print_rows(rows: list[Json]) -> None:
    for row in rows:
        effect = row["effect"]
        if effect == "undetermined":
            told = (
                f"leaves wire {row['wire']['wire']} undetermined, {one_line(row['wire']['name'], MOST_OF_NAME)}: "
                f"{' or '.join(row['values'])}"
            )
        elif effect == "accepted inputs":
            told = f"lets in the inputs {', '.join(row['inputs'])}"
        elif effect == "implied":
            told = "changes nothing, the row follows from the others"
        else:
            told = "could not be told"
        say(f"  without {row['name']}: {told}")
