"""Tree ensembles of scikit-learn: its own decisions on quantized inputs, in integers, hardware and circuits."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tiers import count

import circuitize as cz
from circuitize.backends.verilog.folded import schedule as folded
from circuitize.backends.verilog.parallel import schedule as parallel
from circuitize.circuits.values import Raw, to_reals
from circuitize.frontends.trees.estimators import forest_of
from circuitize.frontends.trees.programs import GROUP, SCORE_BITS
from circuitize.sims import integer
from circuitize.sims.agree import R1CS, agree
from circuitize.sims.rtl import Simulation

PIXELS = cz.Format(0, 0, 16)
CLASSIFIERS: dict[str, tuple[str, dict[str, Any]]] = {
    "boosted": ("GradientBoostingClassifier", {"n_estimators": 10, "random_state": 0}),
    "binned": ("HistGradientBoostingClassifier", {"max_iter": 3, "max_leaf_nodes": 12, "random_state": 0}),
    "forest": ("RandomForestClassifier", {"n_estimators": 5, "max_depth": 7, "random_state": 0}),
    "extra": ("ExtraTreesClassifier", {"n_estimators": 5, "max_depth": 6, "random_state": 0}),
    "tree": ("DecisionTreeClassifier", {"random_state": 0}),
}


def made(kind: str, **given: Any) -> Any:
    """An estimator. Scikit-learn is imported here, since it takes a second and few tests need it."""
    module = import_module("sklearn.tree" if kind.startswith("Decision") else "sklearn.ensemble")
    return getattr(module, kind)(**given)


def data(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    x, y = getattr(import_module("sklearn.datasets"), f"load_{name}")(return_X_y=True)
    return x, y


@cache
def digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return data("digits")


@cache
def fitted(name: str, classes: int = 10) -> Any:
    """Fitted to all images but the last 360, to tell digits, or digits above 4 from others."""
    pixels, labels = digits()
    kind, given = CLASSIFIERS[name]
    labels = labels if classes == 10 else (labels > 4).astype(np.int64)
    return made(kind, **given).fit(pixels[:-360], labels[:-360])


EACH = [
    pytest.param(name, classes, marks=pytest.mark.deep if (name, classes) == ("boosted", 10) else ())
    for name in CLASSIFIERS
    for classes in (10, 2)
]
"""Boosted trees of ten classes take a second to fit: `binned` are such, of other leaves."""


@pytest.mark.parametrize(("name", "classes"), EACH)
def test_decisions_are_equal_on_every_test_image(name: str, classes: int) -> None:
    estimator, x = fitted(name, classes), digits()[0][-360:]
    program = cz.from_trees(estimator, PIXELS, batch=360, outputs=("class", "scores"))
    made = integer.run(program, {"inputs": x})
    assert forest_of(estimator).certain(x, SCORE_BITS).all()
    np.testing.assert_array_equal(made["class"], estimator.predict(x))
    forest = forest_of(estimator)
    reach = (len(forest.roots) + 1) * 2.0 ** -(SCORE_BITS + 1)
    assert np.abs(to_reals(program.outputs[1].format, made["scores"]) - forest.scores(x)).max() <= reach
    values, base = (np.rint(np.ldexp(reals, SCORE_BITS)) for reals in (forest.values, forest.base))
    np.testing.assert_array_equal(made["scores"], replace(forest, values=values, base=base).scores(x))


def test_a_base_score_may_need_nearly_all_bits() -> None:
    """Its multiples would not fit into 63 bits."""
    x = np.random.default_rng(0).integers(0, 17, (200, 3)).astype(np.float64)
    estimator = made("GradientBoostingRegressor", n_estimators=9, random_state=0).fit(x, 3e6 + x[:, 0])
    program = cz.from_trees(estimator, PIXELS, score_bits=40, batch=200)
    found = to_reals(program.outputs[0].format, integer.run(program, {"inputs": x})["scores"])
    np.testing.assert_allclose(found, forest_of(estimator).scores(x), rtol=0, atol=2e-9)


@pytest.mark.parametrize("name", ["boosted", "binned", "forest"])
def test_thresholds_that_inputs_hit_or_pass_are_as_in_floats(name: str) -> None:
    """Features in sixteenths, of which half are next to a threshold on either side, and out to the ends."""
    x, y = data("iris")
    kind, given = CLASSIFIERS[name]
    estimator = made(kind, **given).fit(x, y)
    forest, format = forest_of(estimator), cz.Format(4, -8, 140)
    random = np.random.default_rng(1)
    near = np.floor(random.choice(forest.threshold[forest.inner], (400, 4)) * 16) + random.integers(-1, 2, (400, 4))
    drawn = np.clip(near, -8, 140) / 16
    found = integer.run(cz.from_trees(estimator, format, batch=400, score_bits=24), {"inputs": drawn})["class"]
    sure = forest.certain(drawn, 24)
    np.testing.assert_array_equal(found[sure], estimator.predict(drawn)[sure])
    assert sure.mean() > 0.8 and len(np.unique(found)) == 3


@pytest.mark.rtl
@pytest.mark.parametrize("schedule", [parallel, folded], ids=["parallel", "folded"])
def test_hardware_decides_alike(schedule: Any) -> None:
    """Boosted trees on every test image in the parallel design, in `make test` of two classes as in the folded one,
    which decides on some.
    """
    whole = schedule is parallel
    estimator, x = fitted("boosted", count(2, deep=10) if whole else 2), digits()[0][-360:][: 360 if whole else 12]
    design = schedule(cz.from_trees(estimator, PIXELS))
    with Simulation(design, "icarus") as simulation:
        frames = simulation.run({"inputs": x.astype(np.int64)[:, None]})
    np.testing.assert_array_equal(frames.outputs["class"][:, 0], estimator.predict(x))


def test_constraints_have_the_same_values() -> None:
    program = cz.from_trees(fitted("tree", 2), PIXELS)
    vectors = [{"inputs": Raw(x[None].astype(np.int64))} for x in digits()[0][-360:][: count(3, deep=60)]]
    found = agree(program, vectors, [R1CS(program)])
    assert (found.mismatches, found.undefined) == (0, 0), found.first_difference


@pytest.mark.proof
def test_a_decision_is_proved_and_another_one_is_not() -> None:
    estimator = made("GradientBoostingClassifier", n_estimators=2, max_depth=2, random_state=0).fit(*data("iris"))
    x = data("iris")[0][77:78]
    program = cz.from_trees(estimator, cz.Format(4, 0, 255))
    proof = cz.compile(program, cz.tensor_proof).prove({"inputs": x}, not_zero_knowledge=True)
    wanted = estimator.predict(np.round(x * 16) / 16)
    verdict = cz.verifier(program, prover="tensor", expect={"class": wanted}).check(proof)
    assert verdict.valid and verdict.publics["class"].tolist() == wanted.tolist()
    assert not cz.verifier(program, prover="tensor", expect={"class": (wanted + 1) % 3}).check(proof)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("GradientBoostingRegressor", {"n_estimators": 5, "random_state": 0}),
        ("HistGradientBoostingRegressor", {"max_iter": 3}),
        ("RandomForestRegressor", {"n_estimators": 3, "max_depth": 5, "random_state": 0}),
    ],
    ids=["boosted", "binned", "forest"],
)
def test_a_regressor_is_within_the_rounding_of_its_leaves(kind: str, given: dict[str, Any]) -> None:
    x, y = data("diabetes")
    quantized = np.round(x * 1024) / 1024
    estimator = made(kind, **given).fit(quantized, y)
    program = cz.from_trees(estimator, cz.Format.signed(12, 10), batch=len(x))
    found = to_reals(program.outputs[0].format, integer.run(program, {"inputs": quantized})["scores"])
    trees = len(forest_of(estimator).roots)
    assert np.abs(found[:, 0] - estimator.predict(quantized)).max() <= (trees + 1) * 2.0 ** -(SCORE_BITS + 1)


def test_comparisons_are_shared_and_nothing_grows_with_elements() -> None:
    """Each test stands once, whatever number of nodes has it; edges grow with groups of trees, not with nodes."""
    estimator = fitted("boosted")
    forest = forest_of(estimator)
    program = cz.from_trees(estimator, PIXELS)
    tests = {*zip(forest.feature[forest.inner], np.floor(forest.threshold[forest.inner]), strict=True)}
    negative = [edge for edge in program.arrow.edges() if edge.operation.name == "integer.is_negative"]
    assert [program.arrow.format(edge.targets[0]).size for edge in negative] == [len(tests)]
    assert len(tests) < forest.inner.sum() / 2
    assert program.arrow.edge_count <= 20 + 40 * (1 + len(forest.left) // GROUP)


def test_wrong_use_is_one_line() -> None:
    tree = fitted("tree", 2)
    narrow = cz.Format(0, 0, 1 << 24)
    faults: list[tuple[Any, dict[str, Any], str]] = [
        ((3, PIXELS), {}, "expected a tree ensemble of scikit-learn"),
        ((made("AdaBoostClassifier"), PIXELS), {}, "found .*AdaBoost"),
        ((made("DecisionTreeClassifier"), PIXELS), {}, "expected a fitted DecisionTreeClassifier"),
        ((tree, "ufixed<5,5>"), {}, "expected a Format of the features"),
        ((tree, narrow), {}, "expected features of at most 24 bits"),
        ((tree, PIXELS), {"score_bits": 99}, "expected score_bits from 0 to 40"),
        ((tree, PIXELS), {"outputs": ("label",)}, "expected outputs among class, scores"),
        ((tree, PIXELS), {"batch": 0}, "expected a batch of at least 1"),
        ((tree, PIXELS), {"data": np.zeros((3, 5))}, r"data: expected shape \[N, 64\]"),
        ((tree, PIXELS), {"data": np.zeros((3, 64)), "labels": np.zeros(4)}, r"labels: expected shape \[3\]"),
    ]
    for given, named, message in faults:
        with pytest.raises(cz.CircuitizeError, match=message) as raised:
            cz.from_trees(*given, **named)
        assert "\n" not in str(raised.value)


def test_trees_that_were_changed_are_refused() -> None:
    """What does not score as its estimator does is not taken: here one whose rate was set after fitting."""
    x, y = data("iris")
    estimator = made("HistGradientBoostingClassifier", max_iter=2).fit(x, y)
    estimator._predictors[0][0].nodes["is_categorical"][0] = 1
    with pytest.raises(cz.CircuitizeError, match="found categories"):
        cz.from_trees(estimator, cz.Format(4, 0, 255))
    first = made("DecisionTreeClassifier", max_depth=1)
    boosted = made("GradientBoostingClassifier", n_estimators=3, init=first, random_state=0)
    with pytest.raises(cz.CircuitizeError, match="found other scores"):
        cz.from_trees(boosted.fit(x, y), cz.Format(4, 0, 255))
