"""Estimators of scikit-learn through skl2onnx, as exported: beside onnxruntime, and on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from estimators import ESTIMATORS, fitted

from circuitize.cli import main
from circuitize.frontends.onnx.network import network
from circuitize.sims import real

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


def columns(given: Any) -> Any:
    """Outputs of onnxruntime, maps from labels to numbers as columns."""
    return np.array([list(row.values()) for row in given]) if isinstance(given, list) else given


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_equals_onnxruntime(name: str) -> None:
    model, data = fitted(name)
    ours = network(model, {"X:0": len(data)})
    given = {"X": data, **ours.parameters}
    found = real.executor(ours.arrow).outputs([np.asarray(given[name], np.float64) for name in ours.inputs])
    wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(list(ours.outputs), {"X": data})
    for mine, theirs in zip(found, map(columns, wanted), strict=True):
        assert mine.shape == theirs.shape and np.abs(mine - theirs).max() <= 1e-4 * max(1.0, np.abs(theirs).max())


@pytest.mark.parametrize("name", ["LogisticRegression", "GaussianNB", "DecisionTreeClassifier"])
def test_labels_that_are_texts_are_their_places(name: str) -> None:
    model, data = fitted(name, ("ant", "elk", "owl"))
    ours = network(model, {"X:0": len(data)})
    given = {"X": data, **ours.parameters}
    found = real.executor(ours.arrow).outputs([np.asarray(given[name], np.float64) for name in ours.inputs])
    (wanted,) = onnxruntime.InferenceSession(model.SerializeToString()).run(list(ours.outputs)[:1], {"X": data})
    assert [("ant", "elk", "owl")[int(place)] for place in found[0]] == wanted.tolist()


def test_integers_are_close_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Labels are exact; probabilities of a forest are sums of leaves."""
    model, data = fitted("RandomForestClassifier")
    path, examples = tmp_path / "model.onnx", tmp_path / "data.npz"
    path.write_bytes(model.SerializeToString())
    np.savez(examples, X=data)
    options = ["--dim", "X:0=5", "--format", "X=0:8:5", "--calibrate", str(examples)]
    assert main(["accuracy", str(path), *options, "--json"]) == 0
    outputs = json.loads(capsys.readouterr().out)["outputs"]
    assert outputs["output_label"]["measured"] == 0 and outputs["output_probability"]["measured"] < 1e-3
