"""The descriptor of the prover Groth16, whose proofs have 128 bytes and which needs a setup for each circuit."""

from __future__ import annotations

from circuitize.provers.contract import Ceremony
from circuitize.provers.keyed import KeyedProver

from .keys import ProvingKey, VerifyingKey
from .proof import Proof
from .solidity import verifier_contract
from .verifier import refusal

BYTES_PER_BIT = 1200
"""The bytes of memory that keys and a proof take for each separately checked bit: 1,300 to 1,700 as measured,
everything else included.
"""

CEREMONY = Ceremony(
    ("zkey", "ptau"),
    "a ceremony's keys: they fit this program and its powers of tau; that the secrets behind both were forgotten, "
    "only the ceremony can show (snarkjs powersoftau verify, snarkjs zkey verify)",
    "a .zkey does not hold the whole circuit, so it is checked against the prepared powers of tau that the ceremony "
    "began with",
)

PROVER = KeyedProver(
    "groth16",
    ProvingKey,
    VerifyingKey,
    Proof,
    refusal,
    verifier_contract,
    CEREMONY,
    bytes_per_bit=BYTES_PER_BIT,
)
