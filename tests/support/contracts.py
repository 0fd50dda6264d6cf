"""Runs an exported contract in an EVM."""

from collections.abc import Iterable, Sequence
from typing import Any

from node_tools import ask

TRUE, FALSE = (1).to_bytes(32, "big").hex(), bytes(32).hex()
CODE_LIMIT = 24576  # EIP-170


def in_evm(source: str, calls: Iterable[Sequence[int]]) -> dict[str, Any]:
    """What the contract answers to each list of words."""
    data = ["".join(word.to_bytes(32, "big").hex() for word in words) for words in calls]
    answer: dict[str, Any]
    (answer,) = ask({"tool": "evm", "source": source, "function": "verifyProof", "calls": data})
    assert answer["warnings"] == []
    assert answer["code_bytes"] <= CODE_LIMIT
    return answer


def changed(values: Sequence[int], place: int, value: int) -> list[int]:
    return [*values[:place], value, *values[place + 1 :]]
