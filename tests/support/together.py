"""Which tests one worker runs: those of a file, and those of files that share what takes long to start or to count."""

from __future__ import annotations

from fnmatch import fnmatch

from xdist.scheduler import LoadFileScheduling

TOGETHER = {
    "node": ("tests/interop/*",),
    "proofs": ("tests/provers/test_held_files.py", "tests/provers/test_native_verifiers.py"),
    "report": ("tests/api/test_report.py", "tests/cli/test_cli_report.py"),
}
"""Files that go to the same worker: Node's process with snarkjs and solc, proofs, and the sizes of one program."""


class ByFile(LoadFileScheduling):  # type: ignore[misc]
    """By file, where files are not told to go together."""

    def _split_scope(self, nodeid: str) -> str:
        path: str = super()._split_scope(nodeid)
        found = (name for name, patterns in TOGETHER.items() if any(fnmatch(path, pattern) for pattern in patterns))
        return next(found, path)
