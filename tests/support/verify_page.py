"""The web page that verifies, in headless Chromium: what it says of held files and folders that are given in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from browser import Browser, browser

PAGE = Path(__file__).resolve().parents[2] / "build" / "verify.html"

VERDICT = """new Promise(resolve => {
  const element = document.querySelector('#verdict');
  const look = () => ['valid', 'refused'].includes(element.dataset.state) && (resolve(
    {state: element.dataset.state, text: element.textContent, html: element.innerHTML,
     of: document.querySelector('#of').textContent}), true);
  if (!look()) { const watch = new MutationObserver(() => look() && watch.disconnect());
    watch.observe(element, {attributes: true, childList: true}); }
})"""


@dataclass(frozen=True)
class Said:
    """A verdict: `valid` or `refused`, its text and HTML, and what is said of what was checked."""

    state: str
    text: str
    html: str
    of: str

    @property
    def seconds(self) -> float:
        """How long the page says that it took."""
        return float(self.text.splitlines()[-1].split(" s in this browser")[0])


@dataclass
class Verifying:
    """A page; `browser` is where it is open."""

    browser: Browser

    def open(self) -> None:
        """Open the page anew, so that nothing is left of what was given in it."""
        self.browser.open(PAGE)

    def verdict(self) -> Said:
        """The next verdict, as soon as there is one."""
        found: dict[str, Any] = self.browser.value(VERDICT)
        return Said(**found)

    def state(self) -> str:
        """What the page is doing: `waiting`, `checking`, or a verdict's state."""
        return str(self.browser.value("document.querySelector('#verdict').dataset.state"))

    def ask(self, held: Path, folder: Path | None = None, files: list[Path] | None = None) -> Said:
        """What a new page says of a held file and a folder, or of files of one."""
        self.open()
        self.browser.choose("#held", held)
        if folder is not None:
            self.browser.choose("#folder", folder)
        else:
            self.browser.choose("#files", *(files or []))
        return self.verdict()


@contextmanager
def verifying() -> Iterator[Verifying]:
    """A browser for the page that `make page` has built. Raise RuntimeError where there is none."""
    if not PAGE.is_file():
        raise RuntimeError(f"expected {PAGE}, found none; make page builds it")
    with browser() as own:
        yield Verifying(own)
