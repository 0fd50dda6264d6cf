"""A query about designs: the quantities to minimise, and limits on quantities."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import Program

from .quantities import ERRORS, QUANTITIES, TAKEN, base, having

MOST_LIMITS = 12
"""The most limits of a query: since every set of limits is tried to explain a conflict."""

SCALES = {"": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


@dataclass(frozen=True)
class Query:
    """A query about designs: the quantities to minimise, the limits by quantity, and the targets that are searched, in
    order.
    """

    objectives: tuple[str, ...]
    limits: Mapping[str, float]
    targets: tuple[str, ...]

    @property
    def named(self) -> tuple[str, ...]:
        """Return the names of all quantities in the query, the objectives first."""
        return (*self.objectives, *(name for name in self.limits if name not in self.objectives))


def query(
    program: Program, objectives: Collection[str], limits: Mapping[str, float], targets: Collection[str], real: bool
) -> Query:
    """Return a query that is valid for a program; `real` says whether the program is one of reals, whose quantization
    has errors.

    Without `targets`, the query is about all targets for which the named quantities are known. Raise CircuitizeError
    for an invalid query.
    """
    asked = [objectives] if isinstance(objectives, str) else [*objectives]
    if not asked:
        raise CircuitizeError(f"expected at least one objective among {', '.join(QUANTITIES)}, found none; name one")
    outputs = [port.name for port in program.outputs]
    for name in (*asked, *limits):
        _require_quantity(name, outputs, real)
    for name, most in limits.items():
        if not (isinstance(most, int | float) and math.isfinite(most) and most >= 0):
            raise CircuitizeError(f"limit {name}: expected a number of at least 0, found {most!r}; write 2000, say")
    if len(limits) > MOST_LIMITS:
        raise CircuitizeError(f"expected at most {MOST_LIMITS} limits, found {len(limits)}; leave some out")
    named = (*dict.fromkeys(asked), *limits)
    given = [targets] if isinstance(targets, str) else [*targets]
    return Query(tuple(dict.fromkeys(asked)), dict(limits), _targets(named, given))


def _require_quantity(name: str, outputs: Iterable[str], real: bool) -> None:
    own, colon, output = name.partition(":")
    if own not in QUANTITIES or (colon and own not in ERRORS):
        raise CircuitizeError(f"expected a quantity among {', '.join(QUANTITIES)}, found {name!r}; correct it")
    if own in ERRORS and not real:
        raise CircuitizeError(
            f"{name}: expected a program of reals, to compare with float64, found one of integers; leave it out, or "
            "give the file.py:name that the program was quantized from"
        )
    if colon and output not in outputs:
        raise CircuitizeError(f"{name}: expected an output among {', '.join(outputs)}, found {output!r}; correct it")


def _targets(named: Collection[str], given: Collection[str]) -> tuple[str, ...]:
    for target in given:
        if target not in TAKEN:
            raise CircuitizeError(f"expected targets among {', '.join(TAKEN)}, found {target!r}; correct it")
        if lacking := [name for name in named if target not in having([name])]:
            raise CircuitizeError(
                f"expected quantities that {target} has ({', '.join((*ERRORS, *TAKEN[target]))}), found "
                f"{lacking[0]!r}; leave it out, or ask for another target"
            )
    found = tuple(target for target in having(named) if not given or target in given)
    if not found:
        first, other = next((a, b) for a in named for b in named if not having([a, b]))
        raise CircuitizeError(
            f"expected quantities that one target has, found {first}, which {_and(having([first]))} has, and {other}, "
            f"which {_and(having([other]))} has; ask for one of them"
        )
    return found


def _and(names: Iterable[str]) -> str:
    return " or ".join(names)


def limit(text: str) -> tuple[str, float]:
    """Return the limit that a text NAME=NUMBER states, such as luts=2000, error:loss=1e-4 or memory=2GB. Raise
    CircuitizeError for a text that does not have the form NAME=NUMBER.
    """
    name, _, number = text.partition("=")
    found = re.fullmatch(r"([0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?)([kMGT]B)?", number)
    quantity = QUANTITIES.get(base(name))
    if found is None or (found[2] and not (quantity is not None and quantity.bytes)):
        sized = " (of bytes 500kB, 2GB)" if quantity is not None and quantity.bytes else ""
        raise CircuitizeError(f"limit: expected NAME=NUMBER{sized}, found {text!r}; write luts=2000 or error=1e-3, say")
    return name, float(found[1]) * SCALES[found[2] or ""]


def limits_of(texts: Iterable[str]) -> dict[str, float]:
    """Return the limits that texts of the form NAME=NUMBER state. Raise CircuitizeError for a text that does not have
    the form NAME=NUMBER, and for two limits on one quantity.
    """
    found: dict[str, float] = {}
    for name, most in map(limit, texts):
        if name in found:
            raise CircuitizeError(f"limit {name}: expected one limit, found two; leave one out")
        found[name] = most
    return found
