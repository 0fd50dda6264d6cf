"""Asks snarkjs and circomlibjs, in one Node process for all tests of a worker; tools.mjs lists the requests."""

import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "interop"
SNARKJS = FOLDER / "node_modules" / "snarkjs" / "build" / "cli.cjs"


def need_node() -> None:
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


class Tools:
    """One Node process that answers requests until its input ends: it loads snarkjs and circomlibjs once."""

    def __init__(self) -> None:
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            ["node", FOLDER / "tools.mjs"], stdin=PIPE, stdout=PIPE, stderr=self.errors, text=True
        )
        atexit.register(self.close)

    def answer(self, request: Mapping[str, object], timeout: float) -> Any:
        """The answer to one request; an AssertionError where the process ends, or is ended for taking too long."""
        assert self.process.stdin and self.process.stdout
        timer = threading.Timer(timeout, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(json.dumps(request, default=str) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            status = self.process.wait()
            self.errors.seek(0)
            tools.cache_clear()
            raise AssertionError(f"node ended with status {status}: {self.errors.read()}")
        return json.loads(line)

    def close(self) -> None:
        assert self.process.stdin and self.process.stdout
        for file in (self.process.stdin, self.process.stdout, self.errors):
            file.close()
        self.process.wait()


@functools.cache
def tools() -> Tools:
    """This process's own."""
    return Tools()


def ask(*requests: Mapping[str, object], timeout: float = 600) -> list[Any]:
    """The answers to requests, in order; a request that fails in the tool is an AssertionError with its message."""
    need_node()
    answers = [tools().answer(request, timeout) for request in requests]
    failures = [answer["error"] for answer in answers if "error" in answer]
    assert not failures, failures
    return [answer["result"] for answer in answers]


def snarkjs(*arguments: object) -> tuple[int, str]:
    """Runs the command line tool: (exit status, what it printed)."""
    need_node()
    done = subprocess.run(
        ["node", SNARKJS, *map(str, arguments)], capture_output=True, text=True, timeout=600, check=False
    )
    return done.returncode, done.stdout + done.stderr
