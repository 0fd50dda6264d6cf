"""The output of `circuitize cost`, which shows in three ways the words that a program moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.phases import Progress
from circuitize.circuits.program import Program
from circuitize.circuits.reading import Json

from ..targets.contract import Shown
from ..targets.native import native_part
from .cost import Cost, cost

MOST_GROUPS = 12
"""The number of groups that `circuitize cost` shows; --json has all groups."""


def readings(
    program: Program,
    memory: int,
    word: int,
    lanes: int,
    words_per_clock: int,
    steps: int,
    progress: Progress,
) -> tuple[Cost, Json]:
    """Return the cost of a program in words, bytes and clocks, and for its prover, as `circuitize cost --json` prints
    it.
    """
    found = cost(program, memory=memory, progress=progress)
    made = {**found.json(), "cache": found.bytes(word), "fpga": found.cycles(lanes, words_per_clock)}
    try:
        with native_part():
            from .chunks import run_cost
        made["prover"] = {
            "steps": steps,
            "chunks": [asdict(each) for each in run_cost(program, steps=steps, progress=progress)],
        }
    except CircuitizeError as error:
        made["prover"] = {"left_out": str(error)}
    return found, made


def shown(found: Cost, made: Json) -> Iterator[Shown]:
    """Yield the lines and tables that show the cost of a program."""
    cache, fpga = made["cache"], made["fpga"]
    yield f"{found.operations:,} operations, a memory of {found.memory:,} words"
    yield [
        ("words moved, fused", found.moved),
        ("words moved, operations apart", found.moved_apart),
        ("words held at most", found.held),
        ("products of contractions", found.products),
    ]
    yield from _groups(found)
    yield f"cache or GPU, words of {cache['word_bytes']} bytes, {amount_of_bytes(cache['memory_bytes'])} of memory"
    yield [
        ("moved, fused", amount_of_bytes(cache["moved_bytes"])),
        ("moved, operations apart", amount_of_bytes(cache["moved_bytes_apart"])),
        ("products per byte", cache["products_per_byte"]),
    ]
    yield f"FPGA, {fpga['lanes']:,} lanes, {fpga['words_per_clock']:,} words per clock"
    yield [
        ("clocks at least", fpga["cycles_at_least"]),
        ("to compute", fpga["computing_cycles"]),
        ("to move", fpga["moving_cycles"]),
        ("words of memory", fpga["memory_words"]),
    ]
    yield from _prover(made["prover"])


def _groups(found: Cost) -> Iterator[Shown]:
    groups = sorted(found.groups, key=lambda group: -group.moved)[:MOST_GROUPS]
    if found.misfits:
        yield f"{len(found.misfits)} of {len(found.groups)} groups do not fit: their own words are more than the memory"
    yield f"groups, {len(groups)} of {len(found.groups)}: words moved and held, operations, how they are cut"
    yield [
        (
            " ".join(word for word in (group.part, f"({group.place})" if group.place else "") if word)
            or "unnamed part",
            f"{group.moved:,} and {group.held:,}{'' if group.fits else ' (more than the memory)'}, "
            f"{len(group.operations)}: {group.cut}",
        )
        for group in groups
    ]


def _prover(made: Json) -> Iterator[Shown]:
    if "left_out" in made:
        yield f"prover of a run: {made['left_out']}"
        return
    yield f"prover of a run of {made['steps']:,} steps, by steps per proof; memory, bytes and seconds are predicted"
    rows: Sequence[tuple[str, object]] = [
        (
            f"{each['steps']:,}",
            f"{each['proofs']:,} proofs, {each['moved_words']:,} words moved, {each['held_words']:,} committed to, "
            f"{amount_of_bytes(each['prover_bytes'])} of memory, {amount_of_bytes(each['proof_bytes'])} of proofs, "
            f"{each['prover_cpu_seconds']:,} CPU-s",
        )
        for each in made["chunks"]
    ]
    yield rows
