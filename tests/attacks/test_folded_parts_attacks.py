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


@cache
def parts() -> tuple[Project, dict[str, Any]]:
    return _certified(step(2, 2, 2, wide=True), 4)


@cache
def chosen() -> tuple[Project, dict[str, Any]]:
    """A design of which a stage reads one of four block memories."""
    return _certified(step(2, 5, 64, wide=False), 4)


@cache
def sent() -> tuple[Project, dict[str, Any]]:
    """A design of which an output is read from one of three block memories."""
    return _certified(step(2, 6, 32, wide=False), 6)


@cache
def factor() -> tuple[Project, dict[str, Any]]:
    """A design of which the factors of a stage are read from one of three block memories."""
    return _certified(step(2, 6, 64, wide=False), 6)


def _certified(program: IntegerProgram, lanes: int) -> tuple[Project, dict[str, Any]]:
    shape = next(port.format.shape for port in program.inputs if port.name == "w")
    first = np.random.default_rng(0).integers(-60, 61, shape)
    made = folded_project(program, {"w": first}, lanes=lanes)
    return made, certificate(made)


def refused(files: Mapping[str, str], claimed: Mapping[str, Any], before: str, after: str) -> str:
    """Why a design is refused in whose files the first text that is like `before` is another one."""
    found = dict(files)
    name = next(name for name, text in sorted(files.items()) if name.endswith(".v") and re.search(before, text))
    found[name] = re.sub(before, after, files[name], count=1)
    assert found[name] != files[name]
    with pytest.raises(Refused) as refusal:
        deeply(lambda: shown_folded(found, *(claimed[name] for name in NAMES)))
    return str(refusal.value)


DEEP = pytest.mark.deep
FEW = ("the lowest part has a sign", "the highest part has no sign", "a check tells of nothing")
PRODUCT = {
    "the lowest part has a sign": (r"\{19'd0, (\w+)\[16:0\]\}", r"{{19{\1[16]}}, \1[16:0]}"),
    "the middle part has a sign": (r"\{19'd0, (\w+)\[33:17\]\}", r"{{19{\1[33]}}, \1[33:17]}"),
    "the highest part has no sign": (r"\{18\{(\w+)\[35\]\}\}, \1\[35:34\]", r"18'd0, \1[35:34]"),
    "a part begins a bit lower": (r"\[33:17\]", "[32:16]"),
    "a part is added a bit higher": (r"(\w+_from17),\s+17'd0\}", r"\1[34:0], 18'd0}"),
    "a part is greater by 1": (r"(\w+_wide_from34) <= (.*);", r"\1 <= \2 + 20'sd1;"),
    "a part is left out": (r" \+ \{\{18\{\w+_from0\[35\]\}\}, \w+_from0\}", " + 54'd0"),
    "a check is of another interval": (r"< -7'sd60\)", "< -7'sd61)"),
    "a check tells of nothing": (r"(_fail) = \(\w+ < -7'sd60\) \|", r"\1 ="),
}
CHOICE = {
    "the second choice is not a clock later": (r"r1_part0_number\[0\] \?", "r1_selected0[1] ?"),
    "the second choice is the other": (r"r1_part0_number <= ", "r1_part0_number <= ~"),
    "the first choice is the other": (r"r1_part0_1 <= r1_selected0\[0\]", "r1_part0_1 <= ~r1_selected0[0]"),
    "the first choice is of another word": (r"(r1_part0_0 <= .* : )\((\w+)_0_0\)", r"\1(\2_4_0)"),
    "what was chosen stays": (r"    r1_part0_0 <= ", "    if (r1_part0_number[0]) r1_part0_0 <= "),
}
SENT = {
    "the second choice is not a clock later": (r"part0_number\[0\] \?", "selected0[1] ?"),
    "a beat leaves before its words are chosen": ("shown <= chosen;", "shown <= read;"),
    "a beat ends a clock early": ("closing <= chosen_ends;", "closing <= ends;"),
    "what was chosen stays": (r"if \(~r_holds\) ", "if (~r_holds & ~part0_number[0]) "),
}
FACTOR = {
    "a factor stays when its stage adds nothing": (r"idle_late_(.) \? (\S+) : (\w+)", r"1'b0 ? \2 : \3"),
    "a factor is cleared a clock early": (r"idle_late_(.) \? ", "idle ? "),
    "a factor is cleared always": (r"idle_late_(.) <= idle;", r"idle_late_\1 <= 1'b1;"),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=DEEP if name not in FEW else ()) for name in PRODUCT])
def test_a_wrong_product_is_refused(name: str) -> None:
    made, found = parts()
    assert re.search("shown to be|status does not tell", refused(made.design.files, found, *PRODUCT[name]))


@DEEP
@pytest.mark.parametrize("name", CHOICE)
def test_a_wrong_choice_is_refused(name: str) -> None:
    made, found = chosen()
    assert "is not shown to be what the program says" in refused(made.design.files, found, *CHOICE[name])


@DEEP
@pytest.mark.parametrize("name", SENT)
def test_a_wrong_choice_before_an_output_is_refused(name: str) -> None:
    made, found = sent()
    assert re.search("is not shown to be|is found in no memory", refused(made.design.files, found, *SENT[name]))


@DEEP
@pytest.mark.parametrize("name", FACTOR)
def test_a_wrong_choice_before_a_factor_is_refused(name: str) -> None:
    made, found = factor()
    assert "is not shown to be what the program says" in refused(made.design.files, found, *FACTOR[name])
