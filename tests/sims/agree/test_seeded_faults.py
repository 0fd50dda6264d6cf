"""One bit wrong in a lowering, a gadget or an executor: the comparison finds it and names the operation."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiers
from cli_programs import run
from fault_programs import checked, everything

from circuitize.backends import linear, windows
from circuitize.backends.forms import constant
from circuitize.backends.linear import COMBINATIONS
from circuitize.backends.plonkish.cost import best
from circuitize.backends.plonkish.emit import emit
from circuitize.backends.r1cs.gadgets import division, lookup, ranges, sign
from circuitize.backends.r1cs.gadgets.assembly import ones
from circuitize.backends.r1cs.gadgets.bits import Bits, confine
from circuitize.backends.r1cs.operations import RULES
from circuitize.circuits import integers
from circuitize.circuits.integers import contraction
from circuitize.circuits.operation import Operation
from circuitize.circuits.program import IntegerProgram
from circuitize.sims.agree import R1CS, Agreement, Target, agree
from circuitize.sims.plonkish import Plonkish
from circuitize.sims.vectors import inputs_to_try

PROGRAMS = Path(__file__).parents[2] / "support" / "fault_programs.py"
Patch = pytest.MonkeyPatch
Fault = Callable[[Patch], None]
VECTORS = tiers.count(5, deep=10)
"""The command tries ten."""
CALIBRATE = "calibrate with examples that come this far"
FAULTS: list[tuple[str, type[integers.IntegerOperation], Fault]] = []


def fault(kind: type[integers.IntegerOperation]) -> Callable[[Fault], Fault]:
    """Registers a fault that `check` must blame on operations of this class."""

    def register(seed: Fault) -> Fault:
        FAULTS.append((seed.__name__, kind, seed))
        return seed

    return register


def lowered(
    patch: Patch,
    kind: type[integers.IntegerOperation],
    operation: Callable[[Any], Any] = lambda operation: operation,
    sources: Callable[[list[Any]], list[Any]] = lambda sources: sources,
) -> None:
    """Lowers another operation, or the operation on other sources."""
    right = RULES[kind]
    patch.setitem(RULES, kind, lambda site, given, wires: right(site, operation(given), sources(wires)))


def runs(patch: Patch, kind: type[integers.IntegerOperation], value: Callable[..., Any]) -> None:
    """Gives the executor another meaning of the operation."""
    patch.setattr(kind, "value", value)


@fault(integers.Shift)
def executor_shifts_by_one_bit_more(patch: Patch) -> None:
    runs(patch, integers.Shift, lambda self, x: x >> (self.bits + 1))


@fault(integers.Shift)
def circuit_shifts_by_one_bit_less(patch: Patch) -> None:
    lowered(patch, integers.Shift, lambda shift: integers.Shift(shift.bits - 1))


@fault(integers.Shift)
def top_bit_has_the_weight_of_the_one_below(patch: Patch) -> None:
    right = Bits.weighted
    patch.setattr(Bits, "weighted", lambda bits: right(bits) - bits.bit(bits.count - 1).scale(1 << (bits.count - 2)))


@fault(integers.Constant)
def rounding_constant_is_off_by_one(patch: Patch) -> None:
    patch.setattr(linear, "constant", lambda amounts: constant(np.asarray(amounts) + 1))


@fault(integers.Add)
def sum_has_a_flipped_sign(patch: Patch) -> None:
    kind: type[Operation] = integers.Add
    patch.setitem(COMBINATIONS, kind, COMBINATIONS[integers.Subtract])


@fault(integers.Subtract)
def difference_has_swapped_operands(patch: Patch) -> None:
    lowered(patch, integers.Subtract, sources=lambda sources: sources[::-1])


@fault(integers.Scale)
def factor_has_its_lowest_bit_flipped(patch: Patch) -> None:
    lowered(patch, integers.Scale, lambda scale: replace(scale, factor=scale.factor ^ 1))


@fault(integers.Scale)
def executor_scales_by_the_negative(patch: Patch) -> None:
    runs(patch, integers.Scale, lambda self, x: x * -self.factor)


@fault(integers.Multiply)
def product_takes_one_operand_twice(patch: Patch) -> None:
    lowered(patch, integers.Multiply, sources=lambda sources: [sources[0], sources[0]])


@fault(integers.Contract)
def contraction_transposes_an_operand(patch: Patch) -> None:
    lowered(patch, integers.Contract, lambda contract: integers.Contract("ij,kj->ik"))


@fault(integers.Contract)
def limb_of_a_wide_operand_has_twice_its_weight(patch: Patch) -> None:
    right = contraction._limbs

    def heavier(*given: Any) -> list[Any]:
        low, *rest = right(*given)
        return [low, *(2 * limb for limb in rest)]

    patch.setattr(contraction, "_limbs", heavier)
    patch.setattr(contraction, "FEW", 0)


@fault(integers.IsNegative)
def zero_counts_as_negative(patch: Patch) -> None:
    runs(patch, integers.IsNegative, lambda self, x: (x <= 0).astype(np.int64))


@fault(integers.IsNegative)
def sign_is_flipped_in_the_circuit(patch: Patch) -> None:
    right = sign.negative
    patch.setattr(sign, "negative", lambda assembly, x: ones(len(x.forms)) - right(assembly, x))


@fault(integers.ReLU)
def relu_keeps_minus_one(patch: Patch) -> None:
    runs(patch, integers.ReLU, lambda self, x: np.where(x == -1, x, np.maximum(x, 0)))


@fault(integers.Divide)
def quotient_rounds_toward_zero(patch: Patch) -> None:
    runs(patch, integers.Divide, lambda self, x, y: np.sign(x) * (np.abs(x) // y))


@fault(integers.Divide)
def remainder_has_one_bit_less(patch: Patch) -> None:
    def shorter(assembly: Any, forms: Any, value: Any, low: int, total: int, role: str) -> Any:
        return confine(assembly, forms, value, low, total - (role == "remainder"), role)

    patch.setattr(division, "confine", shorter)


@fault(integers.SquareRoot)
def square_root_rounds_up(patch: Patch) -> None:
    runs(patch, integers.SquareRoot, lambda self, x: np.ceil(np.sqrt(x)).astype(np.int64))


@fault(integers.Lookup)
def table_entry_is_off_by_one(patch: Patch) -> None:
    lowered(patch, integers.Lookup, lambda given: replace(given, table=given.table + (np.arange(16) == 11)))


@fault(integers.Lookup)
def table_is_read_one_place_further(patch: Patch) -> None:
    right = lookup._coefficients
    patch.setattr(lookup, "_coefficients", lambda table: right(np.roll(table.reshape(-1), 1).reshape(table.shape)))


@fault(integers.Reindex)
def view_reads_its_first_element_second(patch: Patch) -> None:
    right = integers.Reindex.value

    def swapped(self: Any, x: Any) -> Any:
        made = right(self, x).copy()
        made.reshape(-1)[:2] = made.reshape(-1)[1::-1]
        return made

    runs(patch, integers.Reindex, swapped)


@fault(integers.Sum)
def sum_runs_along_the_other_axis(patch: Patch) -> None:
    rows, columns = (integers.Sum(integers.View.broadcast((3, 3), (axis,))) for axis in (0, 1))
    lowered(patch, integers.Sum, lambda given: columns if given == rows else given)


@fault(integers.Concatenate)
def parts_are_in_the_wrong_order(patch: Patch) -> None:
    lowered(patch, integers.Concatenate, sources=lambda sources: sources[::-1])


@fault(integers.Select)
def choices_are_swapped(patch: Patch) -> None:
    lowered(patch, integers.Select, sources=lambda sources: [sources[0], sources[2], sources[1]])


@fault(integers.Maximum)
def maximum_is_a_minimum(patch: Patch) -> None:
    runs(patch, integers.Maximum, lambda self, x, y: np.minimum(x, y))


@fault(integers.ArgMax)
def last_maximum_wins(patch: Patch) -> None:
    runs(patch, integers.ArgMax, lambda self, x: x.shape[1] - 1 - np.argmax(x[:, ::-1], axis=1))


@fault(integers.Clamp)
def clamp_ends_one_too_high(patch: Patch) -> None:
    runs(patch, integers.Clamp, lambda self, x: np.clip(x, self.low, self.high + 1))


@fault(integers.Gather)
def index_has_its_lowest_bit_flipped(patch: Patch) -> None:
    runs(patch, integers.Gather, lambda self, x, at: np.take(x, at ^ (at < 2), axis=self.axis))


@fault(integers.ScatterAdd)
def scattered_updates_overwrite(patch: Patch) -> None:
    def overwritten(self: Any, updates: Any, indices: Any) -> Any:
        made = np.zeros_like(updates)
        made[indices] = updates
        return made

    runs(patch, integers.ScatterAdd, overwritten)


@fault(integers.Check)
def checked_window_is_one_bit_wider(patch: Patch) -> None:
    right = windows.window

    def wider(*given: Any) -> windows.Window:
        found = right(*given)
        return replace(found, bits=found.bits + 1, bound=None)

    patch.setattr(ranges, "window", wider)


def check(name: str) -> tuple[int, dict[str, Any]]:
    outcome = run("check", f"{PROGRAMS}:{name}", "--json")
    found: dict[str, Any] = json.loads(outcome.out)
    return outcome.status, found


def program_of(kind: type[integers.IntegerOperation]) -> str:
    return "checked" if kind is integers.Check else "everything"


@pytest.mark.rtl
@pytest.mark.parametrize("name", [pytest.param("everything", marks=pytest.mark.deep), "checked"])
def test_without_a_fault_everything_agrees(name: str) -> None:
    """By the command, which simulates designs, too: those of each operation are simulated in tests/backends/verilog."""
    status, found = check(name)
    assert status == 0 and found["mismatches"] == 0 and found["first_difference"] is None


@pytest.mark.rtl
@pytest.mark.parametrize(("kind", "name"), [(integers.Shift, "shifted"), (integers.Check, "checked")])
def test_the_command_line_finds_and_names_faults(
    kind: type[integers.IntegerOperation], name: str, monkeypatch: Patch
) -> None:
    seed = next(seed for _, own, seed in FAULTS if own is kind)
    seed(monkeypatch)
    status, found = check(name)
    assert status == 1 and found["mismatches"], found
    require_named(kind, found["first_difference"])


@cache
def right(name: str, layout: bool) -> tuple[IntegerProgram, int]:
    """A program, and the k of its Plonkish layout without a fault, which `emit` would search for again."""
    given = {"checked": checked, "everything": everything}[name]()
    return given, best(given) if layout else 0


FIRST = {kind: name for name, kind, _ in reversed(FAULTS)}
"""A fault of each kind of operation; the others are in the deep tier."""


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        pytest.param(kind, seed, id=name, marks=() if FIRST[kind] == name else pytest.mark.deep)
        for name, kind, seed in FAULTS
    ],
)
def test_a_seeded_fault_is_found_and_named(
    kind: type[integers.IntegerOperation], seed: Fault, monkeypatch: Patch
) -> None:
    name = program_of(kind)
    found = compared(name, lambda: seed(monkeypatch), tiers.TIER == "deep" or name == "checked")
    assert found.mismatches
    require_named(kind, found.first_difference)


@pytest.mark.parametrize("name", ["everything", "checked"])
def test_without_a_fault_circuits_agree(name: str) -> None:
    found = compared(name, lambda: None, True)
    assert found.mismatches == 0 and found.first_difference is None


def compared(name: str, seed: Callable[[], None], layout: bool) -> Agreement:
    """What `circuitize check` compares, but for the hardware, with what a seed has changed. Each fault shows in the
    constraints, so that `make test` lays out the smaller program alone.
    """
    given, k = right(name, layout)
    seed()
    targets: list[Target] = [R1CS(given), *([Plonkish(given, emit(given, k))] if layout else [])]
    return agree(given, inputs_to_try(given, VECTORS, np.random.default_rng(0)), targets)


def require_named(kind: type[integers.IntegerOperation], message: str | None) -> None:
    assert message is not None
    if kind is integers.Check:
        assert CALIBRATE in message and kind.name in message, message
    else:
        assert message.rpartition("; the fault is in ")[2].startswith(f"{kind.name} in "), message


def test_there_are_enough() -> None:
    assert len(FAULTS) >= 20 and len({kind for _, kind, _ in FAULTS}) >= 15
