"""Draws mutants of certified designs until so many of each are refused, and shows those equal that are not refused.

    python benchmarks/verilog_certificates.py small=250 head=250 checked=200 curve=200 step=105 digits=3

The first four designs are parallel (tests/support/parallel_networks.py); `step` is the folded training step of a 4-3-2
network, and `digits` that of examples/digits.py. A mutant is counted as refused if the checker of certificates refuses
it and its modules have other gates than the design's. Mutants that the checker accepts are compared with the design by
yosys and ABC (tests/support/verilog_equivalence.py). Exit status 1 if one of them is not shown to be equal.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import parallel_networks as networks  # noqa: E402
from certified_designs import certified, certified_step, compared, folded_project  # noqa: E402
from verilog_equivalence import Equality, Original  # noqa: E402
from verilog_mutants import RULES, Mutant, mutants  # noqa: E402

from circuitize.api.named import exact_named  # noqa: E402
from circuitize.backends.verilog.certificate import Refused, certificate  # noqa: E402
from circuitize.backends.verilog.certificate.checker.check import check  # noqa: E402
from circuitize.backends.verilog.certificate.checker.claims import digests  # noqa: E402
from circuitize.backends.verilog.project import Project  # noqa: E402
from circuitize.sims.rtl.frames import bound_somehow  # noqa: E402

Certified = tuple[Project, dict[str, Any]]


def digits() -> Certified:
    """The training step of the digits network, folded."""
    made = bound_somehow(exact_named(str(ROOT / "examples" / "digits.py:step")).integer)
    project = folded_project(made.program, made.initial)
    return project, certificate(project)


DESIGNS: dict[str, Callable[[], Certified]] = {
    "small": lambda: certified(networks.small),
    "head": lambda: certified(networks.head),
    "curve": lambda: certified(networks.curve),
    "checked": lambda: certified(networks.checked),
    "step": certified_step,
    "digits": digits,
}
REFUSED, REFUSED_EQUAL, WRONG = "refused", "refused, same gates", "not shown equal"
COLUMNS = [REFUSED, REFUSED_EQUAL, *Equality, WRONG]
"""What may become of a mutant."""


@dataclass
class Tried:
    """What became of mutants, by their kinds, and how many CPU-seconds each kind took."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(RULES, 0.0))

    def add(self, other: Tried) -> None:
        """Count the mutants of another design as well."""
        self.counts += other.counts
        self.seconds = {kind: spent + other.seconds[kind] for kind, spent in self.seconds.items()}

    def row(self, name: str, kind: str | None = None) -> str:
        """A line of a table of the mutants of one kind, or of all."""
        found = [sum(n for (k, c), n in self.counts.items() if c == column and kind in (k, None)) for column in COLUMNS]
        spent = sum(spent for k, spent in self.seconds.items() if kind in (k, None))
        return f"| {name} | {sum(found)} | {' | '.join(map(str, found))} | {spent:.0f} |"


def seconds() -> float:
    """The CPU-seconds of this process and of those that it started."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def outcome(mutant: Mutant, design: Certified, original: Original) -> str:
    """The column of a mutant. Only a lost sign can leave the gates of a refused mutant as they were."""
    try:
        check({**design[1], "files": digests(mutant.files)}, mutant.files)
    except Refused:
        return REFUSED_EQUAL if mutant.kind == "sign" and original.same_gates(mutant.files) else REFUSED
    return original.equality(mutant.files) or WRONG


def tried(name: str, wanted: int, seed: int, most: float) -> Tried:
    """Draw mutants of one design until so many are refused, or until so many CPU-seconds have passed."""
    design, made = DESIGNS[name](), Tried()
    with tempfile.TemporaryDirectory() as folder:
        original = compared(*design, Path(folder))
        for mutant in mutants(design[0].design.files, seed):
            start = seconds()
            column = outcome(mutant, design, original)
            made.counts[mutant.kind, column] += 1
            made.seconds[mutant.kind] += seconds() - start
            if column != REFUSED:
                print(f"{name}: {column}: {mutant}", flush=True)
            refused = sum(count for (_, found), count in made.counts.items() if found == REFUSED)
            if refused >= wanted or sum(made.seconds.values()) > most:
                return made
    raise AssertionError


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutants of designs that certificates are of.")
    parser.add_argument("designs", nargs="+", metavar="DESIGN=REFUSED", help=f"of {', '.join(DESIGNS)}")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1e9, help="the most CPU-seconds for each design")
    options = parser.parse_args()
    found, whole = {}, Tried()
    for given in options.designs:
        name, _, wanted = given.partition("=")
        found[name] = tried(name, int(wanted), options.seed, options.seconds)
        whole.add(found[name])
        print(found[name].row(name), flush=True)
    for title, rows in (
        ("design", [*(one.row(name) for name, one in found.items()), whole.row("all")]),
        ("kind", [whole.row(kind, kind) for kind in RULES]),
    ):
        titles = [title, "drawn", *COLUMNS, "seconds"]
        print("\n".join([f"\n| {' | '.join(titles)} |", "|---" * len(titles) + "|", *rows]))
    return 1 if any(column == WRONG for _, column in whole.counts) else 0


if __name__ == "__main__":
    sys.exit(main())
