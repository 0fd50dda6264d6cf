"""Leaves out each row of every small circuit of the tests, and counts what that does.

Usage: python benchmarks/audit.py [PART PARTS]   (every program, or every PARTS-th from number PART on)

All cases of both languages whose circuit has at most 200 rows, smaller ones of the others, and programs of several
operations (tests/support/small_circuits.py). An effect that is neither "undetermined" nor "accepted inputs" is listed
and makes the exit status 1; so does a wire that is not determined. About five minutes on one core.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from small_circuits import is_small, small_programs

from circuitize.backends.r1cs.audit import Removals, audit
from circuitize.backends.r1cs.checker import describe
from circuitize.backends.r1cs.emit import constraints


def main(part: int = 0, parts: int = 1) -> int:
    total: Counter[str] = Counter()
    programs, failed, slowest = 0, 0, 0.0
    for place, (name, program) in enumerate(small_programs()):
        if place % parts != part or not is_small(program):
            continue
        system, started = constraints(program), time.process_time()
        if not audit(system).determined:
            print(f"{name}: not determined")
            failed += 1
        effects: Counter[str] = Counter()
        for removal in Removals(system).every():
            effects[removal.effect] += 1
            if removal.effect not in ("undetermined", "accepted inputs"):
                print(f"{name}: {removal.effect} without {describe(system, removal.row, str)}")
                failed += 1
        took = time.process_time() - started
        programs, slowest = programs + 1, max(slowest, took)
        total += effects
        print(f"{name}: {system.constraints} rows, {dict(effects)}, {took:.1f} s", flush=True)
    print(f"{programs} programs, {total.total()} rows: {dict(total)}; the slowest took {slowest:.1f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
