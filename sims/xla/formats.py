"""A check that values carried from step to step have one format, because the program compiled for the steps holds no
other.
"""

from __future__ import annotations

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram


def require_same_formats(step: IntegerProgram) -> None:
    """Raise CircuitizeError unless each held value leaves a step in the format in which it enters."""
    leaving = {port.name: port.format for port in step.outputs}
    for port in step.inputs:
        if leaving.get(port.name, port.format) != port.format:
            raise CircuitizeError(
                f"expected {port.name!r} to leave as it enters, {port.format}, found {leaving[port.name]}; state one "
                "format for both, or train by numpy"
            )
