"""Words of a certificate's checker: numbers are as Verilog says, and a bit that may be anything stays so."""

from __future__ import annotations

import operator
import random
from functools import cache

import pytest
from every_case import every_case
from tiers import count

from circuitize.backends.verilog.certificate.checker.closures import WIDEST
from circuitize.backends.verilog.certificate.checker.folded_circuit import FoldedCircuit
from circuitize.backends.verilog.certificate.checker.folded_reading import read_folded
from circuitize.backends.verilog.certificate.checker.machine import Machine
from circuitize.backends.verilog.certificate.checker.refusal import Refused
from circuitize.backends.verilog.certificate.checker.symbols import Symbols
from circuitize.backends.verilog.certificate.checker.word import UNKNOWN, Mixed, Unknown, Word, repeated
from circuitize.backends.verilog.certificate.checker.words import Words

ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
BITWISE = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
COMPARISONS = {"<": operator.lt, ">": operator.gt, "==": operator.eq, "!=": operator.ne}
OPERATORS = ARITHMETIC | BITWISE | COMPARISONS
LOWEST = """module lowest(input wire [{high}:0] x, output wire [{high}:0] y);
assign y = x;
endmodule"""


@cache
def machine(width: int) -> Machine:
    """A design of two inputs, whose outputs are all operators on them, parts of them and words made of parts."""
    high = width - 1
    texts = {f"u{k}": (f"a {sign} b", 1 if sign in COMPARISONS else width) for k, sign in enumerate(OPERATORS)}
    texts |= {
        f"s{k}": (f"$signed(a) {sign} $signed(b)", 1 if sign in COMPARISONS else width)
        for k, sign in enumerate(OPERATORS)
    }
    texts |= {
        "part": (f"a[{high}:1]", high),
        "joined": (f"{{a, b[{high}:1], a}}", 3 * width - 1),
        "repeated": ("{3{a}}", 3 * width),
    }
    ports = ["input wire clk", *(f"input wire [{high}:0] {name}" for name in "ab")]
    ports += [f"output wire [{size - 1}:0] {name}" for name, (_, size) in texts.items()]
    ports += [f"output wire [{width}:0] placed", *(f"output wire [{high}:0] {name}" for name in ("first", "late"))]
    lines = [f"assign {name} = {text};" for name, (text, _) in texts.items()]
    lines += [f"assign placed[{width}] = b[0];", f"assign first = placed[{high}:0];"]
    lines += [f"lowest lowest_i (.x(a), .y({{placed[{high}:1], placed[0]}}));"]
    lines += [f"reg [{high}:0] once;", f"reg [{high}:0] twice;"]
    lines += ["always @(posedge clk) once <= a;", "always @(posedge clk) twice <= once;", "assign late = twice;"]
    top = f"module words({', '.join(ports)});\n" + "\n".join(lines) + "\nendmodule"
    modules = {name: read_folded(text, name) for name, text in (("words", top), ("lowest", LOWEST.format(high=high)))}
    return Machine(FoldedCircuit(modules, "words"), {}, Words(Symbols()))


def found(width: int, a: Word, b: Word) -> dict[str, Word]:
    made = machine(width)
    made.put(made.numbers["a"], a)
    made.put(made.numbers["b"], b)
    made.settle()
    return {name: made.values[place] for name, place in made.numbers.items()}


@pytest.mark.parametrize("text", ["4'd9", "{2'd2, 1'd0, 1'd1}", "{4'h9}", "{2'sd2, 2'd1}"])
def test_a_register_begins_with_one_number_or_several_side_by_side(text: str) -> None:
    assert begins(text) == {"x": 9}


@pytest.mark.parametrize(
    "text", ["9", "3'd1", "5'd9", "{2'd2, 1'd1}", "{2'd2, 1'd0, 1'd0, 1'd1}", "{2'd2, 2}", "{x, x}"]
)
def test_a_register_begins_with_as_many_bits_as_it_has(text: str) -> None:
    with pytest.raises(Refused, match="expected x to begin with a number of its width"):
        begins(text)


def begins(text: str) -> dict[str, int]:
    """What the registers of a module begin with, of which one has four bits."""
    ports = "input wire clk, input wire [3:0] next, output wire [3:0] now"
    body = f"reg [3:0] x; initial x = {text}; always @(posedge clk) x <= next; assign now = x;"
    module = read_folded(f"module begins({ports});\n{body}\nendmodule", "begins")
    circuit = FoldedCircuit({"begins": module}, "begins")
    return {name: circuit.first[name] for name in circuit.first}


def test_copies_of_a_number_stand_side_by_side() -> None:
    """However many they are: also the most that the checker compiles take no time."""
    for width in (1, 3):
        for copies in range(1, 18):
            for word in range(1 << width):
                assert repeated(word, width, copies) == sum(word << width * place for place in range(copies))
    assert repeated(1, 1, WIDEST) == (1 << WIDEST) - 1 and repeated(1, WIDEST // 2, 2).bit_count() == 2


@pytest.mark.parametrize("width", [2, 3, 17, 64])
def test_numbers_are_as_verilog_says(width: int) -> None:
    draw, whole = random.Random(width), 1 << width
    ends = [0, 1, whole // 2 - 1, whole // 2, whole - 1]
    pairs = [(a, b) for a in ends for b in ends]
    pairs += [(draw.randrange(whole), draw.randrange(whole)) for _ in range(count(20, deep=2000))]
    for a, b in pairs:
        words = found(width, a, b)
        x, y = (value - whole if value >= whole // 2 else value for value in (a, b))
        for k, (sign, of) in enumerate(OPERATORS.items()):
            size = 2 if sign in COMPARISONS else whole
            assert (words[f"u{k}"], words[f"s{k}"]) == (of(a, b) % size, of(x, y) % size), (sign, a, b)
        assert words["part"] == a >> 1 and words["repeated"] == a * (1 + whole + whole**2)
        assert words["joined"] == a | (b >> 1) << width | a << 2 * width - 1
        assert words["placed"] == a | (b & 1) << width and words["first"] == a


def test_registers_take_what_they_read_before_the_edge() -> None:
    """Also one that only another register reads, and a net that both a register and other nets read."""
    made = machine(3)
    for clock, a in enumerate((1, 6, 3, 3, 0)):
        words = found(3, a, 5)
        if clock > 1:
            assert words["late"] == (1, 6, 3, 3, 0)[clock - 2]
        made.edge()


Parts = list[tuple[int | None, int]]
SOME = Mixed(((UNKNOWN, 1), (1, 2)))


@every_case(
    [
        (UNKNOWN, 5, [(None, 3), (2, 2), (None, 3)], [(None, 1), (None, 2), (1, 1)]),
        (5, UNKNOWN, [(5, 3), (None, 2), (5, 3)], [(1, 1), (2, 2), (None, 1)]),
        (SOME, 5, [(None, 1), (1, 2), (2, 2), (None, 1), (1, 2)], [(None, 1), (1, 2), (1, 1)]),
    ]
)
def test_bits_that_may_be_anything_stay_so(a: Word, b: Word, joined: Parts, placed: Parts) -> None:
    words = found(3, a, b)
    assert (parts(words["joined"]), parts(words["placed"])) == (joined, placed)
    if a is SOME:
        assert words["part"] == 1 and parts(words["repeated"]) == parts(SOME) * 3


def parts(word: Word) -> Parts:
    """The parts of a word of which some bits are known; None stands for those that may be anything."""
    assert isinstance(word, Mixed)
    found: Parts = []
    for part, width in word.parts:
        assert isinstance(part, int | Unknown)
        found.append((part if isinstance(part, int) else None, width))
    return found


def test_words_are_joined_at_their_places() -> None:
    """The lowest first; a word of another width is refused."""
    words = Words(Symbols())
    bit = words.free("x")
    assert words.join([(1, 1), (2, 2), (5, 3)]) == 0b101101
    assert isinstance(words.join([(bit, 1), (UNKNOWN, 1)]), Mixed)
    assert words.either(bit, UNKNOWN) is words.either(UNKNOWN, bit) is UNKNOWN
    for wrong in ((4, 2), (bit, 2)):
        with pytest.raises(AssertionError, match="another width"):
            words.join([wrong])
