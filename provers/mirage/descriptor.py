"""Mirage as the contract of provers has it: Groth16 with a commitment, a quarter of the rows, proofs of 160 bytes."""

from __future__ import annotations

from circuitize.provers.contract import Ceremony
from circuitize.provers.keyed import KeyedProver

from .keys import ProvingKey, VerifyingKey
from .proof import Proof
from .solidity import verifier_contract
from .verifier import refusal

BYTES_PER_ELEMENT = 4000
"""Memory of keys and proof for each element that is looked up; measured: 4,500 and more."""

NONE = (
    "the prover groth16 with it, found mirage; snarkjs holds no ceremonies for keys with a commitment: make "
    "development keys, without it"
)

PROVER = KeyedProver(
    "mirage",
    ProvingKey,
    VerifyingKey,
    Proof,
    refusal,
    verifier_contract,
    Ceremony(refusals={"zkey": NONE, "ptau": NONE}),
    bytes_per_element=BYTES_PER_ELEMENT,
)
