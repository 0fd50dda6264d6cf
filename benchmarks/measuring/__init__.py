"""What the benchmarks of provers share: processor time, and a line of figures per measurement, each a process."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PEERS = {
    "digits.py:step": "EZKL 23.0.5, best tuning: prove 9.6 s, setup 8.1 s, key 271 MB, 566 MiB",
    "digits_xent.py:step": "EZKL 23.0.5, default: prove 160 s, key 4.48 GB, 9.9 GiB",
    "mnist_mlp.py:predict": "EZKL 23.0.5: prove 10.3 s, key 277 MB, proof 3,072 bytes",
    "mnist_mlp.py:step": "EZKL 23.0.5, tuned: prove 56.7 s, key 1.44 GB, 2.96 GiB",
    "matmul.py:product": "EZKL 23.0.5: prove 35 s",
}
"""The best figures of the peer on programs of `examples`."""

T = TypeVar("T")


@dataclass(frozen=True)
class Measurement:
    """One line of a table: a program, the prover if the table has several, what the script is called with for it."""

    program: str
    arguments: Sequence[str]
    prover: str | None = None


def measured(work: Callable[[], T]) -> tuple[T, float, float]:
    """The result, processor seconds of all threads, and wall-clock seconds."""
    wall, cpu = time.perf_counter(), processor()
    result = work()
    return result, processor() - cpu, time.perf_counter() - wall


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result, and processor seconds of all threads."""
    return measured(work)[:2]


def processor() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak() -> int:
    """Bytes this process has held at most (Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def example(name: str) -> Any:
    """The program FILE:FUNCTION of `examples`."""
    sys.path.insert(0, str(EXAMPLES))
    file, _, function = name.partition(":")
    return getattr(__import__(file.removesuffix(".py")), function)()


def apart(script: str, *arguments: str) -> Any:
    """What a script prints last, as JSON, in a process of its own; its last words end this one where it fails."""
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def table(script: str, measurements: Iterable[Measurement], columns: Sequence[str], as_json: bool) -> None:
    """Run the script for each measurement, and print the columns of its figures as it goes, or all figures as JSON.

    The peer's figures stand under the last line of a program.
    """
    found, chosen = [], list(measurements)
    if not as_json:
        print(_line("program", "prover" if chosen[0].prover else "", columns))
    for place, one in enumerate(chosen):
        named = {"program": one.program} | ({"prover": one.prover} if one.prover else {})
        found.append(named | apart(script, one.program, *one.arguments, "--one"))
        if as_json:
            continue
        print(_line(one.program, one.prover or "", [_shown(found[-1][name]) for name in columns]), flush=True)
        peer = PEERS.get(one.program.partition(",")[0])
        if peer and one.program not in {other.program for other in chosen[place + 1 :]}:
            print(f"{'':<30}{peer}")
    if as_json:
        print(json.dumps(found))


def _line(program: str, prover: str, cells: Sequence[str]) -> str:
    return f"{program:<30}" + (f"{prover:<9}" if prover else "") + "".join(f"{cell:>12}" for cell in cells)


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
