"""The descriptor of the prover halo2, which proves Plonkish systems, and one of whose setups serves every program."""

from __future__ import annotations

from circuitize.provers.contract import Ceremony
from circuitize.provers.keyed import KeyedProver

from .keys import ProvingKey, VerifyingKey
from .proof import Proof
from .solidity import verifier_contract
from .verifier import refusal

BYTES_PER_ELEMENT = 5000
"""The bytes of memory that keys and a halo2 proof take for each looked-up element: 6,000 to 17,000 as measured."""

CEREMONY = Ceremony(
    ("ptau",),
    "a ceremony's keys: its powers of tau are powers of one secret; that everybody who knew it forgot it, only the "
    "ceremony can show (snarkjs powersoftau verify)",
    refusals={
        "zkey": "the prover groth16 with it, found halo2, whose keys need no ceremony of their own: give --ptau alone, "
        "the prepared powers of tau of any ceremony"
    },
)

PROVER = KeyedProver(
    "halo2",
    ProvingKey,
    VerifyingKey,
    Proof,
    refusal,
    verifier_contract,
    CEREMONY,
    bytes_per_element=BYTES_PER_ELEMENT,
)
