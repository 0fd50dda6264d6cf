"""What the prover of a run keeps for itself between proofs, so that a run can go on."""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import write_whole

from ..forms import Integers
from ..prover import SECRET_BYTES

VERSION = 3
BYTES = ("secret", "fingerprint", "follower")
OWN, ROOT = "\t", "\troot "
"""What the names begin with that are kept beside the values held: no port's name has a tabulator."""


def kept_beside(folder: Path) -> Path:
    """The file beside a run's folder, which is for others, that is its prover's alone."""
    return Path(f"{os.path.normpath(folder)}.kept.npz")


@dataclass(frozen=True)
class State:
    """What the prover keeps between proofs: the secret of the run, steps done, and the values held.

    `roots` are the secrets of the roots of what is held, by group, and of the dataset's. `fingerprint` is of the run
    and its scalars, `follower` of the run that goes on from this one, which may be one only: two would open the last
    roots more often than these were made for.
    """

    secret: bytes
    step: int
    held: Mapping[str, Integers]
    roots: Mapping[str, bytes]
    fingerprint: bytes = b""
    follower: bytes = b""

    @staticmethod
    def fresh(step: int, held: Mapping[str, Integers], groups: Iterable[str]) -> State:
        """With a secret of its own."""
        made = State(secrets.token_bytes(SECRET_BYTES), step, held, {})
        return made.after(step, held, {name: made.root_secret(name, step) for name in groups})

    def after(self, step: int, held: Mapping[str, Integers], roots: Mapping[str, bytes]) -> State:
        """What is kept after a step; roots that are not said stay as they are."""
        return replace(self, step=step, held=held, roots={**self.roots, **roots})

    def root_secret(self, group: str, step: int) -> bytes:
        """The secret of a root that this run makes of a group in the proof that ends with a step, or before one."""
        return self.derived(f"root {step} {group}")

    def derived(self, use: str) -> bytes:
        """A secret for one use, so that a proof made again is the same."""
        return hashlib.blake2b(use.encode(), key=self.secret, digest_size=SECRET_BYTES).digest()

    def write(self, path: Path) -> None:
        """For its owner's eyes only, whole or not at all."""
        content = io.BytesIO()
        arrays: dict[str, Any] = {f"{OWN}version": np.array(VERSION), f"{OWN}step": np.array(self.step)}
        arrays |= {f"{OWN}{name}": np.frombuffer(getattr(self, name), np.uint8) for name in BYTES}
        arrays |= {f"{ROOT}{name}": np.frombuffer(secret, np.uint8) for name, secret in self.roots.items()}
        arrays |= self.held
        np.savez(content, **arrays)
        write_whole(path, [content.getbuffer()], private=True)

    @staticmethod
    def read(path: Path) -> State:
        """Raises CircuitizeError where there is none, FormatError for another file."""
        try:
            with np.load(path, allow_pickle=False) as found:
                version = int(found[f"{OWN}version"])
                if version != VERSION:
                    raise ValueError(f"version {version}")
                own = {name: found[OWN + name].tobytes() for name in BYTES}
                roots = {n.removeprefix(ROOT): found[n].tobytes() for n in found.files if n.startswith(ROOT)}
                held = {name: found[name] for name in found.files if not name.startswith(OWN)}
                return State(step=int(found[f"{OWN}step"]), held=held, roots=roots, **own)
        except OSError as error:
            raise CircuitizeError(
                f"{path}: expected what the prover of the run keeps, found {error.strerror or error}; without it the "
                "run cannot go on: choose another folder to begin again"
            ) from None
        except (ValueError, KeyError, AttributeError, TypeError, zipfile.BadZipFile, EOFError):
            raise FormatError(
                f"{path}: expected what the prover of a run of version {VERSION} keeps, found another file"
            ) from None
