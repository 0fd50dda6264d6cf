"""The result of verifying a proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from circuitize.circuits.port import Port
from circuitize.circuits.reading import Json
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import to_reals

from .exact import Integers, Reals


@dataclass(frozen=True)
class Public:
    """The values that a proof states for a public port: integers of the port's format, in its shape."""

    port: Port[Fixed]
    integers: Integers

    @staticmethod
    def of(port: Port[Fixed], values: tuple[int, ...]) -> Public:
        """Return the values, in row-major order, in the shape of the port."""
        return Public(port, np.array(values, np.int64).reshape(port.format.shape))

    @property
    def reals(self) -> Reals:
        """Return the values as real numbers, in float64."""
        return to_reals(self.port.format, self.integers)

    def as_json(self) -> Json:
        """Return the exact integers, and the real numbers that they represent."""
        bits = self.port.format.fraction_bits
        return {"fraction_bits": bits, "integers": self.integers.tolist(), "reals": self.reals.tolist()}


@dataclass(frozen=True)
class Verdict:
    """Whether a proof holds, and its statement if it does; the verdict on a refused proof repeats nothing that the
    proof states.

    `stated` holds the public values, `publics` the same as real numbers, by name; `roots` are commitments in
    hexadecimal. `unbound` are the ports of which the proof states only that values exist; `hidden` are the ports whose
    values the proof does not disclose. `setup` tells whose secrets a key rests on: `development` is INSECURE.
    """

    valid: bool
    reason: str | None
    digest: str
    prover: str
    setup: str
    zero_knowledge: bool
    stated: Mapping[str, Public] = field(default_factory=dict)
    roots: Mapping[str, str] = field(default_factory=dict)
    unbound: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    security_bits: float | None = None

    @property
    def publics(self) -> dict[str, Reals]:
        """Return the public values as real numbers, by the name of their port."""
        return {name: public.reals for name, public in self.stated.items()}

    def as_json(self) -> Json:
        """Return the object that `circuitize verify --json` prints; bits of soundness are included unless they are the
        curve's.
        """
        told = {
            "valid": self.valid,
            "digest": self.digest,
            "publics": {name: public.as_json() for name, public in self.stated.items()},
            "roots": dict(self.roots),
            "setup": self.setup,
            "zero_knowledge": self.zero_knowledge,
            "reason": self.reason,
        }
        return told if self.security_bits is None else told | {"security_bits": self.security_bits}

    def __bool__(self) -> bool:
        return self.valid

    def __repr__(self) -> str:
        if not self.valid:
            return f"Verdict(NOT valid: {self.reason})"
        publics = ", ".join(f"{name} = {value}" for name, value in self.publics.items() if value.size == 1)
        said = f", {publics}" if publics else ""
        setup = ", development keys: INSECURE" if self.setup == "development" else ""
        hiding = "" if self.zero_knowledge else ", NOT zero-knowledge"
        return f"Verdict(valid, {self.prover}{hiding}{setup}, program {self.digest[:16]}...{said})"
