"""The command `circuitize accuracy` prints the errors of an integer program against float64, wire by wire, and finds
formats that meet a limit.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Mapping, Sequence

from circuitize.api.accuracy import accuracy
from circuitize.api.targets.registry import TARGETS
from circuitize.circuits.accuracy import WireError
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file
from circuitize.circuits.program import Program, as_integers

from .loading import read_program, save_without_examples
from .output import print_json, say, show


def run(options: Namespace) -> int:
    """Report the errors of a program on its own examples, in its own formats or in formats that meet a limit on errors
    or cost.
    """
    if options.target_error and options.target_cost:
        raise CircuitizeError("expected --target-error or --target-cost, found both; give one of them")
    errors = [_amount(text, "--target-error") for text in options.target_error or ()]
    cost = _cost(options.target_cost) if options.target_cost else None
    require_file(options.output)
    given = read_program(options.program, options=options)
    if as_integers(given) is not None:
        raise CircuitizeError(
            f"{options.program}: expected a program of reals, to compare with float64, found one of integers; "
            "name the file.py:name that it was quantized from"
        )
    found = accuracy(given, errors=errors, cost=cost, progress=show)
    integers, tensors = found.report.integers, found.report.tensors
    for path in filter(None, (options.output, options.save_program)):
        save_without_examples(integers, path)
    if options.json:
        print_json(found.as_json())
        return 0
    exact = sum(not error.measured for error in tensors)
    say(
        f"{options.program}: {len(tensors)} tensors, {exact} of them exact, on {len(given.examples)} examples; "
        f"{_bits(integers)}, digest {found.digest}"
    )
    if found.fitted:
        say(f"given with {_bits(given)}")
        _print_costs(found.costs)
    say("outputs, against float64")
    _print_errors([(error.provenance.part, error) for error in found.report.outputs.values()])
    worst = sorted((e for e in tensors if e.measured), key=lambda error: error.bits_kept)[: options.wires]
    say(f"tensors that keep the fewest bits, {len(worst)} of {len(tensors)}")
    _print_errors([(f"{error.operation} in {error.provenance}", error) for error in worst])
    if options.output is not None:
        say(f"wrote {options.output}")
    return 0


def _amount(text: str, option: str) -> tuple[str | None, float]:
    """Return the name and the number in a text NAME=NUMBER, or None and the number in a text that is a number alone."""
    name, equals, number = text.rpartition("=")
    try:
        amount = float(number)
    except ValueError:
        amount = math.nan
    if not (math.isfinite(amount) and amount >= 0) or (equals and not name):
        raise CircuitizeError(
            f"{option}: expected a number of at least 0, or NAME=NUMBER, found {text!r}; write 1e-3, say"
        )
    return name or None, amount


def _cost(text: str) -> tuple[str, float]:
    name, most = _amount(text, "--target-cost")
    if name is not None and name not in TARGETS:
        raise CircuitizeError(
            f"--target-cost: expected a target among {', '.join(TARGETS)}, found {name!r}; name one of these"
        )
    return name or "r1cs", most


def _bits(program: Program) -> str:
    return f"{program.precision.fraction_bits} fraction bits, {program.precision.significant_bits} significant bits"


def _print_costs(costs: Mapping[str, Mapping[str, int]]) -> None:
    rows = [(f"{name} {TARGETS[name].measure}", own) for name, own in costs.items()]
    wide = max((len(title) for title, _ in rows), default=0)
    say(f"{'cost':<{wide + 2}}  {'as given':>15}  {'chosen':>15}")
    for title, own in rows:
        shown = (f"{own[key]:,}" if key in own else "none" for key in ("given", "chosen"))
        say(f"  {title:<{wide}}" + "".join(f"  {count:>15}" for count in shown))


def _print_errors(rows: Sequence[tuple[str, WireError]]) -> None:
    """Print a row for each wire: its format, its greatest magnitude, both errors, and its number of correct bits."""
    wide = max((len(title) for title, _ in rows), default=0)
    heads = ("bits", "fraction", "greatest", "predicted", "measured", "bits right")
    say(f"  {'':<{wide}}" + "".join(f"  {head:>10}" for head in heads))
    for title, e in rows:
        numbers = (f"{value:.3g}" for value in (e.scale, e.predicted, e.measured))
        right = f"{e.bits_kept:.1f}" if math.isfinite(e.bits_kept) else "all" if e.bits_kept > 0 else "none"
        cells = (str(e.format.width), str(e.format.fraction_bits), *numbers, right)
        say(f"  {title:<{wide}}" + "".join(f"  {cell:>10}" for cell in cells))
