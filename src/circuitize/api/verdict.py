"""The result of verifying a single proof."""

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
    """The values that a proof states for a public port, as an array of integers in the port's format."""

    port: Port[Fixed]
    integers: Integers

    @staticmethod
    def of(port: Port[Fixed], values: tuple[int, ...]) -> Public:
        """Return the stated values, which are given in row-major order, in the shape of the port."""
        return Public(port, np.array(values, np.int64).reshape(port.format.shape))

    @property
    def reals(self) -> Reals:
        """Return the stated values as real numbers, in float64."""
        return to_reals(self.port.format, self.integers)

    def as_json(self) -> Json:
        """Return the stated values as exact integers, and as the real numbers that these represent."""
        bits = self.port.format.fraction_bits
        return {"fraction_bits": bits, "integers": self.integers.tolist(), "reals": self.reals.tolist()}


@dataclass(frozen=True)
class Verdict:
    """The verdict on a proof: whether the proof holds, and its statement if it does; a verdict that refuses a proof
    repeats nothing that the proof states.

    The field `stated` of a verdict holds the public values, by name, and `publics` holds the same values as real
    numbers; `roots` holds commitments in hexadecimal. The field `unbound` of a verdict names the ports of which the
    proof states only that values exist; `hidden` names the ports whose values the proof does not disclose. The field
    `setup` of a verdict says who made the key: with `development`, whoever made it can prove anything, which is
    INSECURE.
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
        """Return the public values that the proof states as real numbers, by port name."""
        return {name: public.reals for name, public in self.stated.items()}

    def as_json(self) -> Json:
        """Return the verdict as the object that `circuitize verify --json` prints, with the bits of soundness unless
        the soundness rests on an elliptic curve.
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
