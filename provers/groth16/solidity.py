"""A Groth16 verifying key as a Solidity contract that checks proofs on Ethereum and similar blockchains."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.binding import require_prover

from .config import COORDINATE_PRIME, SCALAR_PRIME
from .keys import VerifyingKey

MOST_PUBLICS = 64
WIDTH = 32

INSECURE = "INSECURE: a development key. Whoever made it can prove anything. For trials only."
CEREMONY = "A ceremony's key: sound if one contributor to each of its phases forgot a secret."

TEMPLATE = """\
// SPDX-License-Identifier: Apache-2.0
// Written by circuitize. Do not edit: the points below are the verifying key of one program.
pragma solidity ^0.8.20;

/// @title Checks {title} over BN254 of the program CIRCUIT.
/// @notice {setup}
/// @dev Proofs can be re-randomised by anyone: never use a proof, or its hash, as an identifier or a nonce.
contract Verifier {{
    /// The digest of the program.
    bytes32 public constant CIRCUIT = 0x{digest};

    uint256 private constant R = {r};
    uint256 private constant Q = {q};
{constants}
    /// @notice Whether the proof shows a run of the program with these public values.
    /// @param a the proof's A
    /// @param b the proof's B, imaginary parts first, as `snarkjs zkey export soliditycalldata` writes it
    /// @param c the proof's C
{documented}    /// @param publics outputs, then inputs, each below R: a value of R or more is refused, never reduced
    function verifyProof(
        uint256[2] calldata a,
        uint256[2][2] calldata b,
        uint256[2] calldata c,
{parameter}        uint256[{public}] calldata publics
    ) external view returns (bool) {{
        // The precompiles refuse other coordinates and points off their groups; A's y is negated here.
        if (a[1] >= Q || (a[0] | a[1]) == 0 || (c[0] | c[1]) == 0) return false;
        if ((b[0][0] | b[0][1] | b[1][0] | b[1][1]) == 0) return false;
{check}
        // Two words of the sum so far, then a point and a scalar.
        uint256[5] memory sum;
        (sum[0], sum[1]) = ({constant});
{terms}
        uint256[{words}] memory pairs = [
            // -A, B
            a[0], (Q - a[1]) % Q, b[0][0], b[0][1], b[1][0], b[1][1],
            // alpha, beta
            {alpha_beta},
            // the publics, gamma
            sum[0], sum[1],
            {gamma},
            // C, delta
            c[0], c[1],
            {delta}{pair}
        ];
        uint256[1] memory product;
        bool done;
        assembly ("memory-safe") {{
            done := staticcall(gas(), 8, pairs, {bytes:#x}, product, 0x20)
        }}
        return done && product[0] == 1;
    }}

    /// Adds scalar times (x, y) to the sum; false where the scalar is not below R.
    function _add(uint256[5] memory sum, uint256 x, uint256 y, uint256 scalar) private view returns (bool done) {{
        if (scalar >= R) return false;
        (sum[2], sum[3], sum[4]) = (x, y, scalar);
        assembly ("memory-safe") {{
            let point := add(sum, 0x40)
            done := staticcall(gas(), 7, point, 0x60, point, 0x40)
            if done {{ done := staticcall(gas(), 6, sum, 0x80, sum, 0x40) }}
        }}
    }}
}}
"""

PAIR = """,
            // D, the delta of the committed wires
            d[0], d[1],
            {delta}"""


@dataclass(frozen=True)
class Commitment:
    """The additional parts of a contract that checks proofs with a commitment; `challenge` is the number of the last
    public wire.
    """

    title: str
    constants: str
    documented: str
    parameter: str
    check: str
    challenge: str


def verifier_contract(key: VerifyingKey) -> str:
    """Return the text of a contract `Verifier` (Solidity 0.8.20 or newer, no dependencies) that checks proofs against
    `key`.

    The function `verifyProof(uint256[2], uint256[2][2], uint256[2], uint256[publics])` of the contract has the same
    signature as that of snarkjs's contract. Raise CircuitizeError for a key without public values, or with more than
    64, each of which costs 6,600 gas and more code.

    Verification by the contract is as sound as `verifier.refusal`. The contract requires public values below r, so that
    no statement has two encodings, and refuses points at infinity; the precompiles of EIP-196 and EIP-197 check that
    points are canonical, on the curve and in the group of order r. The caller of the contract decides what the public
    values mean: the contract knows only their order.
    """
    require_prover(key.prover, "groth16", "a key")
    return contract(key, None)


def contract(key: VerifyingKey, commitment: Commitment | None) -> str:
    """Return the contract of a key with or without a commitment; it raises the same errors as `verifier_contract`."""
    if not 1 <= key.public <= MOST_PUBLICS:
        raise CircuitizeError(
            f"expected 1 to {MOST_PUBLICS} public values in a contract, found {key.public}; remedy: make tensors "
            "committed (Visibility.COMMITTED), so that one public value stands for each"
        )
    content = key.native.points()
    points = [int.from_bytes(content[at : at + WIDTH], "little") for at in range(0, len(content), WIDTH)]
    alpha, beta, gamma, delta = points[:2], points[2:6], points[6:10], points[10:14]
    first = 14 if commitment is None else 18
    inputs = [points[at : at + 2] for at in range(first, len(points), 2)]
    scalars = [f"publics[{place}]" for place in range(key.public)]
    if commitment is not None:
        scalars.append(commitment.challenge)
    return TEMPLATE.format(
        title="Groth16 proofs" if commitment is None else commitment.title,
        setup=INSECURE if key.setup == "development" else CEREMONY,
        digest=key.digest,
        r=SCALAR_PRIME,
        q=COORDINATE_PRIME,
        public=key.public,
        constant=_words(inputs[0]),
        terms="".join(
            f"        if (!_add(sum, {_words(point)}, {scalar})) return false;\n"
            for point, scalar in zip(inputs[1:], scalars, strict=True)
        ),
        alpha_beta=_words([*alpha, *_twisted(beta)]),
        gamma=_words(_twisted(gamma)),
        delta=_words(_twisted(delta)),
        constants="" if commitment is None else commitment.constants,
        documented="" if commitment is None else commitment.documented,
        parameter="" if commitment is None else commitment.parameter,
        check="" if commitment is None else commitment.check,
        words=24 if commitment is None else 30,
        bytes=WIDTH * (24 if commitment is None else 30),
        pair="" if commitment is None else PAIR.format(delta=_words(_twisted(points[14:18]))),
    )


def _twisted(point: list[int]) -> list[int]:
    """Return a point of G2 with the imaginary part of each coordinate first, as EIP-197 requires."""
    x0, x1, y0, y1 = point
    return [x1, x0, y1, y0]


def _words(values: list[int]) -> str:
    return ", ".join(str(value) for value in values)
