"""Certifying a design: a proof that the design computes its program for all inputs is written as a certificate, which
a separate checker proves anew.
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
    """The certificate of a design, or the first part of the design for which the proof failed. The result of
    certifying a design is true if there is a certificate.
    """

    certificate: Json | None
    refusal: str = ""

    def __bool__(self) -> bool:
        return self.certificate is not None

    @property
    def statement(self) -> str:
        """Return the SHA-256, in hexadecimal, of the statement that is proved of the hardware."""
        return statement_digest(self.certificate["statement"]) if self.certificate else ""


def certify(folder: Path, output: Path | None = None, *, progress: Progress = silent) -> Certified:
    """Prove that a design computes its program for all inputs, and write the certificate if requested.

    The argument `folder` is a folder that `compile --target verilog` wrote. The page docs/certificates.md says what is
    claimed of a parallel design and of a folded design. No certificate is written if the proof fails for any part of
    the design. Raise CircuitizeError for a damaged folder, and for a kind of design that has no certificates: a design
    with one bus for all tensors, with registers, with modes, in rounds, or with an operation that docs/certificates.md
    does not list.
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
