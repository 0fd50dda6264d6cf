"""`circuitize estimate`: the sizes of every target, before anything is emitted."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from circuitize.circuits.cost import products
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file
from circuitize.circuits.program import Program

from .hardware import HARDWARE_SIZES
from .hardware_sizes import hardware, plot
from .loading import load_program
from .output import print_json, print_table, progress, say
from .plonkish import SHOWN, plonkish_sizes

MOST_COUNTED = 1 << 26
"""Products beyond which constraints are not counted: the emitter counts them, in time and memory as they are many."""

MOST_PARTS = 12
"""Parts of a tensor proof that are shown; --json has all."""

SIZES = ("constraints", "wires", "public", "nonzeros", "input_range_constraints")


def run(options: Namespace) -> int:
    """Count what the emitters would emit; the counts are theirs, so they cannot differ."""
    from circuitize.backends.r1cs.cost import estimate
    from circuitize.backends.r1cs.field import BN254

    require_file(options.plot)
    loaded = load_program(options.program)
    named = products(loaded.integer.arrow)
    countable = named <= MOST_COUNTED
    with progress("counting constraints"):
        r1cs = estimate(loaded.integer) if countable else {}
        committed = _committed(loaded.integer) if countable else {}
    with progress("laying out columns"):
        plonkish = plonkish_sizes(loaded.integer, options.memory) if countable else {}
    with progress("counting hardware"):
        verilog = hardware(loaded.integer)
    reasons = verilog.pop("reasons")
    with progress("counting what a tensor proof looks up"):
        tensor = _tensor(loaded.integer)
    if options.plot is not None:
        if not verilog.get("tradeoff"):
            raise CircuitizeError(f"expected a folded design to plot, found none: {reasons['folded']}")
        plot(verilog["tradeoff"], options.plot)
    operations = loaded.integer.arrow.edge_count
    if options.json:
        targets = ({"r1cs": r1cs} if r1cs else {}) | ({"mirage": committed} if committed else {})
        targets |= {"plonkish": plonkish} if plonkish else {}
        targets |= ({"tensor": tensor} if tensor else {}) | ({"verilog": verilog} if verilog else {})
        print_json({"digest": loaded.digest, "operations": operations, "targets": targets})
        return 0
    say(f"{options.program}: {operations} integer operations, digest {loaded.digest}")
    if r1cs:
        say("r1cs")
        print_table([(name.replace("_", " "), r1cs[name]) for name in SIZES])
        say(_soundness(r1cs["challenge_degree"], "Poseidon", BN254.prime))
        say("r1cs constraints by part")
        print_table(_largest(r1cs["parts"]))
    else:
        most = f"{named:,} products are more than {MOST_COUNTED:,}"
        say(f"r1cs and plonkish: not counted, {most}; compile --target r1cs counts them")
    if committed:
        say("r1cs with a commitment before its challenge: prover mirage")
        print_table([(name.replace("_", " "), committed[name]) for name in SIZES])
        say(_soundness(committed["challenge_degree"], "SHA-256", 1 << 253))
    if plonkish:
        say("plonkish, the layout of least proving cost")
        print_table([(name.replace("_", " "), plonkish[name]) for name in SHOWN])
    if tensor:
        _show_tensor(tensor)
    _show_hardware(verilog, reasons)
    return 0


def _committed(program: Program) -> dict[str, Any]:
    """The sizes of the circuit whose challenge is drawn after a commitment; none where it has nothing to test."""
    from circuitize.backends.r1cs.challenge import Challenge
    from circuitize.backends.r1cs.cost import estimate

    try:
        return estimate(program, challenge=Challenge.COMMITTED)
    except CircuitizeError:
        return {}


def _show_tensor(tensor: dict[str, Any]) -> None:
    """A proof by itself, a step of a run, and what most is looked up for."""
    sizes = {"tensor proof, NOT zero-knowledge": tensor}
    sizes |= (
        {"tensor proof of a step of a run, NOT zero-knowledge": tensor["step_of_a_run"]}
        if "step_of_a_run" in tensor
        else {}
    )
    for title, own in sizes.items():
        say(title)
        print_table([(name.replace("_", " "), size) for name, size in own.items() if not isinstance(size, dict | bool)])
    parts = sorted(tensor["parts"].items(), key=lambda part: -sum(part[1].values()))
    say(f"tensor proof by part, looked up and committed, {len(parts[:MOST_PARTS])} of {len(parts)}")
    print_table([(name, f"{part['lookups']:,} and {part['committed']:,}") for name, part in parts[:MOST_PARTS]])


def _tensor(program: Program) -> dict[str, Any]:
    """The sizes of a tensor proof; none where the program has no such proof."""
    from circuitize.provers.tensor.cost import estimate
    from circuitize.provers.tensor.errors import Unprovable

    try:
        found = estimate(program)
    except Unprovable:
        return {}
    for own in (found, found.get("step_of_a_run", {})):
        own |= {"zero_knowledge": False}
    return found


def _show_hardware(verilog: dict[str, Any], reasons: dict[str, str]) -> None:
    """A row for each scheduler, then one for each number of lanes."""
    rows = [(verilog["scheduler"], verilog)] if verilog else []
    rows += [("parallel", verilog["parallel"])] if "parallel" in verilog else []
    rows += [(f"folded, P = {row['lanes']}", row) for row in verilog.get("tradeoff", ())]
    if rows:
        names = [name.replace("_", " ") for name in HARDWARE_SIZES]
        wide = max(len(title) for title, _ in rows)
        say("verilog".ljust(wide + 2) + "".join(f"  {name:>15}" for name in names))
        for title, row in rows:
            say(f"  {title:<{wide}}" + "".join(f"  {row[name]:>15,}" for name in HARDWARE_SIZES))
    for scheduler, reason in reasons.items():
        say(f"verilog, {scheduler}: none, {reason}")


def _soundness(degree: int, hash: str, challenges: int) -> str:
    """What a satisfied system says of the program, its challenge being one of so many."""
    if not degree:
        return "r1cs soundness: exact, no challenge"
    bits = (challenges // degree).bit_length() - 1
    return f"r1cs soundness: an error of at most 2^-{bits} for each {hash} hash tried, as a random oracle"


def _largest(counts: dict[str, dict[str, Any]]) -> list[tuple[str, object]]:
    """Names with their constraints, most first; what has none is left out."""
    order = sorted(counts.items(), key=lambda entry: (-entry[1]["constraints"], entry[0]))
    return [(name, count["constraints"]) for name, count in order if count["constraints"]]
