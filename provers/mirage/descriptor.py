"""The descriptor of the prover Mirage: Groth16 with a commitment, which needs a quarter of the rows and has proofs of
160 bytes.
"""

from __future__ import annotations

from circuitize.provers.contract import Ceremony
from circuitize.provers.keyed import KeyedProver

from .keys import ProvingKey, VerifyingKey
from .proof import Proof
from .solidity import verifier_contract
from .verifier import refusal

BYTES_PER_ELEMENT = 4000
"""The bytes of memory that keys and a Mirage proof take for each looked-up element: 4,500 and more as measured."""

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
