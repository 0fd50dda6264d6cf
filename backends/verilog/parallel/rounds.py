"""Which beats a frame of a parallel design takes and gives: all at once, or those of its rounds, of which each takes a
few examples of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.reading import Json

from ...verilog.design import CLOCK, RESET, STATUS, Stream

LAST_ROUND, FAILED, ENDED = "last_round", "failed", "ended"
"""The registers that are 1 in the last round of a frame, from a round that failed to the end of the frame, and, for
each input with a beat in every round, from the end of a tensor that is too short to the end of the frame.
"""


@dataclass(frozen=True)
class AtOnce:
    """Frames that pass at once: each stream has one beat a frame. The methods return Verilog; those that return a
    condition return a text that follows others, or nothing where there is no condition.
    """

    inputs: Sequence[Stream]

    def valid(self, stream: Stream) -> str:
        """Return whether an input has what is taken of it next."""
        return f"{stream.name}_tvalid"

    def takes(self, stream: Stream) -> str:
        """Return the condition on which a beat of an input is taken."""
        return ""

    def right(self, stream: Stream) -> str:
        """Return whether the tensor of an input has not ended too early, nor goes on after its last beat."""
        return f"{stream.name}_tlast"

    def late(self, number: int) -> str:
        """Return the condition on which beats of an input are skipped after one without `tlast`."""
        return ""

    def unless_given(self, stream: Stream) -> str:
        """Return the condition on which a round has no beat of an output."""
        return ""

    def given(self, stream: Stream) -> str:
        """Return the condition on which a round has a beat of an output."""
        return ""

    def last(self, stream: Stream) -> str:
        """Return whether a beat of an output is the last one of its tensor."""
        return "1'b1"

    def failed(self) -> str:
        """Return the condition on which a frame has failed before."""
        return ""

    def declared(self) -> list[str]:
        """Return the declarations of the registers that keep count of where a frame is."""
        return []

    def lines(self, stages: int) -> list[str]:
        """Return the lines that keep count of where a frame is."""
        return []

    def comment(self, stages: int, state: bool) -> list[str]:
        """Return what readers of the top module are told."""
        first = f"{self._numbers} numbers in, {'one frame at a time' if state else 'a frame a cycle'},"
        if state:
            return [first, f"out after {stages} cycles; the state follows when the reader takes a status of 0."]
        return [first, f"out after {stages} cycles; one enable stalls all registers."]

    @property
    def _numbers(self) -> int:
        return sum(stream.format.size for stream in self.inputs)

    def counted(self, report: Json) -> Json:
        """Return the report of a design, given that of one whose frames pass at once."""
        return report


@dataclass(frozen=True)
class InRounds(AtOnce):
    """Frames in rounds: how many there are, and the name of the stream that tells the pipeline which round it is, empty
    if the pipeline needs not know.

    A stream of several beats a frame has one in each round. Every other stream has its beat in the last round; an
    input's has to be there in the rounds before.
    """

    count: int
    teller: str

    @property
    def cut(self) -> list[Stream]:
        """Return the inputs that have a beat in each round."""
        return [stream for stream in self.inputs if stream.beats > 1]

    @property
    def registers(self) -> dict[str, int]:
        """Return the bits of the registers that count rounds, by name."""
        return {"round": (self.count - 1).bit_length(), LAST_ROUND: 1, FAILED: 1}

    def valid(self, stream: Stream) -> str:
        own = f"{stream.name}_tvalid"
        return f"({own} | {self._ended(stream)})" if stream.beats > 1 else own

    def takes(self, stream: Stream) -> str:
        return f" & ~{self._ended(stream)}" if stream.beats > 1 else f" & {LAST_ROUND}"

    def right(self, stream: Stream) -> str:
        own = f"{stream.name}_tlast"
        return f"~{self._ended(stream)} & ({own} | ~{LAST_ROUND})" if stream.beats > 1 else own

    def late(self, number: int) -> str:
        return f" & (skipping[{number}] | {LAST_ROUND})"

    def unless_given(self, stream: Stream) -> str:
        return "" if stream.beats > 1 else f"~{LAST_ROUND} | "

    def given(self, stream: Stream) -> str:
        return "" if stream.beats > 1 else f" & {LAST_ROUND}"

    def last(self, stream: Stream) -> str:
        return LAST_ROUND if stream.beats > 1 else "1'b1"

    def failed(self) -> str:
        return f" | {FAILED}"

    def declared(self) -> list[str]:
        registers = self.registers | ({ENDED: len(self.cut)} if self.cut else {})
        return [f"    reg [{width - 1}:0] {name};" for name, width in registers.items()]

    def lines(self, stages: int) -> list[str]:
        registers = self.registers
        bits = registers["round"]
        lines = [
            f"    wire round_ends = occupied[{stages - 1}] & leaves;",
            f"    always @(posedge {CLOCK}) begin",
            f"        if ({RESET}) begin",
            *(f"            {name} <= {width}'d0;" for name, width in registers.items()),
            "        end else if (round_ends) begin",
            f"            round <= {LAST_ROUND} ? {bits}'d0 : round + {bits}'d1;",
            f"            {LAST_ROUND} <= ~{LAST_ROUND} & (round == {bits}'d{self.count - 2});",
            f"            {FAILED} <= ~{LAST_ROUND} & {STATUS}_tdata;",
        ]
        lines += ["        end", "    end"]
        if self.teller:
            lines.append(f"    wire [0:0] {self.teller}_tdata = {LAST_ROUND};")
        if self.cut:
            lines += [
                f"    always @(posedge {CLOCK}) begin",
                f"        if ({RESET}) {ENDED} <= {len(self.cut)}'d0;",
                "        else if (enable & arrived) begin",
            ]
            for stream in self.cut:
                ended = self._ended(stream)
                lines.append(f"            {ended} <= ~{LAST_ROUND} & ({ended} | {stream.name}_tlast);")
            lines += ["        end", "    end"]
        for stream in self.cut:
            bits, absent = stream.data_bits, self._ended(stream)
            lines.append(f"    wire [{bits - 1}:0] {block(stream)} = {stream.name}_tdata & {{{bits}{{~{absent}}}}};")
        return lines

    def comment(self, stages: int, state: bool) -> list[str]:
        return [
            f"{self._numbers} numbers in, in {self.count} rounds, one at a time,",
            f"each out after {stages} cycles; the status leaves in the last one.",
        ]

    def counted(self, report: Json) -> Json:
        sizes = {"lut": 2 * len(self.registers) + len(self.inputs), "ff": sum(self.registers.values()) + len(self.cut)}
        cycles = {name: report[name] * self.count for name in ("latency_cycles", "interval_cycles")}
        families = {name: made | _sums(made, sizes) for name, made in report["families"].items()}
        return {**report, **_sums(report, sizes), **cycles, "families": families, "rounds": self.count}

    def _ended(self, stream: Stream) -> str:
        return f"{ENDED}[{self.cut.index(stream)}]"


def block(stream: Stream) -> str:
    """Return the name of the wire that has what a round has of an input, zeros after the end of a short tensor."""
    return f"{stream.name}_block"


def _sums(sizes: Json, added: Json) -> Json:
    return {name: sizes[name] + count for name, count in added.items()}
