"""The command `circuitize doctor` lists what this machine can do, and how to install missing parts."""

from __future__ import annotations

import os
import platform
from argparse import Namespace
from dataclasses import asdict

from circuitize import __version__
from circuitize.api import machine
from circuitize.circuits.memory import amount_of_bytes, physical_bytes

from .output import print_json, say


def run(options: Namespace) -> int:
    """Look for every optional part of the package; always return exit status 0, since a missing part is an answer."""
    parts = list(machine.parts())
    memory = physical_bytes()
    if options.json:
        told = {"system": platform.platform(), "cores": os.cpu_count(), "memory_bytes": memory}
        described = {part.name: asdict(part) | {"available": part.version is not None} for part in parts}
        print_json({"version": __version__, "machine": told, "parts": described})
        return 0
    say(f"circuitize {__version__} on {platform.platform()}, {os.cpu_count()} cores, {amount_of_bytes(memory)}")
    width = max(len(part.name) for part in parts)
    for part in parts:
        state = f"yes  {part.version}" if part.version else f"no   {part.remedy}"
        say(f"  {part.name:<{width}}  {part.purpose:<48}  {state}")
    return 0
