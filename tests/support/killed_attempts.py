"""Work in a fork of this process that is killed at one of its writes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from circuitize.circuits.errors import CircuitizeError

REFUSED = 3
"""What an attempt exits with that is refused."""


def die_at(number: int) -> None:
    """Kill this process at its write of a number: before the file is made, before it gets its name, or after."""
    events = iter(range(sys.maxsize))

    def before_and_after(function: Callable[..., Any], after: bool) -> Callable[..., Any]:
        def called(*arguments: Any, **more: Any) -> Any:
            if next(events) == number:
                os.kill(os.getpid(), signal.SIGKILL)
            made = function(*arguments, **more)
            if after and next(events) == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return made

        return called

    for owner, name, after in ((Path, "replace", True), (os, "fsync", False), (Path, "mkdir", False)):
        setattr(owner, name, before_and_after(getattr(owner, name), after))


def attempt(work: Callable[[], object], dies: int | None) -> int:
    """Do the work in a fork that is killed at one of its writes, unless that has fewer; how it ended."""
    child = os.fork()
    if child == 0:
        if dies is not None:
            die_at(dies)
        try:
            work()
            os._exit(0)
        except CircuitizeError:
            os._exit(REFUSED)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]
