"""The circuit whose secrets everybody knows, for forgeries of Mirage."""

from __future__ import annotations

from mirage_cases import Permutation

SEED = b"everybody knows"
CASE = Permutation(3, first=42)
