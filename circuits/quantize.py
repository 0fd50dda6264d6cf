"""Quantization: a real program becomes an integer program with an exact meaning, rounding placed once per tensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .arrays.composite import expand_composites
from .arrays.language import RealOperation, Rounding
from .builder import Builder, Piece
from .calibrate import calibrate
from .errors import CircuitizeError, OverflowRisk, TypingError
from .hypergraph import Arrow
from .lowering import Lowering, Precision
from .operation import Operation, Provenance
from .port import Port
from .program import IntegerProgram, Program, as_integers
from .simplify import simplify
from .stated import SIGNIFICANT, exact_constant, is_exact, kept_whole, known, unread, without_rectifiers
from .types import Fixed, fixed


def quantize(program: Program) -> IntegerProgram:
    """Return the integer program that a program of reals is quantized to.

    Quantization lowers linear operations exactly, also on unrounded accumulators. A tensor that some product or
    nonlinear operation reads (or that is broadcast to more elements) is rounded once, where it is computed, and all its
    readers see the rounded value: one Shift, half up, then a Check of the tensor's calibrated format. A tensor whose
    format the program states (Quantize, Rescale) has that format, and the operand that is rounded to it is not rounded
    before (docs/numbers.md). A bias, for example, is added to an unrounded accumulator, and so is the weight from which
    a gradient is subtracted; the sum is then rounded once. Outputs end in a Check of exactly their format, so that a
    step's parameters leave the step with the type with which they entered. In quantization, operands whose exact result
    could pass 2^62 are rounded first. Raise OverflowRisk, naming operation, source line, interval and remedy, if an
    interval could pass 2^62; raise CircuitizeError if calibration is impossible. Quantizing takes linear time; each
    lowering is built once for an operation and its source types.
    """
    if not isinstance(program, Program):
        raise TypingError(f"quantize: expected a Program, found {type(program).__name__}; see training_step")
    return as_integers(program) or lowered(program)[0]


def lowered(program: Program) -> tuple[IntegerProgram, Arrow, list[int]]:
    """Return `quantize(program)`, the arrow of real operations that was lowered, and for each wire of this arrow the
    corresponding integer wire.

    In the list that `lowered` returns, the integer wire is -1 for a constant that the integer program lacks because the
    results of all its readers were computed.
    """
    arrow = simplify(without_rectifiers(expand_composites(program.arrow)))
    quantizer = _Quantizer(arrow, program.precision, calibrate(arrow, program))
    integers = quantizer.lower([port.format for port in program.inputs], program.outputs)
    outputs = tuple(port.of(fixed(type)) for port, type in zip(program.outputs, integers.target, strict=True))
    made = IntegerProgram(integers, program.inputs, outputs, program.examples, program.precision)
    return made, arrow, quantizer.wires


Writer = Callable[[Builder, list[int]], list[int]]


class _Quantizer:
    """A lowering in progress: the integer wire of each real wire, and which integer wires hold products that are not
    yet rounded.
    """

    def __init__(self, arrow: Arrow, precision: Precision, magnitudes: NDArray[np.float64]) -> None:
        self.arrow = arrow
        self.precision = precision
        self.exponents: list[int] = precision.exponents(magnitudes).tolist()
        self.builder = Builder(share=True)
        self.pieces: dict[tuple[object, ...], Piece | None] = {}
        self.wires: list[int] = [-1] * arrow.wire_count
        self.unrounded = bytearray(arrow.wire_count)
        self.stated = bytearray(arrow.wire_count)
        self.wire_types: list[int] = arrow.wire_types.tolist()
        self.sizes = [type.size for type in arrow.types]
        self.formats: dict[tuple[object, ...], Fixed] = {}
        self.kinds = [_real(operation).rounding for operation in arrow.operations]
        self.exact = [is_exact(operation) for operation in arrow.operations]
        self.constants = {row[2][0]: row[0] for row in arrow.rows if arrow.operations[row[0]].constant is not None}
        self.known = known(arrow, precision, self.exponents)
        self.unread = unread(arrow, self.known)
        self.kept_whole = kept_whole(arrow)
        self.read_rounded = self._read_rounded()

    def lower(self, formats: list[Fixed], ports: tuple[Port[Fixed | None], ...]) -> Arrow:
        arrow, builder = self.arrow, self.builder
        for wire, format in zip(arrow.inputs.tolist(), formats, strict=True):
            self.wires[wire] = builder.input(format)
        for operation, sources, targets, provenance in arrow.rows:
            builder.provenance = arrow.provenances[provenance]
            self._edge(operation, sources, targets)
        writers = {wire: row[3] for row in arrow.rows for wire in row[2]}
        results = []
        for wire, port in zip(arrow.outputs.tolist(), ports, strict=True):
            written = arrow.provenances[writers[wire]] if wire in writers else Provenance()
            builder.provenance = replace(written, part=f"output {port.name}")
            results.append(self._output(wire, port))
        return builder.build(results)

    def _read_rounded(self) -> bytearray:
        """Return which wires are read by a product, a nonlinear operation, or an operation that makes more elements (a
        broadcast).
        """
        marks = bytearray(self.arrow.wire_count)
        sizes, wire_types = self.sizes, self.wire_types
        for operation, sources, targets, _ in self.arrow.rows:
            if self.kinds[operation] is Rounding.FORMAT:
                continue
            if self.kinds[operation] is not Rounding.LINEAR or (
                sizes[wire_types[targets[0]]] > sum(sizes[wire_types[wire]] for wire in sources)
            ):
                for wire in sources:
                    marks[wire] |= not (self.exact[operation] and self.kept_whole[wire])
        return marks

    def _edge(self, operation: int, sources: list[int], targets: list[int]) -> None:
        if targets[0] in self.unread:
            return
        if targets[0] in self.known:
            self.wires[targets[0]], self.stated[targets[0]] = self.builder.add(self.known[targets[0]]), True
            return
        kind = self.kinds[operation]
        try:
            made = self._apply(operation, sources, targets)
        except OverflowRisk:
            if kind is Rounding.FORMAT:
                raise
            for (
                wire
            ) in sources:  # Sums of many tensors outgrow what calibration saw of them: Check them, then try again.
                self._round(wire)
            made = self._apply(operation, sources, targets)
        awaits = kind is Rounding.PRODUCT
        if kind is Rounding.LINEAR and sources:
            finest = max(self._type(self.wires[wire]).fraction_bits for wire in sources)
            awaits = any(self.unrounded[wire] for wire in sources) or self._type(made[0]).fraction_bits > finest
        elif self.exact[operation]:
            awaits = any(self.unrounded[wire] for wire in sources)
        stated = kind is Rounding.FORMAT or self._inherits(operation, sources, made)
        for wire, result in zip(targets, made, strict=True):
            self.wires[wire] = result
            self.stated[wire] = stated
            self.unrounded[wire] = awaits and not stated
            if self.read_rounded[wire] and (awaits or self._outgrown(wire)):
                self._round(wire)

    def _inherits(self, operation: int, sources: list[int], made: list[int]) -> bool:
        """Return whether a result is not rounded because the operands, apart from constants, have stated formats.

        The result of an exact operation on operands in their stated formats is not rounded if it has no more fraction
        bits than the operands, or no wider interval of integers.
        """
        read = [self._type(self.wires[wire]) for wire in sources if self.stated[wire]]
        if not read or not self.exact[operation]:
            return False
        if any(not self.stated[wire] and wire not in self.constants for wire in sources):
            return False
        found = self._type(made[0])
        if found.fraction_bits <= max(type.fraction_bits for type in read):
            return True
        return min(type.low for type in read) <= found.low and found.high <= max(type.high for type in read)

    def _outgrown(self, wire: int) -> bool:
        """Return whether the interval of a sum of rounded tensors is many bits wider than the values of the sum in
        calibration.
        """
        if self.stated[wire]:
            return False
        found = self._type(self.wires[wire])
        return found.width > self.exponents[wire] + found.fraction_bits + 1 + self.precision.slack_bits

    def _apply(self, index: int, sources: list[int], targets: list[int]) -> list[int]:
        builder = self.builder
        inner = [self.wires[wire] for wire in sources]
        if targets[0] in self.constants and self.kept_whole[targets[0]]:
            most = SIGNIFICANT - self.exponents[targets[0]]
            return [builder.add(exact_constant(self.arrow.operations[index], self.precision, most))]
        result = self._format(targets[0], False) if self.kinds[index] is Rounding.VALUE else None
        key = (index, result, *[builder.type_key(wire) for wire in inner])

        def write(builder: Builder, wires: list[int]) -> list[int]:
            operation = _real(self.arrow.operations[index])
            return operation.lower(Lowering(builder, self.precision, result), *wires)

        return self._write(key, write, inner)

    def _write(self, key: tuple[object, ...], write: Writer, wires: list[int]) -> list[int]:
        """Write the edges of `write(builder, wires)`; if a key is used again, the edges are captured and replayed."""
        if key not in self.pieces:
            self.pieces[key] = None
            return write(self.builder, wires)
        piece = self.pieces[key]
        if piece is None:
            piece = self.pieces[key] = self.builder.capture(write, wires)
        return [wire for wire in self.builder.replay(piece, wires) if wire is not None]

    def _round(self, wire: int) -> None:
        """Round a wire to its calibrated format; add no fraction bits, and do nothing if the wire is within the format
        already.

        A wire with a stated format is not rounded to a calibrated one.
        """
        if self.stated[wire]:
            return
        found = self._type(self.wires[wire])
        format = self._format(wire, found.low >= 0)
        surplus = format.fraction_bits - found.fraction_bits
        if surplus > 0:
            high = max(format.high >> surplus, 1)
            format = Fixed(format.shape, found.fraction_bits, 0 if format.low == 0 else -high - 1, high)
        self.unrounded[wire] = False
        if surplus >= 0 and format.low <= found.low and found.high <= format.high:
            return

        def write(builder: Builder, wires: list[int]) -> list[int]:
            return [Lowering(builder, self.precision, None).round_to(wires[0], format)]

        (self.wires[wire],) = self._write((format, self.builder.type_key(self.wires[wire])), write, [self.wires[wire]])

    def _output(self, wire: int, port: Port[Fixed | None]) -> int:
        if port.format is not None:
            return Lowering(self.builder, self.precision, None).round_to(self.wires[wire], port.format)
        if self.unrounded[wire]:
            self._round(wire)
        return self.wires[wire]

    def _format(self, wire: int, nonnegative: bool) -> Fixed:
        key = (self.wire_types[wire], nonnegative, self.exponents[wire])
        format = self.formats.get(key)
        if format is None:
            shape = self.arrow.types[self.wire_types[wire]].shape
            format = self.formats[key] = self.precision.format(shape, self.exponents[wire], nonnegative)
        return format

    def _type(self, wire: int) -> Fixed:
        return self.builder.format(wire)


def _real(operation: Operation) -> RealOperation:
    if not isinstance(operation, RealOperation):
        raise CircuitizeError(
            f"expected a program of real operations, found {operation.name}; quantize takes a real program"
        )
    return operation
