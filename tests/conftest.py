"""What tests share: golden files, tiers, deterministic hypothesis, long files first, and that nothing is skipped."""

from __future__ import annotations

import atexit
import gc
import os
from collections import Counter
from collections.abc import Callable, Generator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import tiers
from _pytest.runner import runtestprotocol
from golden_files import GOLDEN, TESTS
from long_lived import pytest_collection_finish as pytest_collection_finish
from together import ByFile

if "PYTEST_XDIST_WORKER" in os.environ:
    atexit.register(os._exit, 0)  # the first to be registered is the last to run: a worker frees nothing one by one

DEEP = tiers.TIER == "deep"
hypothesis.settings.register_profile("circuitize", deadline=None, derandomize=not DEEP, print_blob=DEEP)
hypothesis.settings.load_profile("circuitize")


os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "true")  # they take longer than what JAX runs here
if not DEEP and version("jaxlib").startswith("0.10."):  # XLA ends a process that gives it a flag which it does not have
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_use_fusion_emitters=false")  # it compiles in half the time so


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files, compare nothing")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str | bytes], None]:
    """`golden(name, content)` asserts that tests/golden/name holds just that; `--update-golden` rewrites it."""

    def check(name: str, content: str | bytes) -> None:
        path = GOLDEN / name
        found = content.encode() if isinstance(content, str) else content
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(found)
            return
        assert path.is_file(), f"tests/golden/{name} is missing; write it with: make golden"
        expected = path.read_bytes()
        if isinstance(content, str):
            assert content == expected.decode(), f"tests/golden/{name} differs; if that was meant: make golden"
        assert found == expected, f"tests/golden/{name} differs; if that was meant: make golden"

    return check


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Files that this tier leaves out as a whole are not read."""
    inside = collection_path.is_relative_to(TESTS)
    return None if not inside or tiers.read(collection_path.relative_to(TESTS).as_posix()) else True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """While tests are collected, hardly anything is garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_pycollect_makeitem(name: str, obj: object) -> list[pytest.Item] | None:
    """Functions that this tier leaves out are not made into tests."""
    marks = getattr(obj, "pytestmark", ()) if name.startswith("test_") else ()
    return [] if any(mark.name in tiers.LEFT_OUT for mark in marks) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The tier's tests. Workers take whole files in this order: those with slow tests first, then those that prove or
    simulate, which may have few tests and take long; a few quick ones last.
    """
    items[:], left = tiers.select(items)
    if left:
        config.hook.pytest_deselected(items=left)
    if hasattr(config, "workerinput"):
        slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
        size = Counter(item.path for item in items)
        dear = {path: tiers.is_dear(path.relative_to(TESTS).as_posix()) for path in size}
        items.sort(key=lambda item: (-slow[item.path], not dear[item.path], -size[item.path]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_unconfigure() -> None:
    """Pytest looks for garbage five times at its end; once is enough.

    What stayed is collected at the exit after all, which extension modules would miss otherwise.
    """
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)


class SkipsAreFailures:
    """Under CI=true, a test that was skipped for any reason but a missing GPU makes the session fail."""

    def __init__(self) -> None:
        self.skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._note(report.nodeid, report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._note(report.nodeid, report.longrepr)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.skipped and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self.skipped:
            terminalreporter.write_line(f"FAILED: CI=true allows only skips for want of a GPU, found {line}", red=True)

    def _note(self, nodeid: str, reason: object) -> None:
        text = reason[2] if isinstance(reason, tuple) else str(reason)
        if "gpu" not in text.lower():
            self.skipped.append(f"{nodeid}: {text}")


class OneReport:
    """A worker sends one report of a test instead of seven messages: setup and teardown only if they fail or take long,
    and no start and end, which nobody prints.
    """

    LONG = 0.1
    """Seconds from which the time of a setup is worth a line of `--durations`."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed or report.duration > self.LONG:
                item.ihook.pytest_runtest_logreport(report=report)
        return True


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(OneReport())
        shared = Path(config.option.basetemp).parent
        os.environ["CIRCUITIZE_TESTS_SHARED"] = str(shared)
        # What XLA takes long to compile is compiled once in a run, by a worker or a process that one of them starts.
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(shared / "compiled-by-xla"))
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    if os.environ.get("CI") == "true" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkipsAreFailures())
