"""Kill the training of an example at random moments, again and again: it ends with what nothing interrupted ends with.

`python tests/support/killed_examples.py FILE.py:NAME RECIPE STEPS KILLS SEED FOLDER` prints what it saw as JSON; RECIPE
is that of the example. A process of its own: an attempt is a fork of it, which no thread may have been started in.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from example_modules import example
from killed_trainings import left

from circuitize.api.exact import exact
from circuitize.api.training.train import train
from circuitize.circuits.phases import Phases
from circuitize.frontends.datasets import digits

EVERY = 40


def killed(work: Callable[[], object], after: float | None) -> bool:
    """Do the work in a fork that is killed after so many seconds, unless it is done by then; whether it was killed."""
    child = os.fork()
    if child == 0:
        if after is not None:
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
            signal.setitimer(signal.ITIMER_REAL, after)
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0, f"it ended with {status}"
    return os.WIFSIGNALED(status)


def main(named: str, recipe: str, steps: int, kills: int, seed: int, work: Path) -> None:
    file, _, name = named.partition(":")
    module = example(file.removesuffix(".py"))
    program, data, random = exact(getattr(module, name)(), Phases()), digits(seed=0), np.random.default_rng(seed)
    schedule = getattr(module, recipe)

    def go(folder: Path) -> None:
        more: dict[str, Any] = {"steps": steps, "every": EVERY, "schedule": schedule, "record": True}
        train(program, folder, dataset=data, seed="5eed", executor="both", **more)

    begun = time.perf_counter()
    assert not killed(partial(go, work / "whole"), None)
    whole = time.perf_counter() - begun
    count = trainings = 0
    while count < kills:
        folder, done, trainings = work / f"killed{trainings}", False, trainings + 1
        while not done:
            after = float(random.uniform(0, whole / 3)) if count < kills else None
            done = not killed(partial(go, folder), after)
            count += not done
        assert left(folder) == left(work / "whole")
    print(json.dumps({"kills": count, "trainings": trainings, "files": len(left(work / "whole"))}))


if __name__ == "__main__":
    steps, kills, seed = map(int, sys.argv[3:6])
    main(sys.argv[1], sys.argv[2], steps, kills, seed, Path(sys.argv[6]))
