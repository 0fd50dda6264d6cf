"""`circuitize solidity`: a verifying key as a contract that checks proofs on a chain."""

from __future__ import annotations

from argparse import Namespace

from circuitize.circuits.files import write_whole
from circuitize.circuits.memory import amount_of_bytes

from .output import print_json, print_table, remark, say
from .provers import prover_of_key


def run(options: Namespace) -> int:
    """Write the contract, whole or not at all."""
    from circuitize.provers.keys import VERIFYING_FILE

    path = options.keys / VERIFYING_FILE if options.keys.is_dir() else options.keys
    prover = prover_of_key(path, options.prover)
    key = prover.verifying_key(path)
    content = prover.contract(key).encode()
    write_whole(options.output, [content])
    if key.setup == "development":
        remark("the contract holds a development key: INSECURE, whoever made it can prove anything")
    if options.json:
        print_json(
            {
                "prover": prover.name,
                "digest": key.digest,
                "setup": key.setup,
                "public": key.public,
                "bytes": len(content),
            }
        )
        return 0
    say(f"contract Verifier in {options.output}")
    rows = [
        ("prover", prover.name),
        ("digest", key.digest),
        ("setup", key.setup),
        ("public", key.public),
        ("size", amount_of_bytes(len(content))),
    ]
    print_table(rows)
    return 0
