"""`circuitize solidity`: a verifying key as a contract that checks proofs on a chain."""

from __future__ import annotations

from argparse import Namespace

from circuitize.circuits.files import write_whole

from .output import amount_of_bytes, print_json, print_table, remark


def run(options: Namespace) -> int:
    """Write the contract, whole or not at all."""
    from circuitize.provers.groth16.keys import VerifyingKey
    from circuitize.provers.groth16.solidity import verifier_contract

    key = VerifyingKey.read(options.keys)
    content = verifier_contract(key).encode()
    write_whole(options.output, [content])
    if key.setup == "development":
        remark("the contract holds a development key: INSECURE, whoever made it can prove anything")
    if options.json:
        print_json({"digest": key.digest, "setup": key.setup, "public": key.public, "bytes": len(content)})
        return 0
    print(f"contract Verifier in {options.output}")
    rows = [
        ("digest", key.digest),
        ("setup", key.setup),
        ("public", key.public),
        ("size", amount_of_bytes(len(content))),
    ]
    print_table(rows)
    return 0
