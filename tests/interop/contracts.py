"""Runs an exported contract in an EVM."""

import json
import subprocess
from collections.abc import Iterable, Sequence
from typing import Any

from interop.node_tools import FOLDER, need_node

TRUE, FALSE = (1).to_bytes(32, "big").hex(), bytes(32).hex()
CODE_LIMIT = 24576  # EIP-170


def in_evm(source: str, calls: Iterable[Sequence[int]]) -> dict[str, Any]:
    """What the contract answers to each list of words."""
    need_node()
    data = ["".join(word.to_bytes(32, "big").hex() for word in words) for words in calls]
    done = subprocess.run(
        ["node", FOLDER / "evm.mjs"],
        input=json.dumps({"source": source, "function": "verifyProof", "calls": data}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    assert answer["warnings"] == []
    assert answer["code_bytes"] <= CODE_LIMIT
    return answer


def changed(values: Sequence[int], place: int, value: int) -> list[int]:
    return [*values[:place], value, *values[place + 1 :]]
