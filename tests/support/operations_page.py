"""Writes docs/operations.md from the code: what each real operation means, its derivative, lowering, error and cost."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import arrays_cases
import quantized_cases
from function_cases import FunctionCase, function_cases, small_program
from operations.real import Case, Source

from circuitize.backends.plonkish.cost import estimate as plonkish
from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.verilog.sizes import parallel_sizes
from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor.cost import estimate
from circuitize.sims.rtl.frames import bound_somehow

Costs = Mapping[str, Mapping[str, int]]

HEAD = """# Operations and what they cost

Every operation of the [real language](arrays.md), from its class: its meaning, its reverse derivative, the
[integer operations](integers.md) that it becomes, its greatest distance from the exact value, and its cost. A test
writes this page and compares it with the code: `make golden` renews the page. Figures of the last three columns ask for
that only if they have moved by half.

*Error* is in units of the result's last bit and includes the half unit of the result's one rounding. The error "exact"
is for the operands as they are. An error marked "proved" is for the row's operand, by Taylor's theorem and the
roundings on the way (`proved_error`). Any other error is what the tests allow on every integer of the operand, or every
pair, if there are at most 2^16, and on many at random if there are more. *Costs* are of the row's whole operand, its
ports and their range checks included: constraints of an R1CS, the same with a commitment before the challenge, rows of
the Plonkish layout of least proving cost, look-ups of a tensor proof, LUTs and DSPs of unrolled hardware that takes an
operand a clock. The cost of a lookup table is paid once, for any number of elements.

"""

COLUMNS: tuple[str, ...] = ("operation", "meaning", "derivative", "lowered to", "error", "operand", "R1CS", "committed")
FUNCTIONS = """## Functions made of several operations

Each function of this table is made of several operations; the column *derivative* lists what their derivatives add to
the forward pass. A product multiplies the error of a rounded score or gate by its other factor: the stated errors hold
for the operand of the row.
"""
LOOSE = 3
UNSAID = "?"
COLUMNS += ("Plonkish rows", "tensor look-ups", "LUTs")


def page(costs: Costs, step: int = 1) -> str:
    """The whole page; `costs` is the golden table of constraints, by the names of `test_cost`.

    The last three columns are made of every `step`-th row, of the others they are UNSAID.
    """
    chosen = sorted(_chosen(), key=lambda found: found[0].operation.name)
    rows = [_row(*found, costs, number % step == 0) for number, found in enumerate(chosen)]
    functions = enumerate(_numbered_functions())
    made = [_function_row(case, costs[key], number % step == 0) for number, (case, key) in functions]
    tables = [_line(COLUMNS), "|" + "---|" * len(COLUMNS), *map(_line, rows)]
    tables += ["", FUNCTIONS, _line(("function", *COLUMNS[1:])), "|" + "---|" * len(COLUMNS), *map(_line, made)]
    return HEAD + "\n".join(tables) + "\n"


def _numbered_functions() -> list[tuple[FunctionCase, str]]:
    seen: Counter[str] = Counter(map(str, function_cases()))
    assert set(seen.values()) == {1}, "give the cases of a function different shapes"
    return [(case, f"function {case}") for case in function_cases()]


def _function_row(case: FunctionCase, cost: Mapping[str, int], whole: bool) -> tuple[str, ...]:
    program = small_program(case)
    counted = Counter(edge.operation.name.split(".")[1] for edge in program.arrow.edges())
    backward = list(reverse_derivative(case.arrow).edges())[case.arrow.edge_count :]
    names = Counter(edge.operation.name.split(".")[1] for edge in backward)
    del names["constant"]
    return (
        f"`{case.of.__name__}`",
        " ".join((inspect.getdoc(case.of) or "").split("\n\n")[0].split()).rstrip("."),
        _counted(names) or "linear",
        _counted(counted),
        f"{case.allowed:.2g}" if case.allowed else "exact",
        *_priced(case.sources, program, cost, whole),
    )


def differences(made: str, found: str) -> list[str]:
    """Lines that differ; the last three columns may be off by half, since their targets choose layouts by models."""
    ours, theirs = made.splitlines(), found.splitlines()
    told = [] if len(ours) == len(theirs) else [f"{len(ours)} lines in the code, {len(theirs)} on the page"]
    for line, other in zip(ours, theirs, strict=False):
        cells, others = line.split(" | "), other.split(" | ")
        same = cells[:-LOOSE] == others[:-LOOSE] and len(cells) == len(others)
        if line != other and not (same and all(map(_near, cells[-LOOSE:], others[-LOOSE:]))):
            told.append(f"{line}\n  on the page: {other}")
    return told


def _near(one: str, other: str) -> bool:
    if UNSAID in one:
        return True
    numbers, others = ([int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", cell)] for cell in (one, other))
    return len(numbers) == len(others) and all(
        2 * max(pair) <= 3 * min(pair) for pair in zip(numbers, others, strict=True)
    )


def _chosen() -> list[tuple[Case, str]]:
    """Of each class the case of the widest operand, with its name in the golden table."""
    seen: Counter[str] = Counter()
    found: dict[type, tuple[Case, str]] = {}
    for case in arrays_cases.cases():
        name = f"{case.operation.name} {' x '.join(str(s.fixed) for s in case.sources)}".strip()
        seen[name] += 1
        key = f"{name} #{seen[name]}" if seen[name] > 1 else name
        kind = type(case.operation)
        if kind not in found or _width(case) >= _width(found[kind][0]):
            found[kind] = (case, key)
    return list(found.values())


def _width(case: Case) -> int:
    return max((source.fixed.width for source in case.sources), default=0)


def _row(case: Case, key: str, costs: Costs, whole: bool) -> tuple[str, ...]:
    program, operation = quantized_cases.program(case), case.operation
    meaning, derivative = _sentences(operation)
    return (
        f"`{type(operation).__name__}`",
        meaning,
        derivative if derivative and not derivative.startswith("at ") else _joined(_derivative(case), derivative),
        _counted(Counter(edge.operation.name.split(".")[1] for edge in program.arrow.edges())),
        _error(case, program),
        *_priced(case.sources, program, costs[key], whole),
    )


def _priced(
    sources: Sequence[Source], program: IntegerProgram, cost: Mapping[str, int], whole: bool
) -> tuple[str, ...]:
    return (
        " x ".join(f"{list(s.shape)} of {s.fraction_bits} bits in [{s.low:g}, {s.high:g}]" for s in sources),
        f"{cost['constraints']:,}",
        f"{cost['with_commitment']:,}" if cost["with_commitment"] else "",
        *((_plonkish(program), _looked_up(program), _luts(program)) if whole else [UNSAID] * LOOSE),
    )


def _sentences(operation: arrays.RealOperation) -> tuple[str, str]:
    """The docstring's first paragraph without its sentences about lowering, and those about the derivative."""
    text = " ".join((inspect.getdoc(operation) or "").split("\n\n")[0].split())
    sentences = re.split(r"(?<=[.:]) (?=[A-Z])", text)
    name = type(operation).__name__
    about = [s for s in sentences if re.match(r"(The|Its) derivative", s)]
    lowering = rf"Lowered|The (lowering|operation is lowered)|{name} is lowered"
    rest = " ".join(s for s in sentences if s not in about and not re.match(lowering, s))
    derivative = re.sub(rf"^(The|Its) derivative (of {name} )?(is )?", "", " ".join(about))
    return rest.removeprefix(f"{name}: ").rstrip("."), derivative.rstrip(".")


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _derivative(case: Case) -> str:
    """The operations that the reverse derivative adds."""
    builder = Builder()
    sources = builder.inputs([source.array for source in case.sources])
    targets = builder.apply(case.operation, *sources)
    before = builder.edge_count
    below = case.operation.reverse(builder, sources, targets, builder.inputs([case.target]))
    if all(wire is None for wire in below):
        return "none" if not case.sources else "zero"
    made = builder.build([wire for wire in below if wire is not None])
    names = [edge.operation.name.split(".")[1] for edge in list(made.edges())[before:]]
    return _counted(Counter(name for name in names if name != "constant")) or "the cotangent itself"


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" if count > 1 else name for name, count in names.items()).replace("_", " ")


def _error(case: Case, program: IntegerProgram) -> str:
    operation, (port,) = case.operation, program.outputs
    assert port.format is not None
    most = quantized_cases.greatest_tolerance(case, port.format)
    if isinstance(operation, quantized_cases.APPROXIMATED):
        return f"{most:.3f}, proved"
    return f"{most:.2g}" if most else "exact"


def _plonkish(program: IntegerProgram) -> str:
    try:
        return f"{plonkish(program)['rows']:,}"
    except CircuitizeError:
        return ""


def _looked_up(program: IntegerProgram) -> str:
    try:
        return f"{estimate(program)['lookups']:,}"
    except Unprovable:
        return ""


def _luts(program: IntegerProgram) -> str:
    try:
        found = parallel_sizes(bound_somehow(program).program)
        luts = f"{found['lut']:,}"
        return f"{luts} + {found['dsp']} DSP" if found["dsp"] else luts
    except CircuitizeError:
        return ""


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
