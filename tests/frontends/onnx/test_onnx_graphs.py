"""Random ONNX graphs of one operator: none is wrong, none ends in another exception than ours."""

from __future__ import annotations

import onnx_judge
from numpy.random import default_rng
from onnx_graphs import MALFORMED, graph
from onnx_oracles import NEWEST, onnxruntime
from onnx_recipes import RECIPES
from tiers import count

from circuitize.frontends.onnx import OPERATORS
from circuitize.frontends.onnx.folding import OWN

GRAPHS = count(200, deep=400)


def test_random_graphs() -> None:
    tally, random, made = onnx_judge.Tally(), default_rng(20), 0
    while made < GRAPHS:
        given = graph(random, NEWEST)
        if onnxruntime is None and given.operator in OWN:
            continue
        onnx_judge.judge(given, tally)
        made += 1
    assert not tally.wrong, "\n".join(tally.wrong)
    assert tally.outcomes["equal, whole"] > 0.75 * GRAPHS
    assert tally.single["accepted"] > 0.9 * tally.single.total()
    assert tally.slowest < 5


def test_every_way_to_be_malformed_ends_in_one_line_or_in_a_right_answer() -> None:
    tally, random, seen = onnx_judge.Tally(), default_rng(21), set()
    for _ in range(400):
        given = graph(random, NEWEST, malformed=1.0)
        if onnxruntime is not None or given.operator not in OWN:
            onnx_judge.judge(given, tally)
            seen.add(given.malformed)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert seen == MALFORMED.keys()


def test_every_recipe_is_of_an_operator() -> None:
    assert OPERATORS.keys() >= RECIPES.keys()
