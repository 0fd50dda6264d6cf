"""What the prover of a run keeps for itself between proofs, so that a run can go on."""

from __future__ import annotations

import io
import os
import secrets
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import write_whole

from ..forms import Integers
from ..prover import SECRET_BYTES

VERSION = 2
KIND, STEP, SECRET = " version", " step", " secret"
"""Names that no port has, of the version, the step and the secret in the file that the prover keeps."""


def kept_beside(folder: Path) -> Path:
    """The file beside a run's folder, which is for others, that is its prover's alone."""
    return Path(f"{os.path.normpath(folder)}.kept.npz")


@dataclass(frozen=True)
class State:
    """What the prover keeps between proofs: the secret that salts commitments, steps done, and the values held."""

    secret: bytes
    step: int
    held: Mapping[str, Integers]

    @staticmethod
    def fresh(step: int, held: Mapping[str, Integers]) -> State:
        """With a secret of its own."""
        return State(secrets.token_bytes(SECRET_BYTES), step, held)

    def write(self, path: Path) -> None:
        """For its owner's eyes only, whole or not at all."""
        content = io.BytesIO()
        own = {KIND: np.array(VERSION), STEP: np.array(self.step), SECRET: np.frombuffer(self.secret, np.uint8)}
        arrays: dict[str, Any] = {**own, **self.held}
        np.savez(content, **arrays)
        write_whole(path, [content.getbuffer()], private=True)

    @staticmethod
    def read(path: Path) -> State:
        """Raises CircuitizeError where there is none, FormatError for another file."""
        try:
            with np.load(path, allow_pickle=False) as found:
                if int(found[KIND]) != VERSION:
                    raise ValueError(f"version {int(found[KIND])}")
                held = {name: found[name] for name in found.files if name not in (KIND, STEP, SECRET)}
                return State(found[SECRET].tobytes(), int(found[STEP]), held)
        except OSError as error:
            raise CircuitizeError(
                f"{path}: expected what the prover of the run keeps, found {error.strerror or error}; without it the "
                "run cannot go on: choose another folder to begin again"
            ) from None
        except (ValueError, KeyError, AttributeError, TypeError, zipfile.BadZipFile, EOFError):
            raise FormatError(
                f"{path}: expected what the prover of a run of version {VERSION} keeps, found another file"
            ) from None
