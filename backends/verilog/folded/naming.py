"""The names of the stages and of the streams of a folded design."""

from __future__ import annotations

import re
from collections.abc import Sequence

from circuitize.circuits.micro_batches import Rounds
from circuitize.circuits.port import Port
from circuitize.circuits.types import Fixed

from ..design import stream_names
from .graph import Graph


def name_stages(graph: Graph) -> None:
    """Give the stages their names: a number, and the part of the program in which they lie."""
    for number, stage in enumerate(graph.stages):
        part = re.sub(r"[^A-Za-z0-9]+", "_", stage.provenance.part).strip("_") or "stage"
        stage.name = f"s{number}_{part}"


def names_of_streams(
    inputs: Sequence[Port[Fixed]], outputs: Sequence[Port[Fixed]], rounds: Rounds | None
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of the streams of inputs and of outputs, which are those of a design without rounds; what tells
    the rounds has a name that no stream has, and what is kept from round to round has none.
    """
    teller, kept = (rounds.teller, rounds.kept) if rounds is not None else ("", ())
    into, out = stream_names(
        [port.name for port in inputs if port.name != teller], [port.name for port in outputs if port.name not in kept]
    )
    if teller:
        taken, name = {*into.values(), *out.values()}, "round"
        while name in taken:
            name += "_"
        into[teller] = name
    return into, out
