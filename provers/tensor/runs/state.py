"""The state that the prover of a run keeps secret between proofs, so that a run can continue."""

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
    """The path of the prover's secret file, beside a run's folder for others."""
    return Path(f"{os.path.abspath(folder)}.kept.npz")


@dataclass(frozen=True)
class State:
    """The kept state of a prover: the secret of the run, the number of proved steps, and the held values.

    The field `roots` has the secrets of the held values' roots, by group, and of the dataset's. The field `fingerprint`
    identifies the run and its scalars, `follower` the run that continues it; only one run may do so, since two would
    open the last roots more often than these allow. The field `promised` is a hash of everything that determines the
    values whose roots were published before the run (`promised.py`), and is empty if none were published.
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
        """A new state with a secret, and with the secrets of the roots of the given groups and of the dataset."""
        made = State(secrets.token_bytes(SECRET_BYTES), step, held, {})
        return replace(made, roots=made.first_roots(step, groups))

    def first_roots(self, step: int, groups: Iterable[str]) -> dict[str, bytes]:
        """The secrets of the roots that a run begins with, where the step before its first one has the given number."""
        return {**{name: self.root_secret(name, step) for name in groups}, DATA: self.dataset_secret(step)}

    def after(self, step: int, held: Mapping[str, Integers], roots: Mapping[str, bytes]) -> State:
        """The kept state after a step, in which roots that are not given are unchanged."""
        return replace(self, step=step, held=held, roots={**self.roots, **roots})

    def of(self, fingerprint: bytes) -> State:
        """Return the kept state with the mark of a run, which its fingerprint gives."""
        return replace(self, fingerprint=self._marked(fingerprint))

    def is_of(self, fingerprint: bytes) -> bool:
        """Whether the state was stored for the run of a fingerprint, with this secret."""
        return self.fingerprint == self._marked(fingerprint)

    @property
    def unnamed(self) -> bool:
        """Whether the state was stored for a run of which nothing is proved yet and which has no name."""
        return bool(self.promised) and not self.fingerprint

    def _marked(self, fingerprint: bytes) -> bytes:
        return self.derived(f"run {fingerprint.hex()}")

    def root_secret(self, group: str, step: int) -> bytes:
        """The secret of a root that is made by the proof ending with a step."""
        return self.derived(f"root {step} {group}")

    def dataset_secret(self, step: int) -> bytes:
        """The secret of the dataset's root that is made before the proof which begins with a step, or after a step."""
        return self.derived(f"dataset {step}")

    def test_secret(self, content: bytes) -> bytes:
        """The secret of the root of a test set of this content: a test set of other content has another secret."""
        return self.derived(f"test set {content.hex()}")

    def derived(self, use: str) -> bytes:
        """A secret that is derived for one use, so that a proof made again is the same."""
        return hashlib.blake2b(use.encode(), key=self.secret, digest_size=SECRET_BYTES).digest()

    def write(self, path: Path) -> None:
        """Write the state for its owner's eyes only, whole or not at all."""
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
        """Raise CircuitizeError if there is no state, FormatError for another file."""
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
    """Return the bytes of an array; raise ValueError unless it holds bytes, and `lengths` has their number."""
    if array.dtype != np.uint8 or array.ndim != 1 or len(array) not in lengths:
        raise ValueError(f"{array.dtype} of shape {array.shape} among what is kept")
    return array.tobytes()
