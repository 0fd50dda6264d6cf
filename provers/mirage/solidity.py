"""A Mirage verifying key as a Solidity contract that checks proofs on Ethereum and similar blockchains."""

from __future__ import annotations

from circuitize.provers.binding import require_prover
from circuitize.provers.groth16.solidity import Commitment, contract

from .challenge import DOMAIN, key_hash
from .keys import VerifyingKey


def verifier_contract(key: VerifyingKey) -> str:
    """Return the text of a contract `Verifier` (Solidity 0.8.20 or newer, no dependencies) that checks proofs against
    `key`.

    The contract's function is `verifyProof(uint256[2] a, uint256[2][2] b, uint256[2] c, uint256[2] d,
    uint256[publics])`; the challenge is not among the arguments, since the contract computes it with the precompile of
    SHA-256. Raise CircuitizeError for a key without public values, or with more than 64.

    A Mirage contract is as sound as `verifier.refusal`: the contract and the precompiles make the same checks as those
    of Groth16's contract.
    """
    require_prover(key.prover, "mirage", "a key")
    return contract(
        key,
        Commitment(
            title="Groth16 proofs with a commitment (Mirage)",
            constants=f'''
    /// What the hash of a challenge begins with: a name, and the SHA-256 of the verifying key.
    bytes32 private constant DOMAIN = "{DOMAIN.decode()}";
    bytes32 private constant KEY = 0x{key_hash(key).hex()};
''',
            documented="    /// @param d the proof's D, the commitment that the challenge is drawn after\n",
            parameter="        uint256[2] calldata d,\n",
            check="        if ((d[0] | d[1]) == 0) return false;\n",
            challenge="uint256(sha256(abi.encodePacked(DOMAIN, KEY, publics, d))) >> 3",
        ),
    )
