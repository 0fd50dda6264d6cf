"""Hardware configured by layer: its bits, layer by layer, by a second definition of ap_fixed, and in a simulator."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tiers import count

import circuitize as cz
from circuitize.api.hardware.network import HardwareModel
from circuitize.backends.verilog.project import read_project
from circuitize.sims.rtl import Simulation

MODEL = cz.sequential(cz.dense(4, 8), cz.relu(), cz.dense(8, 3))
CHANNELS = ["ufixed<6,2,RND,SAT>", "ufixed<5,3,RND,SAT>", "ufixed<4,0,RND,SAT>", "ufixed<7,4,RND,SAT>"] * 2
CONFIG: dict[str, Any] = {
    "Model": {"Precision": "ap_fixed<11,4,AP_RND_CONV,AP_SAT>", "ReuseFactor": 1},
    "LayerName": {
        "inputs": {"Precision": "fixed<7,2,TRN,SAT>"},
        "dense1": {"Precision": {"weight": "ap_fixed<6,2,AP_RND,AP_SAT_SYM>", "bias": "ap_fixed<9,3,AP_TRN,AP_SAT>"}},
        "relu": {"Precision": {"result": CHANNELS}},
        "dense2": {"Precision": {"weight": [["fixed<5,2,TRN_ZERO,SAT>"] * 2 + ["fixed<7,2,TRN_ZERO,SAT>"]]}},
    },
}
Reals = NDArray[np.float64]


def weights() -> dict[str, Reals]:
    random = np.random.default_rng(5)
    shapes = {"dense1.weight": (4, 8), "dense1.bias": (8,), "dense2.weight": (8, 3), "dense2.bias": (3,)}
    return {name: random.normal(0, 1.5, shape) for name, shape in shapes.items()}


def data(frames: int, seed: int = 0) -> Reals:
    """Ends, ties and what lies outside the format among them."""
    random = np.random.default_rng(seed)
    return np.round(random.uniform(-2.6, 2.6, (frames, 4)) * 64) / 64


def made(config: dict[str, Any] = CONFIG, **options: Any) -> HardwareModel:
    return cz.hardware(MODEL, config, weights=weights(), data=data(4) / 2, **options)


def ap_fixed(x: Any, width: int, integer: int, rounding: str, signed: bool = True, symmetric: bool = False) -> Reals:
    """What high-level synthesis makes of numbers, one at a time and in fractions, saturating."""
    unit = Fraction(2) ** (width - integer)
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)

    def one(value: float) -> float:
        exact = Fraction(value) * unit
        below = floor(exact)
        rest = exact - below
        if rounding == "RND":
            below += rest >= Fraction(1, 2)
        elif rounding == "RND_CONV":
            below += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2 == 1)
        elif rounding == "TRN_ZERO":
            below += exact < 0 and rest > 0
        return float(max(-high if symmetric else low, min(high, below)) / unit)

    found: Reals = np.vectorize(one, otypes=[float])(x)
    return found


def judged(x: Reals) -> dict[str, Reals]:
    """The layers of the network, by the second definition."""
    given = weights()
    entering = ap_fixed(x, 7, 2, "TRN")
    first = ap_fixed(given["dense1.weight"], 6, 2, "RND", symmetric=True)
    second = np.hstack(
        [
            ap_fixed(given["dense2.weight"][:, :2], 5, 2, "TRN_ZERO"),
            ap_fixed(given["dense2.weight"][:, 2:], 7, 2, "TRN_ZERO"),
        ]
    )
    one = ap_fixed(entering @ first + ap_fixed(given["dense1.bias"], 9, 3, "TRN"), 11, 4, "RND_CONV")
    formats = [(6, 2), (5, 3), (4, 0), (7, 4)] * 2
    hidden = np.stack(
        [ap_fixed(np.maximum(one[:, n], 0), *format, "RND", signed=False) for n, format in enumerate(formats)], 1
    )
    last = ap_fixed(hidden @ second + ap_fixed(given["dense2.bias"], 11, 4, "RND_CONV"), 11, 4, "RND_CONV")
    return {"dense1": one, "relu": hidden, "dense2": last}


def test_every_layer_has_the_bits_of_a_second_definition() -> None:
    network, x = made(), data(count(200, deep=20_000), seed=1)
    wanted, found = judged(x), network.trace(x)
    assert list(found) == list(wanted)
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
        assert len(np.unique(values)) > 20
    np.testing.assert_array_equal(network.predict(x), wanted["dense2"])


@pytest.mark.rtl
@pytest.mark.parametrize("reuse", [{}, {"dense1": 16, "dense2": 4}], ids=["parallel", "shared"])
def test_predictions_are_the_bits_of_the_design_as_written(reuse: dict[str, int], tmp_path: Path) -> None:
    said = {name: {**CONFIG["LayerName"].get(name, {}), "ReuseFactor": often} for name, often in reuse.items()}
    network = made({**CONFIG, "LayerName": {**CONFIG["LayerName"], **said}})
    assert network.design.scheduler == ("folded" if reuse else "parallel")
    network.write(tmp_path / "design")
    project = read_project(tmp_path / "design")
    x = data(12, seed=2)
    entering = ap_fixed(x, 7, 2, "TRN") * 32
    with Simulation(project.design, "icarus") as simulation:
        frames = simulation.run({"inputs": entering.astype(np.int64)[:, None]})
    scale = 2.0 ** -network.program.outputs[0].format.fraction_bits
    np.testing.assert_array_equal(frames.outputs["outputs"][:, 0] * scale, network.predict(x))
    np.testing.assert_array_equal(network.predict(x), judged(x)["dense2"])


def test_reuse_is_by_layer() -> None:
    """A layer whose multipliers are used twice as often has about half of them; the slowest gives the interval."""

    def network(first: int, second: int) -> HardwareModel:
        reuse = {"dense1": {"ReuseFactor": first}, "dense2": {"ReuseFactor": second}}
        return made({"Model": {"Precision": "fixed<11,4,RND,SAT>"}, "LayerName": reuse})

    slow, mixed, quick = network(8, 8), network(8, 2), network(2, 2)
    assert slow.sizes["interval_cycles"] == mixed.sizes["interval_cycles"] == 8 > quick.sizes["interval_cycles"]
    assert slow.sizes["dsp"] < mixed.sizes["dsp"] < quick.sizes["dsp"]
    assert mixed.sizes["latency_cycles"] < slow.sizes["latency_cycles"]


def test_the_table_has_the_time_of_the_clock() -> None:
    network = made()
    cycles = network.sizes["latency_cycles"]
    assert f"{cycles} cycles, {cycles * 5:.1f} ns" in network.table()
    assert f"{cycles} cycles, {cycles * 10:.1f} ns" in network.table(mhz=100)
    assert made({**CONFIG, "ClockPeriod": 8}).table().count("125 MHz") == 1
    assert "relu" in network.table() and network.report["layers"]["dense2"]["bits"] == 11


def test_a_device_is_the_last_line_of_the_table() -> None:
    network = made(device="LFE5U-12F")
    assert network.holding is not None and network.holding.holds
    assert network.table().splitlines()[-1] == network.holding.text and "DP16KD" in network.table()
    assert network.report["device"]["name"] == "LFE5U-12F" and made().holding is None
    assert f"{network.report['families']['ecp5']['lut']:,}" in network.table()
    with pytest.raises(cz.CircuitizeError, match="such as LFE5U-12F"):
        made(device="LFE5U-12X9")


def test_an_imported_program_has_layers_of_its_parts() -> None:
    program = cz.predict(MODEL, 1, examples=[{**weights(), "inputs": data(1)}])
    assert isinstance(cz.hardware(program, {"Model": {"Precision": "fixed<9,4,RND,SAT>"}}), HardwareModel)
    with pytest.raises(cz.CircuitizeError, match="expected a prediction, found one that renews"):
        cz.hardware(cz.training_step(MODEL, cz.mean_squared_error, cz.SGD(), 2))


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "overflow": ({"Model": {"Precision": "fixed<12,5>"}}, "nothing may wrap: add ,AP_TRN,AP_SAT"),
    "text": ({"Model": {"Precision": "ap_fixed<16,9"}}, "Model, Precision of default: expected ap_fixed<W,I>"),
    "mode": ({"Model": {"Precision": "ap_fixed<16,9,AP_UP>"}}, "expected a mode of rounding among AP_TRN"),
    "width": ({"Model": {"Precision": "int<99>"}}, "expected 1 to 60 bits, found 99"),
    "layer": ({"LayerName": {"dense3": {}}}, r"expected keys among \['inputs', 'dense1', 'relu', 'dense2'\], found"),
    "tensor": (
        {"LayerName": {"relu": {"Precision": {"weight": "int<3>"}}}},
        "LayerName relu, Precision: expected keys",
    ),
    "channels": ({"LayerName": {"relu": {"Precision": ["int<3>"] * 3}}}, r"formats that broadcast to \[1, 8\]"),
    "ragged": ({"LayerName": {"relu": {"Precision": [["int<3>"], ["int<3>", "int<4>"]]}}}, "expected lists of equal"),
    "rules": ({"LayerName": {"relu": {"Precision": ["int<3>", "fixed<3,3,RND,SAT>"]}}}, "one rule for all elements"),
    "sums": ({"LayerName": {"dense1": {"Precision": {"accum": "int<30>"}}}}, "sums keep all their bits"),
    "reuse": ({"Model": {"ReuseFactor": 0}}, "expected a ReuseFactor of a whole number, at least 1, found 0"),
    "clock": ({"ClockPeriod": "5ns"}, "expected a ClockPeriod in nanoseconds"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_configuration_is_one_line(name: str) -> None:
    config, message = FAULTS[name]
    with pytest.raises(cz.CircuitizeError, match=message) as raised:
        made(config)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((2, 3)), r"expected 'inputs' of shape \[N, 4\]"),
        ("four", "expected numbers as 'inputs'"),
        ({"y": np.zeros((1, 4))}, r"expected inputs \['inputs'\]"),
        (np.full((1, 4), np.nan), "expected finite numbers"),
    ],
)
def test_wrong_inputs_are_one_line(x: Any, message: str) -> None:
    with pytest.raises(cz.CircuitizeError, match=message):
        made().predict(x)
