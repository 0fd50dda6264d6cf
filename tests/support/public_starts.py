"""Runs that begin with values that anybody draws."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import circuitize as cz
from circuitize.api.runs.proving import ProvedRun
from circuitize.frontends.datasets import iris

MODEL = cz.sequential(cz.dense(4, 5), cz.relu(), cz.dense(5, 3))


SEED, START, RATE, STEPS = "5eed", bytes(range(16)), 0.125, 2


SPLIT = iris(0)


TRAIN = {"inputs": SPLIT.train_inputs, "targets": SPLIT.train_targets}


@cache
def step() -> cz.IntegerProgram:
    real = cz.training_step(MODEL, cz.mean_squared_error, cz.Momentum(decay=0.5), batch=8)
    rows = [slice(8 * k, 8 * k + 8) for k in range(4)]
    batches = [{**{name: TRAIN[name][own] for name in TRAIN}, "learning_rate": RATE} for own in rows]
    return cz.quantize(cz.calibrated(real, cz.start(real, MODEL, START), batches))


def prove(folder: Path, **more: Any) -> ProvedRun:
    given: dict[str, Any] = {
        "dataset": TRAIN,
        "scalars": {"learning_rate": RATE},
        "steps": STEPS,
        "initial_seed": START,
        "model": MODEL,
    }
    return cz.prove_run(step(), folder, seed=SEED, **{**given, **more})
