"""Runs the scripts of a design's folder `vivado` by its Makefile, with a recorder in the place of Vivado.

The Tcl of yosys runs the scripts, so that a script that is not well formed fails.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

STREAM = "CONFIG.c_s_axis_s2mm_tdata_width"
RECORDER = Path(__file__).with_name("vivado_recorder.tcl")

COMMANDS: dict[str, set[str]] = {
    "add_files": {"-norecurse"},
    "apply_bd_automation": {"-rule", "-config"},
    "assign_bd_address": set(),
    "close_project": set(),
    "connect_bd_intf_net": set(),
    "connect_bd_net": set(),
    "create_bd_cell": {"-type", "-vlnv"},
    "create_bd_design": set(),
    "create_project": {"-in_memory", "-part", "-force"},
    "current_fileset": set(),
    "current_project": set(),
    "get_bd_cells": set(),
    "get_bd_intf_pins": set(),
    "get_bd_pins": set(),
    "get_files": set(),
    "get_ipdefs": {"-all"},
    "get_property": set(),
    "get_runs": set(),
    "launch_runs": {"-to_step", "-jobs"},
    "make_wrapper": {"-files", "-top"},
    "read_verilog": set(),
    "read_xdc": {"-mode"},
    "report_timing_summary": {"-file"},
    "report_utilization": {"-file"},
    "save_bd_design": set(),
    "set_msg_config": {"-id", "-new_severity"},
    "set_property": {"-dict"},
    "synth_design": {"-top", "-part", "-mode"},
    "update_compile_order": {"-fileset"},
    "update_ip_catalog": set(),
    "validate_bd_design": set(),
    "wait_on_run": set(),
    "write_checkpoint": {"-force"},
    "ipx::add_address_block": set(),
    "ipx::add_bus_parameter": set(),
    "ipx::add_memory_map": set(),
    "ipx::associate_bus_interfaces": {"-busif", "-clock", "-reset"},
    "ipx::check_integrity": set(),
    "ipx::create_xgui_files": set(),
    "ipx::current_core": set(),
    "ipx::get_bus_interfaces": {"-of_objects"},
    "ipx::get_bus_parameters": {"-quiet", "-of_objects"},
    "ipx::infer_bus_interface": set(),
    "ipx::package_project": {"-root_dir", "-vendor", "-library", "-taxonomy", "-import_files", "-force"},
    "ipx::remove_all_bus_interface": set(),
    "ipx::remove_all_memory_map": set(),
    "ipx::save_core": set(),
    "ipx::update_checksums": set(),
}
"""Commands of Vivado and their options, by UG835 and UG1118: what the scripts use of them."""


def made(folder: Path, target: str, answers: Mapping[str, object] | None = None) -> tuple[int, str, list[list[str]]]:
    """The status and the text of make with a target, in the place of Vivado the recorder; and what it recorded."""
    tools, record = folder.parent / "tools", folder.parent / "record"
    tools.mkdir(exist_ok=True)
    program = tools / "vivado"
    reads = 'for word; do [ "$before" = -source ] && export SCRIPT="$word"; before=$word; done'
    program.write_text(f"#!/bin/sh\n{reads}\nexec yosys -q -c '{RECORDER}'\n")
    program.chmod(0o755)
    record.unlink(missing_ok=True)
    told = {STREAM: 32, "PROGRESS": "100%", "STATS.WNS": 0.5, **(answers or {})}
    settings = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "RECORD": str(record),
        "ANSWERS": " ".join(f"{name} {value}" for name, value in told.items()),
    }
    command = ["make", "-C", str(folder / "vivado"), target]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    lines = record.read_text().splitlines() if record.exists() else []
    return done.returncode, done.stdout + done.stderr, [line.split("\x1f") for line in lines]


def check(record: list[list[str]]) -> None:
    """Each command and each of its options is known."""
    assert not [words for words in record if not {w for w in words if w[0:1] == "-"} <= COMMANDS[words[0]]]
    assert record[0][0] == "create_project" and record[-1] == ["close_project"]
