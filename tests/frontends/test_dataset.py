"""Data of one's own: formats found from it, CSV files, classes and regressions, calibration that holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import circuitize as cz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.quantize import quantize
from circuitize.sims import integer

GENERATOR = np.random.default_rng(1)
MEASURES = GENERATOR.normal(size=(50, 2)) * [3.0, 0.01] + [100.0, 0.0]
NAMES = np.array(["ash", "birch", "cedar"])[GENERATOR.integers(0, 3, 50)]


def test_every_value_is_one_of_its_format() -> None:
    for standardise in (True, False):
        data = cz.dataset(MEASURES, MEASURES[:, 0] * 2.5, standardise=standardise)
        for values, format in ((data.train_inputs, data.inputs), (data.test_targets, data.targets)):
            units = np.ldexp(values, format.fraction_bits)
            assert (units == np.rint(units)).all()
            assert format.low <= units.min() and units.max() <= format.high


def test_scales_undo_themselves() -> None:
    data = cz.dataset(MEASURES, MEASURES[:, 0], test=0.0)
    np.testing.assert_allclose(data.input_scale.undo(data.train_inputs), MEASURES, atol=2**-8 * 3)
    assert abs(data.train_inputs.mean(axis=0)).max() < 2**-8
    np.testing.assert_allclose(data.train_inputs.std(axis=0), 1.0, atol=2**-8)


def test_data_as_it_is_keeps_its_values() -> None:
    values = np.array([[0.0, 3.0], [16.0, 5.0], [7.0, 1.0]])
    data = cz.dataset(values, [1.5, 2.5, 0.25], standardise=False, test=0.0)
    assert (data.train_inputs == values).all() and (data.train_targets[:, 0] == [1.5, 2.5, 0.25]).all()
    assert data.inputs.low == 0


def test_classes_are_indicators_in_order() -> None:
    data = cz.dataset(MEASURES, NAMES)
    assert data.classes == ("ash", "birch", "cedar")
    assert (data.train_targets.sum(axis=1) == 1).all() and data.outputs == 3
    assert cz.dataset(MEASURES, GENERATOR.integers(4, 7, 50)).classes == ("4", "5", "6")
    assert cz.dataset(MEASURES, np.arange(50.0), kind="regression").classes == ()
    assert data.accuracy(data.test_targets) == 1.0


def test_the_test_part_is_chosen_by_the_seed() -> None:
    parts = [cz.dataset(MEASURES, NAMES, seed=seed).test_inputs for seed in (0, 0, 1)]
    assert (parts[0] == parts[1]).all() and (parts[0] != parts[2]).any() and len(parts[0]) == 10


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_csv_files(tmp_path: Path) -> None:
    rows = "\n".join(f"{a:.6f},{name},{b:.6f}" for (a, b), name in zip(MEASURES, NAMES, strict=True))
    named = cz.dataset(write(tmp_path / "a.csv", "height,tree,width\n" + rows), target="tree")
    plain = cz.dataset(write(tmp_path / "b.csv", rows), target="2")
    whole = cz.dataset(np.round(MEASURES, 6), NAMES)
    for data in (named, plain):
        assert (data.train_inputs == whole.train_inputs).all() and data.classes == whole.classes
    one = cz.dataset(tmp_path / "a.csv", target="tree", columns=["width"])
    assert one.features == 1 and (one.train_inputs[:, 0] == whole.train_inputs[:, 1]).all()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,2\n3\n", ":3: expected 2 columns"),
        ("a,b\n1,2\nx,4\n", ":3: expected a number in column 'a', found 'x'"),
        ("a,b\n1,2\n,4\n", ":3: expected a number in column 'a', found ''"),
        ("a,a\n1,2\n", "found 'a' twice"),
        ("", "expected rows of numbers"),
        ("a,species\n", "expected rows of numbers below the line of names, found none"),
        ("a\n1\n2\n", "expected features beside"),
    ],
)
def test_what_a_csv_file_lacks_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(CircuitizeError) as raised:
        cz.dataset(write(tmp_path / "a.csv", text), kind="regression")
    assert told in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,oak\n2,\n", "a.csv:3: expected a class in column 'b', found ''; fill it in"),
        ("a,b\n1,0.5\n2,\n", "a.csv:3: expected a number in column 'b', found ''"),
        ("a,b\n1,0.5\n2,nan\n", "a.csv:3: expected a number in column 'b', found 'nan'"),
        ("a,b\n1,1\n2,2\n2,NaN\n", "a.csv:4: expected a number in column 'b', found 'NaN'"),
        ("a,b\n1,0.5\n\n2,NA\n", "a.csv:4: expected a number in column 'b', found 'NA'"),
        ("a,b\n1,oak\n\n\nx,elm\n", "a.csv:5: expected a number in column 'a', found 'x'"),
        ("a,b\n1,oak\n2,oak\n", "a.csv: column 'b': expected 2 to 4,096 classes, found 1"),
        ("a;b\n1;oak\n", "a.csv: expected columns separated by commas, found one column 'a;b'; write the file with"),
    ],
)
def test_what_a_column_to_predict_lacks_is_named(tmp_path: Path, text: str, told: str) -> None:
    """A missing answer is no class of its own, and a row is named by its line also below empty lines."""
    with pytest.raises(CircuitizeError) as raised:
        cz.dataset(write(tmp_path / "a.csv", text))
    assert told in str(raised.value) and "\n" not in str(raised.value)


def test_classes_may_be_numbers_and_names(tmp_path: Path) -> None:
    text = "a,b\n" + "1,2\n2,2b\n" * 5
    assert cz.dataset(write(tmp_path / "a.csv", text)).classes == ("2", "2b")
    text = "a,b\n" + "1,1.5\n2,old\n" * 5
    assert cz.dataset(write(tmp_path / "b.csv", text), kind="classes").classes == ("1.5", "old")


@pytest.mark.parametrize(
    ("inputs", "targets", "told"),
    [
        (MEASURES, NAMES[:-1], "a target for each of 50 examples, found 49"),
        (MEASURES[:, 0], NAMES, "expected inputs of shape"),
        (np.where(MEASURES > 100, np.nan, MEASURES), NAMES, "finite"),
        (MEASURES, None, "targets beside the inputs"),
        (MEASURES, np.zeros(50, np.int64), "2 to 4,096 classes, found 1"),
    ],
)
def test_what_data_lacks_is_named(inputs: Any, targets: Any, told: str) -> None:
    with pytest.raises(CircuitizeError) as raised:
        cz.dataset(inputs, targets)
    assert told in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("rate", ["x", float("nan"), float("inf"), None])
@pytest.mark.parametrize("optimizer", [cz.SGD(), cz.Adam()])
def test_a_rate_that_is_no_number_is_refused(rate: Any, optimizer: cz.SGD | cz.Adam) -> None:
    data = cz.dataset(inputs=np.arange(16.0).reshape(8, 2), targets=[0, 1] * 4)
    with pytest.raises(CircuitizeError, match="expected a finite number as the learning rate, found"):
        next(data.batches(2, 1, rate, optimizer))


def test_a_calibration_holds_for_the_whole_run() -> None:
    data = cz.dataset(MEASURES, NAMES)
    model = cz.sequential(cz.dense(2, 4), cz.relu(), cz.dense(4, 3))
    step = cz.training_step(model, cz.mean_squared_error, cz.SGD(), batch=8, inputs=data.inputs, targets=data.targets)
    start = cz.start(step, model, seed=0)
    batches = list(data.batches(batch=8, epochs=6, learning_rate=0.5))
    found = cz.calibrated(step, start, batches)
    losses = [float(outputs["loss"]) for outputs in integer.train(quantize(found), start, batches)]
    assert len(losses) == len(batches) and losses[-1] < losses[0]
    assert 1 <= len(found.examples) < len(batches)
    assert (found.examples[0]["inputs"] == batches[-1]["inputs"]).all()


def test_a_calibration_widens_its_margin_where_it_must() -> None:
    data = cz.dataset(MEASURES, NAMES)
    model = cz.sequential(cz.dense(2, 4), cz.relu(), cz.dense(4, 3))
    narrow = cz.Precision(margin=0.25)
    step = cz.training_step(
        model, cz.mean_squared_error, cz.SGD(), 8, inputs=data.inputs, targets=data.targets, precision=narrow
    )
    found = cz.calibrated(step, cz.start(step, model, seed=0), data.batches(batch=8, epochs=2, learning_rate=0.5))
    assert found.precision.margin > 0.25


def test_a_run_that_diverges_is_refused() -> None:
    data = cz.dataset(MEASURES, NAMES)
    model = cz.sequential(cz.dense(2, 4), cz.relu(), cz.dense(4, 3))
    step = cz.training_step(model, cz.mean_squared_error, cz.SGD(), batch=8, inputs=data.inputs, targets=data.targets)
    with pytest.raises(CircuitizeError, match="batch for each step"):
        cz.calibrated(step, cz.start(step, model, seed=0), [])
    with pytest.raises(CircuitizeError, match="expected a batch of 1 to 40"):
        next(data.batches(batch=64, epochs=1, learning_rate=0.5))


def test_a_training_that_runs_away_is_told_to_go_slower() -> None:
    """A weight that a step leaves outside its format is no fault of the data."""
    data = cz.dataset(MEASURES, NAMES)
    model = cz.sequential(cz.dense(2, 40), cz.relu(), cz.dense(40, 40), cz.relu(), cz.dense(40, 3))
    step = cz.training_step(model, cz.mean_squared_error, cz.SGD(), batch=8, inputs=data.inputs, targets=data.targets)
    start = cz.start(step, model, seed=0)
    with pytest.raises(CircuitizeError, match=r"step \d+: expected input 'dense.*, or lower the learning rate"):
        cz.calibrated(step, start, data.batches(batch=8, epochs=20, learning_rate=1.0))
    outside = {**start, "dense1.weight": np.full((2, 40), 100.0)}
    with pytest.raises(CircuitizeError, match=r"step 1: expected input 'dense1\.weight'") as raised:
        cz.calibrated(step, outside, data.batches(batch=8, epochs=1, learning_rate=0.5))
    assert "learning rate" not in str(raised.value)


def test_a_rate_outside_its_format_is_named() -> None:
    data = cz.dataset(MEASURES, NAMES)
    with pytest.raises(
        CircuitizeError, match=r"expected learning_rate in \[0.0, 1.0\], found 7; choose another number"
    ):
        next(data.batches(8, 1, 7.0))
