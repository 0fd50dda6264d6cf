"""Certifying: the proof, for all inputs, that a design computes its program, written as a certificate that a checker
shows anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from circuitize.backends.verilog.certificate import Refused, certificate, statement_digest
from circuitize.backends.verilog.project import read_project
from circuitize.circuits.files import require_file_name, write_whole
from circuitize.circuits.phases import Progress, silent, under_way
from circuitize.circuits.reading import Json


@dataclass(frozen=True)
class Certified:
    """A design's certificate, or the part of the design that is not shown. The truth value of a result: True if there
    is a certificate.
    """

    certificate: Json | None
    refusal: str = ""

    def __bool__(self) -> bool:
        return self.certificate is not None

    @property
    def statement(self) -> str:
        """Return the SHA-256 of the statement that the hardware is shown to compute, in hex."""
        return statement_digest(self.certificate["statement"]) if self.certificate else ""


def certify(folder: Path, output: Path | None = None, *, progress: Progress = silent) -> Certified:
    """Show that a design computes its program for all inputs; write the certificate on request.

    The argument `folder` is a folder that `compile --target verilog` wrote. What is claimed of a parallel design, and
    what of a folded one, is in docs/certificates.md. No certificate is written if anything is not shown. Raise
    CircuitizeError for a folder that is damaged, and for a design of a kind that has no certificates: with one bus for
    all tensors, with registers, with modes, or with an operation that is not in docs/certificates.md.
    """
    if output is not None:
        require_file_name(output)
    with under_way(progress, "reading the design"):
        project = read_project(folder)
    with under_way(progress, "showing the design for all inputs"):
        try:
            made = certificate(project)
        except Refused as refusal:
            return Certified(None, str(refusal))
    if output is not None:
        write_whole(output, [json.dumps(made, separators=(",", ":")).encode() + b"\n"])
    return Certified(made)
