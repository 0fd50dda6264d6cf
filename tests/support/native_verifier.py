"""The Rust example that verifies files of proofs, as .ci/test-rust builds it."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def verifier() -> Path:
    """The program, built where its sources are newer."""
    rust = subprocess.run([ROOT / ".ci" / "rust"], capture_output=True, text=True, check=True).stdout.strip()
    environment = {**os.environ, "PATH": f"{rust}:{os.environ['PATH']}"}
    command = ["cargo", "build", "--release", "--locked", "--workspace", "--exclude", "circuitize-native", "--examples"]
    built = subprocess.run(
        [*command, "--message-format=json"],
        cwd=ROOT / "provers" / "native",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    found = [json.loads(line).get("executable") for line in built.stdout.splitlines()]
    (path,) = {path for path in found if path}
    return Path(path)
