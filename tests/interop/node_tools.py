"""Asks snarkjs and circomlibjs, in one Node process per call; tools.mjs lists the requests."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
SNARKJS = FOLDER / "node_modules" / "snarkjs" / "build" / "cli.cjs"


def need_node():
    """Skips the test where Node or its packages are missing; fails it where CI is set."""
    if shutil.which("node") is None:
        remedy = "Node is missing: install Node 18 or newer, then run `npm ci --prefix tests/interop`"
    elif not SNARKJS.exists():
        remedy = "snarkjs is missing: run `npm ci --prefix tests/interop`"
    else:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(remedy)
    pytest.skip(remedy)


def ask(*requests, timeout=600):
    """The answers to requests, in order; a request that fails in the tool is an AssertionError with its message."""
    need_node()
    lines = "".join(json.dumps(request, default=str) + "\n" for request in requests)
    done = subprocess.run(
        ["node", FOLDER / "tools.mjs"], input=lines, capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests), done.stdout
    failures = [answer["error"] for answer in answers if "error" in answer]
    assert not failures, failures
    return [answer["result"] for answer in answers]


def snarkjs(*arguments):
    """Runs the command line tool: (exit status, what it printed)."""
    need_node()
    done = subprocess.run(
        ["node", SNARKJS, *map(str, arguments)], capture_output=True, text=True, timeout=600, check=False
    )
    return done.returncode, done.stdout + done.stderr
