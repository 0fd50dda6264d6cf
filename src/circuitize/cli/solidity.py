"""The command `circuitize solidity` writes a verifying key as a contract that checks proofs on a blockchain."""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.key_folders import verifying_key_file
from circuitize.api.provers import prover
from circuitize.circuits.files import write_whole
from circuitize.circuits.memory import amount_of_bytes

from .output import print_json, print_table, remark, say
from .verify import found_prover


def run(options: Namespace) -> int:
    """Write the contract to a file, which appears complete or not at all."""
    path = verifying_key_file(options.keys)
    checking = prover(options.prover or found_prover(path))
    key = checking.verifying_key(path)
    content = checking.contract(key).encode()
    write_whole(options.output, [content])
    if key.setup == "development":
        remark("the contract holds a development key: INSECURE, whoever made it can prove anything")
    own = {"prover": checking.name, "digest": key.digest, "setup": key.setup, "public": key.public}
    if options.json:
        print_json(own | {"bytes": len(content)})
        return 0
    say(f"contract Verifier in {options.output}")
    print_table([*own.items(), ("size", amount_of_bytes(len(content)))])
    return 0
