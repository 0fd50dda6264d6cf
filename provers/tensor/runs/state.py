"""The state that the prover of a run keeps secret between two proofs, so that the run can continue."""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import DATA
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import write_whole
from circuitize.circuits.operation import Values

from ..prover import SECRET_BYTES

VERSION = 3
BYTES = ("secret", "fingerprint", "follower")
OWN, ROOT = "\t", "\troot "
PROMISED, PROMISED_BYTES = "\tpromised", 72
"""The prefix of the names of a kept state's fields beside the held values, which are numbered."""


PROVES = "proves this run, or begins one after it"
"""The text of a message that says what another process is doing with the kept file."""


def kept_beside(folder: Path) -> Path:
    """Return the path of the prover's secret file, which lies beside the run's folder, since that folder is for
    verifiers.
    """
    return Path(f"{os.path.abspath(folder)}.kept.npz")


@dataclass(frozen=True)
class State:
    """The stored state of a run's prover: the secret of the run, the number of the last proved step, and the held
    values.

    The field `roots` has the secrets of the roots of the held values, by group, and of the dataset's root. The field
    `fingerprint` identifies the run and its scalars, and `follower` identifies the run that continues it; only one run
    may do so, since two runs would open the last roots more often than allowed. The field `promised` is a hash of
    everything that determines the values whose roots were published before the run (see `promised.py`); it is empty if
    no roots were published.
    """

    secret: bytes = field(repr=False)
    step: int
    held: Mapping[str, Integers] = field(repr=False)
    roots: Mapping[str, bytes] = field(repr=False)
    fingerprint: bytes = b""
    follower: bytes = b""
    promised: bytes = b""

    @staticmethod
    def fresh(step: int, held: Mapping[str, Integers], groups: Iterable[str]) -> State:
        """Return a new state with a random secret, and with the secrets of the roots of the given groups and of the
        dataset that follow from it.
        """
        made = State(secrets.token_bytes(SECRET_BYTES), step, held, {})
        return replace(made, roots=made.first_roots(step, groups))

    def first_roots(self, step: int, groups: Iterable[str]) -> dict[str, bytes]:
        """Return the secrets of the roots with which a run begins, given the number of the step before its first
        step.
        """
        return {**{name: self.root_secret(name, step) for name in groups}, DATA: self.dataset_secret(step)}

    def after(self, step: int, held: Mapping[str, Integers], roots: Mapping[str, bytes]) -> State:
        """Return the stored state after a step, with the given secrets of roots and all others unchanged."""
        return replace(self, step=step, held=held, roots={**self.roots, **roots})

    def of(self, fingerprint: bytes) -> State:
        """Return the stored state with the mark of the run that has the given fingerprint."""
        return replace(self, fingerprint=self._marked(fingerprint))

    def is_of(self, fingerprint: bytes) -> bool:
        """Return whether the state was stored, with this secret, for the run that has the given fingerprint."""
        return self.fingerprint == self._marked(fingerprint)

    @property
    def unnamed(self) -> bool:
        """Return whether the state was stored for a run that is only promised: nothing of the run is proved yet, and it
        has no name.
        """
        return bool(self.promised) and not self.fingerprint

    def _marked(self, fingerprint: bytes) -> bytes:
        return self.derived(f"run {fingerprint.hex()}")

    def root_secret(self, group: str, step: int) -> bytes:
        """Return the secret of a group's root that is made by the proof ending with a given step."""
        return self.derived(f"root {step} {group}")

    def dataset_secret(self, step: int) -> bytes:
        """Return the secret of the dataset's root that is made before the proof beginning with a given step, or after
        that step.
        """
        return self.derived(f"dataset {step}")

    def test_secret(self, content: bytes) -> bytes:
        """Return the secret of the root of a test set with the given hash of its content; test sets with other content
        have other secrets.
        """
        return self.derived(f"test set {content.hex()}")

    def derived(self, use: str) -> bytes:
        """Return a secret derived from the run's secret for a single use, so that a proof that is made again has the
        same bytes.
        """
        return hashlib.blake2b(use.encode(), key=self.secret, digest_size=SECRET_BYTES).digest()

    def write(self, path: Path) -> None:
        """Write the state to a file that only its owner can read, and that appears complete or not at all."""
        content = io.BytesIO()
        arrays: dict[str, Any] = {f"{OWN}version": np.array(VERSION), f"{OWN}step": np.array(self.step)}
        arrays |= {f"{OWN}{name}": _array(getattr(self, name)) for name in BYTES}
        arrays |= {f"{ROOT}{name}": _array(secret) for name, secret in self.roots.items()}
        arrays |= {PROMISED: _array(self.promised)} if self.promised else {}
        arrays[f"{OWN}names"] = _array(json.dumps(list(self.held)).encode())
        arrays |= {str(number): values for number, values in enumerate(self.held.values())}
        np.savez(content, **arrays)
        write_whole(path, [content.getbuffer()], private=True)

    @staticmethod
    def read(path: Path) -> State:
        """Return the state in a file; raise CircuitizeError if there is no such file, and FormatError if the file
        contains something else.
        """
        try:
            with np.load(path, allow_pickle=False) as found:
                version = int(found[f"{OWN}version"])
                if version != VERSION:
                    raise ValueError(f"version {version}")
                own = {name: _bytes(found[OWN + name], (SECRET_BYTES, 0)) for name in BYTES}
                roots = {
                    name.removeprefix(ROOT): _bytes(found[name], (SECRET_BYTES,))
                    for name in found.files
                    if name.startswith(ROOT)
                }
                promised = _bytes(found[PROMISED], (PROMISED_BYTES,)) if PROMISED in found.files else b""
                names = json.loads(found[f"{OWN}names"].tobytes())
                held = {name: found[str(number)] for number, name in enumerate(names)}
                if not own["secret"] or any(values.dtype != np.int64 for values in held.values()):
                    raise ValueError("no secret, or no integers")
                return State(step=int(found[f"{OWN}step"]), held=held, roots=roots, promised=promised, **own)
        except OSError as error:
            raise CircuitizeError(
                f"{path}: expected what the prover of the run keeps, found {error.strerror or error}; without it the "
                "run cannot go on: choose another folder to begin again"
            ) from None
        except (ValueError, KeyError, AttributeError, TypeError, zipfile.BadZipFile, zlib.error, EOFError):
            raise FormatError(
                f"{path}: expected what the prover of a run of version {VERSION} keeps, found another file or a "
                "damaged one; put the right one there, or choose another folder to begin again"
            ) from None


def _array(content: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(content, np.uint8)


def _bytes(array: Values, lengths: Collection[int]) -> bytes:
    """Return the bytes in an array; raise ValueError unless the array consists of bytes, and their number is in
    `lengths`.
    """
    if array.dtype != np.uint8 or array.ndim != 1 or len(array) not in lengths:
        raise ValueError(f"{array.dtype} of shape {array.shape} among what is kept")
    return array.tobytes()
