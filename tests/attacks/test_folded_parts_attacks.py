"""Folded steps that multiply a factor in parts, or choose a word in two clocks: what is wrong there is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from certified_designs import folded_project
from folded_programs import named

from circuitize.backends.verilog.certificate import Refused, certificate
from circuitize.backends.verilog.certificate.checker.claims import deeply
from circuitize.backends.verilog.certificate.checker.folded import NAMES, shown_folded
from circuitize.backends.verilog.project import Project
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check, Clamp, Contract, Multiply
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

BITS, OTHER = 36, 18
"""Bits of a factor with a lowest, a middle and a highest part, and of the other factor."""


def step(rows: int, terms: int, columns: int, wide: bool) -> IntegerProgram:
    """A state grows by what is clamped, where its check has as many bits as the state; `wide`: and a product."""
    builder = Builder()
    x = builder.input(Fixed((rows, terms), 0, -4, 4))
    w = builder.input(Fixed((terms, columns), 0, -60, 60))
    small = builder.add(Clamp(-2, 2), builder.add(Contract("ij,jk->ik"), x, w))
    grown = builder.add(Clamp(-3, 3), builder.add(Contract("ij,ik->jk"), x, small))
    made, names = [builder.add(Check(-60, 60), builder.add(Add(), w, grown))], ["x", "w"]
    if wide:
        ends = [(-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (BITS, OTHER)]
        made.append(builder.add(Multiply(), *(builder.input(Fixed((1,), 0, *end)) for end in ends)))
        names += ["factor", "other"]
    return named(builder, names, made, ["w"])


PROGRAMS = {
    "parts": ((2, 2, 2, True), 4),
    "stage": ((2, 5, 64, False), 4),
    "output": ((2, 6, 32, False), 6),
    "factor": ((2, 6, 64, False), 6),
}
"""The rows, terms and columns of steps, and whether they multiply in parts; and lanes, on which a stage chooses a word
of four block memories in two clocks, an output one of three, or the factors of a stage one of three each.
"""


@cache
def certified(name: str) -> tuple[Project, dict[str, Any]]:
    sizes, lanes = PROGRAMS[name]
    program = step(*sizes)
    shape = next(port.format.shape for port in program.inputs if port.name == "w")
    first = np.random.default_rng(0).integers(-60, 61, shape)
    made = folded_project(program, {"w": first}, lanes=lanes)
    return made, certificate(made)


def refused(made: Project, claimed: Mapping[str, Any], before: str, after: str) -> str:
    """Why a design is refused in whose files the first text that is like `before` is another one."""
    files = made.design.files
    found = dict(files)
    name = next(name for name, text in sorted(files.items()) if name.endswith(".v") and re.search(before, text))
    found[name] = re.sub(before, after, files[name], count=1)
    assert found[name] != files[name]
    with pytest.raises(Refused) as refusal:
        deeply(lambda: shown_folded(found, *(claimed[name] for name in NAMES)))
    return str(refusal.value)


DEEP = pytest.mark.deep
FEW = ("the lowest part has a sign", "the highest part has no sign", "a check tells of nothing")
WRONG = {
    "parts": {
        "the lowest part has a sign": (r"\{19'd0, (\w+)\[16:0\]\}", r"{{19{\1[16]}}, \1[16:0]}"),
        "the middle part has a sign": (r"\{19'd0, (\w+)\[33:17\]\}", r"{{19{\1[33]}}, \1[33:17]}"),
        "the highest part has no sign": (r"\{18\{(\w+)\[35\]\}\}, \1\[35:34\]", r"18'd0, \1[35:34]"),
        "a part begins a bit lower": (r"\[33:17\]", "[32:16]"),
        "a part is added a bit higher": (r"(\w+_from17),\s+17'd0\}", r"\1[34:0], 18'd0}"),
        "a part is greater by 1": (r"(\w+_wide_from34) <= (.*);", r"\1 <= \2 + 20'sd1;"),
        "a part is left out": (r" \+ \{\{18\{\w+_from0\[35\]\}\}, \w+_from0\}", " + 54'd0"),
        "a check is of another interval": (r"< -7'sd60\)", "< -7'sd61)"),
        "a check tells of nothing": (r"(_fail) = \(\w+ < -7'sd60\) \|", r"\1 ="),
    },
    "stage": {
        "the second choice is not a clock later": (r"r1_part0_number\[0\] \?", "r1_selected0[1] ?"),
        "the second choice is the other": (r"r1_part0_number <= ", "r1_part0_number <= ~"),
        "the first choice is the other": (r"r1_part0_1 <= r1_selected0\[0\]", "r1_part0_1 <= ~r1_selected0[0]"),
        "the first choice is of another word": (r"(r1_part0_0 <= .* : )\((\w+)_0_0\)", r"\1(\2_4_0)"),
        "what was chosen stays": (r"    r1_part0_0 <= ", "    if (r1_part0_number[0]) r1_part0_0 <= "),
    },
    "output": {
        "the second choice is not a clock later": (r"part0_number\[0\] \?", "selected0[1] ?"),
        "a beat leaves before its words are chosen": ("shown <= chosen;", "shown <= read;"),
        "a beat ends a clock early": ("closing <= chosen_ends;", "closing <= ends;"),
        "what was chosen stays": (r"if \(~r_holds\) ", "if (~r_holds & ~part0_number[0]) "),
    },
    "factor": {
        "a factor stays when its stage adds nothing": (r"idle_late_(.) \? (\S+) : (\w+)", r"1'b0 ? \2 : \3"),
        "a factor is cleared a clock early": (r"idle_late_(.) \? ", "idle ? "),
        "a factor is cleared always": (r"idle_late_(.) <= idle;", r"idle_late_\1 <= 1'b1;"),
    },
}
"""By program what is wrong, with what its text is like and what stands there instead."""
SAID = {
    "parts": "shown to be|status does not tell",
    "stage": "is not shown to be what the program says",
    "output": "is not shown to be|is found in no memory",
    "factor": "is not shown to be what the program says",
}


@pytest.mark.parametrize(
    ("program", "name"),
    [
        pytest.param(program, name, marks=DEEP if name not in FEW else ())
        for program in WRONG
        for name in WRONG[program]
    ],
)
def test_what_is_wrong_is_refused(program: str, name: str) -> None:
    made, found = certified(program)
    assert re.search(SAID[program], refused(made, found, *WRONG[program][name]))
