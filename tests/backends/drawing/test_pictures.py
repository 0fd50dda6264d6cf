"""Pictures of every example: each operation and wire once, nothing over anything else, the same bytes again."""

from __future__ import annotations

import re
import sys
import time
from graphlib import TopologicalSorter
from pathlib import Path

import example_names
import numpy as np
import picture_judge
import pytest
import tiers
from example_programs import example

from circuitize import compose_steps, draw, reverse_derivative, simplify
from circuitize.api.drawing import MEASURES
from circuitize.backends.drawing.drawing import drawing
from circuitize.backends.drawing.folding import folded
from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.operation import Provenance
from circuitize.circuits.program import Program
from circuitize.circuits.types import Array

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
LARGE = ("digits.py:adam", "digits_xent.py:adam", "cnn.py:step", "cnn.py:predict", "transformer.py:step")
"""Of the same shapes as smaller ones: `gpt2_folder.py:logits` has the attention, `mlp_1m.py:step` the training."""
ALL = [  # But a few in the deep tier; the bytes of those on the pages are compared in each.
    pytest.param(name, marks=() if name in example_names.FEW and name not in LARGE else pytest.mark.deep)
    for name in example_names.ALL
]


def program(name: str) -> Program:
    return example(name).given


def both(name: str) -> list[Program]:
    """The program as it is given, and that of integers; in `make test` one of the two, in turn."""
    found = [example(name).given, example(name).integer]
    return found if tiers.TIER == "deep" else [found[example_names.ALL.index(name) % 2]]


@pytest.mark.parametrize("name", ALL)
def test_unfolded_pictures_have_each_operation_and_wire_once(name: str) -> None:
    for given in both(name):
        made = draw(given, unfolded=True)
        arrow = made.arrow
        assert sorted(picture_judge.operations(made.svg)) == [[edge] for edge in range(arrow.edge_count)]
        assert picture_judge.wires(made.svg) == list(range(arrow.wire_count))
        assert picture_judge.faults(made.svg) == []


@pytest.mark.parametrize("name", ALL)
def test_folded_boxes_share_out_the_operations(name: str) -> None:
    for given in both(name):
        for depth in (1, None) if tiers.TIER == "deep" else (1,):
            made = draw(given, depth=depth)
            found = picture_judge.operations(made.svg)
            assert sorted(edge for box in found for edge in box) == list(range(made.arrow.edge_count))
            assert picture_judge.faults(made.svg) == []


@pytest.mark.parametrize("name", example_names.FEW[: tiers.count(1, deep=len(example_names.FEW))])
def test_an_arrow_is_drawn_as_it_is(name: str) -> None:
    """What a program computes is what `simplify` leaves; its arrow has all that is written."""
    given = program(name)
    assert draw(given).arrow.edge_count == simplify(given.arrow).edge_count
    whole = draw(given.arrow, unfolded=True)
    assert len(picture_judge.operations(whole.svg)) == given.arrow.edge_count
    assert picture_judge.faults(whole.svg) == []


@pytest.mark.parametrize("name", ["quantized.py:predict", pytest.param("cnn.py:predict", marks=pytest.mark.deep)])
def test_derivatives_and_types_and_costs_keep_to_the_rules(name: str) -> None:
    given = program(name)
    derivative = reverse_derivative(given.arrow)
    for unfolded in (False, True):
        assert picture_judge.faults(draw(derivative, unfolded=unfolded).svg) == []
        for cost in [*MEASURES][:: 1 if unfolded or tiers.TIER == "deep" else 3]:
            made = draw(given, unfolded=unfolded, types=True, cost=cost)
            assert picture_judge.faults(made.svg) == []
            assert MEASURES[cost][0] in made.svg


def test_fifteen_hundred_operations_are_drawn_in_seconds() -> None:
    steps = compose_steps(*[example("digits.py:step").integer] * 20)
    assert steps.arrow.edge_count > 1500
    start = time.process_time()
    for unfolded in (False, True):
        assert draw(steps, unfolded=unfolded).svg
    assert time.process_time() - start < 10


SHOWN = {
    **{f"{name}-step": (f"{name}.py:step", False) for name in ("iris", "digits", "digits_xent", "cnn", "mnist_mlp")},
    **{f"{name}-step": (f"{name}.py:step", False) for name in ("mlp_1m", "quantized", "transformer", "onnx_digits")},
    **{f"{name}-step": (f"{name}.py:step", False) for name in ("jax_iris",)},
    **{f"{name}-predict": (f"{name}.py:predict", True) for name in ("iris", "digits", "cnn", "quantized", "mnist_mlp")},
    **{f"{name}-predict": (f"{name}.py:predict", True) for name in ("lenet",)},
    "transformer-spherical-step": ("transformer.py:spherical_step", False),
    "digits-adam": ("digits.py:adam", False),
    "jet-scores": ("jet.py:scores", True),
    "dense-small": ("dense.py:small", True),
    "matmul-product": ("matmul.py:product", True),
    "gpt2-logits": ("gpt2_folder.py:logits", False),
}
"""Pictures of the pages: of which program, and whether unfolded."""
SOME = ("iris-step", "digits-step", "iris-predict", "dense-small", "matmul-product", "gpt2-logits")
"""Those that are drawn in `make test`; all are in `make deep` and `make golden`."""


@pytest.mark.parametrize("picture", SHOWN if tiers.TIER == "deep" or "--update-golden" in sys.argv else SOME)
def test_pictures_of_the_pages_are_these_bytes(picture: str, request: pytest.FixtureRequest) -> None:
    name, unfolded = SHOWN[picture]
    svg = draw(program(name), unfolded=unfolded, title=name).svg
    if tiers.TIER == "deep":
        assert draw(program(name), unfolded=unfolded, title=name).svg == svg
    path = PICTURES / f"{picture}.svg"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(svg)
    assert path.read_text() == svg, f"{path} differs: make golden, then look at it"


def test_the_picture_of_costs_is_these_bytes(request: pytest.FixtureRequest) -> None:
    svg = draw(program("digits.py:step"), cost="rows", title="digits.py:step").svg
    path = PICTURES / "digits-rows.svg"
    if request.config.getoption("--update-golden"):
        path.write_text(svg)
    assert path.read_text() == svg, f"{path} differs: make golden, then look at it"


def test_the_pictures_are_those_of_the_page() -> None:
    page = (PICTURES.parent / "drawing.md").read_text()
    shown = set(re.findall(r"\(pictures/(.*?)\.svg\)", page))
    assert shown == {path.stem for path in PICTURES.iterdir()} == {*SHOWN, "digits-rows"}


def test_the_pictures_are_small() -> None:
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 1_500_000


def test_wirings_are_drawn_too() -> None:
    from circuitize import identity, permute

    x, y = Array((2, 3)), Array(())
    for arrow in (identity(), identity(x), permute([x, y], [1, 1, 0]), permute([x, y], [])):
        made = draw(arrow, unfolded=True)
        assert picture_judge.wires(made.svg) == list(range(arrow.wire_count))
        assert picture_judge.faults(made.svg) == []
        assert "digraph" in made.dot


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ('x="95" y="62"', 'x="130" y="55"', "texts overlap"),
        ('x="95" y="62"', 'x="9994" y="62"', "off the page"),
        ('x="95" y="62"', 'x="95" y="45"', "a line crosses"),
        ("fill:#4d555e", "fill:#9d959e", "light: contrast"),
        ("fill:#aab4bf", "fill:#2a343f", "dark: contrast"),
        ("font-size:10px", "font-size:7px", "7px of"),
        ("</svg>", "<script>1</script></svg>", "element"),
        ('<rect class="p"', '<rect onclick="1" class="p"', "onclick"),
        ("<style>", "<style>.x{fill:url(#y)}", "url("),
    ],
)
def test_the_judge_sees_faults(before: str, after: str, fault: str) -> None:
    svg = (PICTURES / "iris-predict.svg").read_text()
    assert picture_judge.faults(svg) == []
    assert before in svg, svg[:4000]
    assert any(fault in told for told in picture_judge.faults(svg.replace(before, after, 1)))


def test_names_are_text_whatever_they_hold() -> None:
    names = [
        "<script>&amp;\"'",
        "long " * 200,
        "\u202eright to left",
        "tab\tand\x00nul\nline",
        "\ud800alone",
        "雪" * 30,
    ]
    builder = Builder()
    builder.provenance = Provenance("<b>\x07" + "deep." * 60, "a&b\x1b.py", 7)
    wires = builder.inputs([Array((2,))] * len(names))
    arrow = builder.build([builder.add(arrays.Negate(), wire) for wire in wires])
    for fold in (True, False):
        made = drawing(arrow, names, names[::-1], fold=fold, title="\x00<x>")
        assert picture_judge.faults(made.svg) == []
        made.svg.encode(), made.dot.encode()
        assert "\x1b" not in made.dot and "<script>" not in made.svg


@pytest.mark.parametrize("seed", tiers.seeds(8, deep=2000))
def test_groups_of_any_parts_form_no_circle(seed: int) -> None:
    random = np.random.default_rng(seed)
    builder = Builder()
    wires = builder.inputs([Array(())] * 3)
    for _ in range(40):
        builder.provenance = Provenance(str(random.choice(["a", "b", "a derivative", "c.d", "c.e", ""])), "f.py", 1)
        read = random.choice(wires[-8:], 2).tolist()
        wires.append(builder.add(arrays.Add(), *read))
    arrow = builder.build(random.choice(wires, 4).tolist())
    for depth in (1, 2, None):
        groups = folded(arrow, depth)
        assert sorted(edge for group in groups for edge in group.edges) == list(range(arrow.edge_count))
        of = {edge: place for place, group in enumerate(groups) for edge in group.edges}
        writer = {wire: edge for edge, row in enumerate(arrow.rows) for wire in row[2]}
        below = {
            place: {of[writer[w]] for edge in group.edges for w in arrow.rows[edge][1] if w in writer} - {place}
            for place, group in enumerate(groups)
        }
        assert len(list(TopologicalSorter(below).static_order())) == len(groups)
        made = draw(arrow, depth=depth)
        assert picture_judge.faults(made.svg) == []
        assert sorted(edge for box in picture_judge.operations(made.svg) for edge in box) == list(
            range(arrow.edge_count)
        )
