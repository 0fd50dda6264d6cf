"""The scripts for Vivado: commands that Vivado documents, the ports of the top module, a block design that is whole.

No Vivado is at hand: the Tcl of yosys runs the scripts, and what they ask of Vivado is compared with its documents.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import hardware_programs
import pytest
from cli_programs import run
from vivado_scripts import STREAM, check, made

from circuitize.backends.verilog.project import read_project
from circuitize.backends.verilog.vivado import Vivado

PARTS = {
    "xc7z020clg400-1": "processing_system7",
    "xczu3eg-sbva484-1-e": "zynq_ultra_ps_e",
    "xck26-sfvc784-2LV-c": "zynq_ultra_ps_e",
    "xc7a35tcpg236-1": "",
}


def ports(folder: Path) -> dict[str, str]:
    """The direction of each port of the top module, as its Verilog declares them."""
    text = (folder / "rtl" / f"{read_project(folder).design.top}.v").read_text()
    head = text[text.index("module ") : text.index(");")]
    return {name: way for way, name in re.findall(r"(input|output) (?:wire|reg) (?:\[\d+:0\] )?(\w+)", head)}


def compiled(folder: Path, part: str, *options: str) -> Path:
    program = f"{hardware_programs.__file__}:linear"
    command = ["compile", program, "--target", "verilog", "--scheduler", "folded", "--vivado", part, *options]
    done = run(*command, "-o", folder)
    assert done.status == 0, done
    return folder


@pytest.fixture(scope="module", params=PARTS)
def design(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A design with 64 bits on its bus for a part."""
    folder = tmp_path_factory.mktemp("part") / "d"
    return compiled(folder, request.param, "--bus-bits", "64", "--mhz", "80", "--name", "tiny")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("plain") / "d", "xc7z020clg400-1")


def part_of(folder: Path) -> Vivado:
    part = read_project(folder).vivado
    assert part is not None
    return part


def test_the_block_has_the_ports_of_the_top_module(design: Path) -> None:
    status, shown, record = made(design, "ip")
    assert status == 0, shown
    assert (design / "vivado" / "build" / "ip" / "component.xml").exists()
    known = ports(design)
    inferred = {words[1]: words[2] for words in record if words[0] == "ipx::infer_bus_interface"}
    assert sorted(name for names in inferred for name in names.split()) == sorted(known)
    kinds = {name: kind.split(":")[2] for names, kind in inferred.items() for name in names.split()}
    for name, kind in kinds.items():
        prefixes = {"axis_rtl": ("s_axis_t", "m_axis_t"), "aximm_rtl": ("s_axil_",), "clock_rtl": ("clk",)}
        assert name.startswith(prefixes.get(kind, ("rst",))), (name, kind)
    assert len(inferred) == 5
    clocked = {words[2] for words in record if words[0] == "ipx::associate_bus_interfaces" and words[1] == "-busif"}
    assert clocked == {"s_axis", "m_axis", "s_axil"}
    assert ["set_property", "value", "ACTIVE_HIGH", "rst"] in record
    added = {Path(name).name for words in record if words[0] == "add_files" for name in words[2].split()}
    assert added == {path.name for path in (design / "rtl").iterdir()}
    assert all(Path(name).exists() for words in record if words[0] == "add_files" for name in words[2].split())
    check(record)


def test_synthesis_alone(design: Path) -> None:
    status, shown, record = made(design, "synth")
    assert status == 0, shown
    (read,) = (words[1].split() for words in record if words[0] == "read_verilog")
    assert {Path(name).name for name in read} == {path.name for path in (design / "rtl").glob("*.v")}
    (part,) = (words[4] for words in record if words[0] == "synth_design")
    build = design / "vivado" / "build" / "synth"
    assert {path.name for path in build.iterdir()} == {"tiny.dcp"} | {p.name for p in (design / "rtl").glob("*.hex")}
    assert part == part_of(design).part
    check(record)


def test_the_clock_is_a_port(design: Path) -> None:
    lines = (design / "vivado" / "clock.xdc").read_text().splitlines()
    (clock,) = [line for line in lines if not line.startswith("#")]
    found = re.fullmatch(r"create_clock -name (\w+) -period ([\d.]+) \[get_ports (\w+)\]", clock)
    assert found is not None and found[1] == found[3] == "clk" and float(found[2]) == 12.5
    assert ports(design)["clk"] == "input"


STREAMS = {"dma/M_AXIS_MM2S": "accelerator/s_axis", "accelerator/m_axis": "dma/S_AXIS_S2MM"}
ON_CHIP = {
    "control/M00_AXI": "dma/S_AXI_LITE",
    "control/M01_AXI": "accelerator/s_axil",
    "dma/M_AXI_MM2S": "memory/S00_AXI",
    "dma/M_AXI_S2MM": "memory/S01_AXI",
}
PROCESSORS = {
    "processing_system7": ("M_AXI_GP0", "S_AXI_HP0", "FCLK_CLK0", "FCLK_RESET0_N", "M_AXI_GP0_ACLK", "S_AXI_HP0_ACLK"),
    "zynq_ultra_ps_e": (
        *("M_AXI_HPM0_FPD", "S_AXI_HP0_FPD", "pl_clk0", "pl_resetn0", "maxihpm0_fpd_aclk", "saxihp0_fpd_aclk"),
    ),
}
"""Pins of the processors, by PG082 and PG201: the two ports, the clock and the reset, the clocks of the ports."""


def test_the_block_design_joins_everything(design: Path) -> None:
    """Each interface once, each clock and each reset of the blocks (PG021, PG164, PG247), the design's own by name."""
    part = part_of(design)
    if not part.processor:
        assert {path.name for path in (design / "vivado").iterdir() if path.is_file()} == {
            *("Makefile", "README.md", "clock.xdc", "package_ip.tcl", "settings.tcl", "synth.tcl"),
        }
        assert "no rule" in made(design, "bitstream")[1].lower()
        return
    assert made(design, "ip")[0] == 0
    status, shown, record = made(design, "bitstream", {STREAM: 64})
    assert status == 0, shown
    general, memory, clock, running, *clocked = (f"processor/{pin}" for pin in PROCESSORS[part.processor])
    joined = {words[1]: words[2] for words in record if words[0] == "connect_bd_intf_net"}
    assert joined == {**STREAMS, **ON_CHIP, general: "control/S00_AXI", "memory/M00_AXI": memory}
    driven = {words[2]: words[1] for words in record if words[0] == "connect_bd_net"}
    assert len(driven) == sum(words[0] == "connect_bd_net" for words in record)
    axi = [f"dma/{pin}_aclk" for pin in ("s_axi_lite", "m_axi_mm2s", "m_axi_s2mm")]
    wanted = dict.fromkeys([*clocked, *axi, "control/aclk", "memory/aclk", "reset/slowest_sync_clk"], clock)
    wanted |= dict.fromkeys(["dma/axi_resetn", "control/aresetn", "memory/aresetn"], "reset/peripheral_aresetn")
    wanted |= {"accelerator/clk": clock, "accelerator/rst": "reset/peripheral_reset", "reset/ext_reset_in": running}
    assert driven == wanted
    settings = " ".join(words[2] for words in record if words[:2] == ["set_property", "-dict"])
    for width in ("m_axi_mm2s_data", "m_axis_mm2s_tdata", "m_axi_s2mm_data"):
        assert f"CONFIG.c_{width}_width 64" in settings
    assert re.search(r"(FPGA0_PERIPHERAL|PL0_REF_CTRL_)_FREQMHZ 80\b", settings)
    assert re.search(r"(S_AXI_HP0|SAXIGP2_)_DATA_WIDTH 64\b", settings)
    assert ["set_property", "CONFIG.c_include_sg", "0", "dma"] in record
    cells = {words[-1]: words[-2].split(":")[2] for words in record if words[0] == "create_bd_cell"}
    assert cells["processor"] == part.processor and cells["accelerator"] == "tiny" and len(cells) == 6
    assert (design / "vivado" / "tiny.bit").exists() and (design / "vivado" / "tiny.hwh").exists()
    check(record)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"STATS.WNS": -1.25}, "expected a design for 100 MHz, found one that is late by 1.25 ns"),
        ({"PROGRESS": "40%"}, "expected a bitstream, found that a run failed"),
        ({STREAM: 8}, "expected a stream of 32 bits into the DMA, found 8"),
    ],
)
def test_a_bitstream_that_fails_is_one_line(answers: dict[str, object], said: str, plain: Path) -> None:
    (plain / "vivado" / "circuitize.bit").unlink(missing_ok=True)
    status, shown, _ = made(plain, "bitstream", answers)
    (line,) = [line for line in shown.splitlines() if line.startswith("expected")]
    assert status and line.startswith(said) and not (plain / "vivado" / "circuitize.bit").exists()


def test_make_without_vivado_is_one_line(plain: Path) -> None:
    make = shutil.which("make")
    assert make is not None
    command = [make, "-B", "-C", str(plain / "vivado"), "ip"]
    done = subprocess.run(command, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False)
    (line,) = done.stderr.splitlines()
    assert done.returncode and "expected vivado among the commands, found none; source settings64.sh" in line


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("    set polarity [", "    set polarity {["),
        ("ipx::save_core $core", "ipx::save_cores $core"),
        ("ipx::infer_bus_interface rst", "ipx::infer_bus_interface -of rst"),
        ("$input_ports", "$input_port"),
    ],
)
def test_a_script_that_is_wrong_is_noticed(right: str, wrong: str, plain: Path, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    shutil.copytree(plain, folder)
    script = folder / "vivado" / "package_ip.tcl"
    assert right in script.read_text()
    script.write_text(script.read_text().replace(right, wrong))
    status, _, record = made(folder, "ip")
    with pytest.raises((AssertionError, KeyError)):
        assert status == 0
        check(record)
