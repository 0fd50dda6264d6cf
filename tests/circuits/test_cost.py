"""What programs cost, in tests/golden/cost.csv so that any change shows in review; estimates equal what is emitted.

In `make test` of examples of the same operations one, and one case each of integer operations and of those real ones
that are no composites; in `make deep` all.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial

import arrays_cases
import function_cases
import integers_cases
import pytest
import quantized_cases
import tiers
from example_programs import EXAMPLES, example
from golden_files import GOLDEN
from operations_page import differences, page
from r1cs_programs import single

from circuitize.backends.r1cs.challenge import Challenge
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import emit
from circuitize.circuits import arrays
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram

PROGRAMS = [
    *("iris.py:step", "iris.py:predict", "digits.py:step", "digits.py:predict", "dense.py:small", "dense.py:large"),
    *("digits_xent.py:step", "digits_xent.py:momentum", "digits_xent.py:adam", "cnn.py:step", "cnn.py:predict"),
    *("mnist_mlp.py:predict", "mnist_mlp.py:step", "mnist_mlp.py:step64", "jet.py:scores", "jet.py:classify"),
    *("transformer.py:step", "quantized.py:step", "quantized.py:predict", "gpt2_folder.py:logits"),
    *("onnx_digits.py:step", "jax_iris.py:step", "jax_iris.py:given"),
]
FITTED = ("trees.py:predict",)
"""Not golden: logarithms of NumPy differ in the last bit between processors, and so do the trees fitted with them."""
LARGER = {
    *("mnist_mlp.py:predict", "mnist_mlp.py:step", "mnist_mlp.py:step64", "digits_xent.py:momentum"),
    *("iris.py:predict", "quantized.py:predict"),
    *("gpt2_folder.py:logits", "onnx_digits.py:step", "jax_iris.py:step", "jax_iris.py:given"),
    *("digits.py:step", "digits.py:predict", "cnn.py:predict", "digits_xent.py:adam", "digits_xent.py:step"),
    *("dense.py:large", "jet.py:scores", "jet.py:classify", "quantized.py:step", "cnn.py:step", "transformer.py:step"),
}
"""Of the same operations as others."""
EXECUTED = {"lenet.py", "mlp_1m.py", "mlp_10m.py", "matmul.py"}
"""Examples for the executors and for Plonkish: as rank-one constraints they have millions of products."""

COLUMNS = ("constraints", "wires", "public", "nonzeros", "input_range_constraints", "with_commitment")
"""The last is the constraints of the circuit whose challenge is drawn after a commitment, 0 where there is none."""

Table = dict[str, dict[str, int]]


@cache
def sizes(name: str) -> dict[str, int]:
    return counted(example(name).integer)


def counted(program: IntegerProgram) -> dict[str, int]:
    found = estimate(program)
    try:
        committed = estimate(program, challenge=Challenge.COMMITTED)["constraints"]
    except CircuitizeError as error:
        assert "to test by a challenge" in str(error)
        committed = 0
    return {**{column: found[column] for column in COLUMNS[:-1]}, COLUMNS[-1]: committed}


def costs(everything: bool) -> Table:
    """Every example, then every case of both languages; cases that look the same are numbered."""
    table = {f"examples/{name}": sizes(name) for name in PROGRAMS if everything or name not in LARGER}
    seen: Counter[str] = Counter()
    for name, program in cases(everything):
        seen[name] += 1
        key = f"{name} #{seen[name]}" if seen[name] > 1 else name
        if program is not None:
            table[key] = counted(program())
    return table


def cases(everything: bool) -> Iterator[tuple[str, Callable[[], IntegerProgram] | None]]:
    """Names, and what makes the program of a case that is chosen."""
    each = tiers.of_each(arrays_cases.cases())
    simple = [real for real in each if not isinstance(real.operation, arrays.Composite)]
    chosen = arrays_cases.cases() if everything else simple
    for real in arrays_cases.cases():
        yield (
            f"{real.operation.name} {' x '.join(str(s.fixed) for s in real.sources)}".strip(),
            partial(quantized_cases.program, real) if real in chosen else None,
        )
    for place, made in enumerate(function_cases.function_cases()):
        some = everything or place % 6 == 0
        yield f"function {made}", partial(function_cases.small_program, made) if some else None
    whole = integers_cases.cases()
    few = whole if everything else tiers.of_each(whole)
    for case in whole:
        yield (
            f"{case.operation.name} {' x '.join(map(str, case.sources))}".strip(),
            partial(single, case.operation, *case.sources) if case in few else None,
        )


def written(table: Table) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, ["program", *COLUMNS], lineterminator="\n")
    writer.writeheader()
    writer.writerows({"program": name, **row} for name, row in table.items())
    return text.getvalue()


def read(text: str) -> Table:
    rows = csv.DictReader(io.StringIO(text))
    return {row["program"]: {column: int(row[column]) for column in COLUMNS} for row in rows}


def changes(before: Table, now: Table) -> list[str]:
    """What costs more or less than before, a line for each program."""
    lines = [f"{name}: gone" for name in before if name not in now]
    for name, row in now.items():
        if name not in before:
            lines.append(f"{name}: new, {row['constraints']:,} constraints")
            continue
        told = [
            f"{column} {old:,} -> {row[column]:,} ({100 * (row[column] - old) / max(old, 1):+.1f} %)"
            for column, old in before[name].items()
            if old != row[column]
        ]
        if told:
            lines.append(f"{name}: {', '.join(told)}")
    return lines


@pytest.mark.slow
def test_costs_are_golden(golden: Callable[[str, str | bytes], None], request: pytest.FixtureRequest) -> None:
    renewed = bool(request.config.getoption("--update-golden"))
    everything = renewed or tiers.TIER == "deep"
    table, before = costs(everything), read((GOLDEN / "cost.csv").read_text())
    # In the order of the file; what is new comes last.
    table = {name: row for name, row in before.items() if name in table or not everything} | table
    if not renewed:
        found = changes(before, table)
        assert not found, "\n".join(["costs differ from tests/golden/cost.csv; if that was meant: make golden", *found])
    golden("cost.csv", written(table))


def test_the_page_of_operations_is_written_from_the_code(
    golden: Callable[[str, str | bytes], None], request: pytest.FixtureRequest
) -> None:
    """Reads the table of costs, which the test above has compared, or renewed; of the other targets a row in twenty."""
    renewed = request.config.getoption("--update-golden")
    made = page(read((GOLDEN / "cost.csv").read_text()), 1 if renewed else tiers.count(20, deep=1))
    if renewed:
        golden("../../docs/operations.md", made)
    found = (GOLDEN / "../../docs/operations.md").read_text()
    told = differences(made, found)
    assert not told, "\n".join(["docs/operations.md differs; if that was meant: make golden", *told])
    assert differences(made.replace("| 28 |", "| 29 |", 1), found)
    assert differences(made.replace("The magnitude", "A magnitude"), found)


def test_changes_are_told() -> None:
    row = dict.fromkeys(COLUMNS, 2000)
    assert changes({"a": row, "b": row}, {"a": row | {"constraints": 2020}, "c": row}) == [
        "b: gone", "a: constraints 2,000 -> 2,020 (+1.0 %)", "c: new, 2,000 constraints",
    ]  # fmt: skip
    assert read(written({"a": row, "b, c": row})) == {"a": row, "b, c": row}


EMITTED = ("iris.py:step", "dense.py:small", "jet.py:classify")
"""Of the others circuits are emitted in the deep tier alone: every operation's is compared in tests/sims/agree, and a
small transformer's in tests/frontends/test_transformer.py.
"""


@pytest.mark.parametrize(
    "name", [*EMITTED, *(pytest.param(n, marks=pytest.mark.deep) for n in [*PROGRAMS, *FITTED] if n not in EMITTED)]
)
def test_estimates_equal_what_is_emitted(name: str) -> None:
    system = emit(example(name).integer).system
    emitted = {column: getattr(system, column) for column in COLUMNS[:4]}
    assert emitted == {column: sizes(name)[column] for column in COLUMNS[:4]}
    assert emit(example(name).integer, challenge=Challenge.COMMITTED).system.constraints == sizes(name)[COLUMNS[-1]]


def test_every_example_is_listed() -> None:
    listed = {name.partition(":")[0] for name in (*PROGRAMS, *FITTED)} | EXECUTED
    assert listed == {path.name for path in EXAMPLES.glob("*.py")}


@pytest.mark.parametrize(
    ("name", "most"),
    [("digits.py:step", 130_000), ("digits_xent.py:step", 170_000), ("mnist_mlp.py:step64", 2_500_000)],
)
def test_a_commitment_takes_steps_below_what_bits_can(name: str, most: int) -> None:
    assert read((GOLDEN / "cost.csv").read_text())[f"examples/{name}"]["with_commitment"] <= most / 1.4


def test_the_digits_step_fits_its_domain() -> None:
    """At most 2^18 rows, public inputs included: with more, proving would need twice the domain."""
    found = read((GOLDEN / "cost.csv").read_text())["examples/digits.py:step"]
    assert found["constraints"] + found["public"] + 1 <= 1 << 18


@pytest.mark.parametrize(("name", "most"), [("dense.py:small", 290), ("dense.py:large", 20_448)])
def test_dense_layers_cost_what_they_must(name: str, most: int) -> None:
    """A row per input and six outputs, and 24 bits and a product per output; besides the range checks of inputs."""
    found = sizes(name)
    assert found["constraints"] - found["input_range_constraints"] <= most
