"""The commands of yosys that synthesize a design for a family of FPGAs."""

from __future__ import annotations

_COMMANDS = {"xc7": "synth_xilinx -family xc7", "ecp5": "synth_ecp5"}
FAMILIES = tuple(_COMMANDS)
"""The families for which yosys synthesizes designs."""


def command(family: str, scheduler: str) -> str:
    """Return the command that synthesizes a scheduler's designs for a family, without the name of the top module.

    Parallel designs for an ECP5 are made without LUTs that are joined to one of five or six inputs. With them yosys
    makes choices between known numbers that are faster by themselves, but take up to a fifth more LUTs; the constants
    of folded designs take fewer with them.
    """
    return _COMMANDS[family] + " -nowidelut" * (family == "ecp5" and scheduler == "parallel")
