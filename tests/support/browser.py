"""A headless Chromium, spoken to by the DevTools protocol over two pipes: pages, what they load, and what they say."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe"),
    *("--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"),
)
SAID = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")

Json = dict[str, Any]


def program() -> str:
    """The browser. Raise RuntimeError where there is none: under `make test` there is."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise RuntimeError("expected Chromium, found none; .ci/browser installs it")
    return found


@dataclass
class Browser:
    """One page of a browser. `messages` are all lines of its console, `requests` the addresses that it asked for."""

    read: int
    write: int
    session: str = ""
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    _numbers: int = 0
    _rest: bytes = b""
    _events: list[Json] = field(default_factory=list)

    def call(self, method: str, **parameters: object) -> Json:
        """Ask, and wait for the answer."""
        self._numbers += 1
        asked: Json = {"id": self._numbers, "method": method, "params": parameters}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.write, json.dumps(asked).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._numbers:
                if "error" in told:
                    raise RuntimeError(f"{method}: {told['error']}")
                found: Json = told["result"]
                return found

    def open(self, path: Path) -> None:
        """Load a file, and wait until it and its pictures are there."""
        self._events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._next()

    def value(self, expression: str) -> Any:
        """What an expression is in the page."""
        made = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in made:
            raise RuntimeError(f"{expression}: {made['exceptionDetails']}")
        return made["result"].get("value")

    def choose(self, selector: str, *paths: Path) -> None:
        """Choose files, or a folder, in an input."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path.resolve()) for path in paths])

    def drop(self, selector: str, *paths: Path) -> None:
        """Drop files and folders on an element."""
        place = self.value(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        data = {"items": [], "files": [str(path.resolve()) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=place[0], y=place[1], data=data)

    def before(self, script: str) -> None:
        """Run a script in each page that is opened from now on, before its own."""
        self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def resize(self, width: int, height: int, dark: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path) -> None:
        """The whole page as PNG."""
        made = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(made["data"]))

    def _next(self) -> Json:
        while b"\0" not in self._rest:
            more = os.read(self.read, 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        told: Json = json.loads(line)
        if "method" in told:
            self._events.append(told)
            if told["method"] in SAID:
                self.messages.append(json.dumps(told["params"]))
            if told["method"] == "Network.requestWillBeSent":
                self.requests.append(told["params"]["request"]["url"])
        return told


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with one empty page, while the block runs."""
    from_us, ours = _pipe()
    theirs, to_us = _pipe()
    with _folder() as profile:
        words = [program(), *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        nowhere = [(os.POSIX_SPAWN_OPEN, file, os.devnull, os.O_RDWR, 0) for file in (0, 1, 2)]
        pipes = [(os.POSIX_SPAWN_DUP2, from_us, 3), (os.POSIX_SPAWN_DUP2, to_us, 4)]
        process = os.posix_spawn(words[0], words, os.environ, file_actions=[*nowhere, *pipes])
        os.close(from_us)
        os.close(to_us)
        try:
            made = Browser(theirs, ours)
            target = made.call("Target.createTarget", url="about:blank")["targetId"]
            made.session = made.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                made.call(f"{domain}.enable")
            yield made
        finally:
            os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)
            os.close(theirs)
            os.close(ours)


@contextmanager
def _folder() -> Iterator[str]:
    """A folder for the browser, which goes as soon as none of its processes writes there any more."""
    made = tempfile.mkdtemp(prefix="circuitize-browser-")
    try:
        yield made
    finally:
        for _ in range(100):
            shutil.rmtree(made, ignore_errors=True)
            if not os.path.exists(made):
                break
            time.sleep(0.05)


def _pipe() -> tuple[int, int]:
    """A pipe whose numbers are none that a program begins with."""
    found = []
    for end in os.pipe():
        found.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10))
        os.close(end)
    return found[0], found[1]
