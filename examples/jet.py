"""Jet tagging: a 16-64-32-32-5 network with 6-bit weights and 8-bit activations, written as an integer program.

circuitize compile examples/jet.py:classify --target verilog --scheduler parallel -o design
circuitize simulate design

The weights are random: this network is a usual benchmark of small networks on FPGAs, for which only the number and the
width of the weights matter. Each layer of the jet tagger computes exact sums, then max(x, 0), floor(x / 64), and
saturation at 255.
"""

from itertools import pairwise

import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, ArgMax, Clamp, Contract, Reindex, ReLU, Shift, View
from circuitize.circuits.operation import Provenance
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed, unsigned
from circuitize.circuits.values import to_reals

WIDTHS = (16, 64, 32, 32, 5)
FEATURES = signed((1, WIDTHS[0]), 8, fraction_bits=6)
WEIGHT_BITS, BIAS_BITS, SHIFT, ACTIVATION = 6, 12, 6, unsigned((), 8, fraction_bits=4)


def scores() -> IntegerProgram:
    """Return the five scores of one jet."""
    return _program(head=False)


def classify() -> IntegerProgram:
    """Return the class of one jet: of the classes with the greatest score, the lowest."""
    return _program(head=True)


def _program(head: bool) -> IntegerProgram:
    builder, held = Builder(), []
    formats: list[tuple[Fixed, Fixed]] = []
    bits = FEATURES.fraction_bits
    for rows, columns in pairwise(WIDTHS):
        formats.append((signed((rows, columns), WEIGHT_BITS, 4), signed((columns,), BIAS_BITS, bits + 4)))
        bits = bits + 4 - SHIFT
    wires = [[builder.input(format) for format in pair] for pair in formats]
    for number, pair in enumerate(formats, 1):
        for name, format in zip(("weight", "bias"), pair, strict=True):
            held.append(Port(f"dense{number}.{name}", Visibility.COMMITTED, format, Role.PARAMETER))
    x = builder.input(FEATURES)
    for number, (weight, bias) in enumerate(wires, 1):
        builder.provenance = Provenance(f"dense{number}")
        columns = WIDTHS[number]
        offset = builder.add(Reindex(View.broadcast((1, columns), [0])), bias)
        x = builder.add(Add(), builder.add(Contract("bi,ij->bj"), x, weight), offset)
        if number < len(wires):
            x = builder.add(Clamp(0, ACTIVATION.high), builder.add(Shift(SHIFT), builder.add(ReLU(), x)))
    if head:
        builder.provenance = Provenance("head")
        x = builder.add(ArgMax(1), x)
    arrow = builder.build([x])
    ports = (*held, Port("features", Visibility.COMMITTED, FEATURES))
    output = Port("class" if head else "scores", Visibility.PUBLIC, builder.format(x))
    return IntegerProgram(arrow, ports, (output,), _examples(held))


def _examples(held: list[Port[Fixed]]) -> tuple[dict[str, np.ndarray], ...]:
    """Return sixteen jets that use the whole range of the features, with one set of seeded weights."""
    random = np.random.default_rng(0)
    weights = {}
    for port in held:
        assert port.format is not None
        drawn = random.integers(-port.format.high, port.format.high, port.format.shape, endpoint=True)
        weights[port.name] = to_reals(port.format, drawn)
    jets = to_reals(FEATURES, random.integers(FEATURES.low, FEATURES.high, (16, *FEATURES.shape), endpoint=True))
    return tuple(weights | {"features": jet} for jet in jets)
