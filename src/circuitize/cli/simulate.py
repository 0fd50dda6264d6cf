"""The command `circuitize simulate` puts frames through emitted Verilog, and compares the outputs with the integer
executor's.
"""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.simulation import Simulated, simulate

from .output import print_json, print_table, remark, say, show


def run(options: Namespace) -> int:
    """Return exit status 0 if every frame's outputs equal the integer executor's, and 1 if a frame's outputs differ."""
    found = simulate(
        options.design,
        frames=options.frames,
        vectors=options.vectors,
        seed=options.seed,
        simulator=options.simulator,
        progress=show,
    )
    compared = found.compared
    if not options.json:
        _show(found, options)
        return 1 if compared.mismatches else 0
    report = {
        "vectors": compared.vectors,
        "undefined": compared.undefined,
        "mismatches": compared.mismatches,
        "targets": ["verilog"],
        "first_difference": compared.first_difference,
        "scheduler": found.scheduler,
        "simulator": options.simulator,
        "seed": options.seed,
        "latency_cycles": found.latency_cycles,
        "interval_cycles": found.interval_cycles,
        "accuracy": {name: sum(right) / len(right) for name, right in found.right.items()},
        "digest": found.digest,
    }
    print_json(report)
    return 1 if compared.mismatches else 0


def _show(found: Simulated, options: Namespace) -> None:
    compared = found.compared
    state = f"DIFFERS on {compared.mismatches}" if compared.mismatches else "equals the integer executor"
    made = f"{found.scheduler} design in {options.simulator}"
    counts = f"{compared.vectors} frames, {compared.mismatches} mismatches, {compared.undefined} undefined"
    say(f"{options.design}: {made} {state}, {counts}")
    if compared.first_difference:
        say(f"  first difference: {compared.first_difference}")
    rows: list[tuple[str, object]] = [("latency, cycles", found.latency_cycles)]
    if found.interval_cycles is not None:
        rows.append(("cycles a frame", f"{found.interval_cycles:,.10g}"))
    for name, right in found.right.items():
        rows.append((f"accuracy of {name}", f"{sum(right) / len(right):.1%} ({sum(right)} of {len(right)})"))
    print_table(rows)
    if compared.undefined == compared.vectors:
        remark("the program has a value on none of these frames; give it examples")
