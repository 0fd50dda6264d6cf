"""What is wrong with a page of HTML: markup that does not close, scripts, what comes from outside; and in a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from browser import Browser

OPEN = {"meta", "img"}
KNOWN = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "section",
        "h1",
        "h2",
        "h3",
        "p",
        "div",
        "span",
        "code",
    ),
    *(
        "pre",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "img",
        "svg",
        "text",
        "line",
        "polyline",
    ),
}
ATTRIBUTES = {
    *("charset", "http-equiv", "content", "name", "lang", "class", "src", "alt", "role", "aria-label", "viewbox"),
    *("width", "height", "x", "y", "x1", "x2", "y1", "y2", "points", "text-anchor", "font-weight", "stroke-width"),
}

CONTRAST = """(() => {
  const rgb = c => c.match(/[\\d.]+/g).map(Number);
  const linear = v => v <= 10 ? v / 3294 : ((v / 255 + .055) / 1.055) ** 2.4;
  const light = c => { const [r, g, b] = c.map(linear);
    return .2126 * r + .7152 * g + .0722 * b; };
  const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let least = 21, where = '';
  for (let node; node = walker.nextNode();) {
    if (!node.textContent.trim()) continue;
    const e = node.parentElement, style = getComputedStyle(e);
    const ink = rgb(e instanceof SVGElement ? style.fill : style.color).slice(0, 3);
    const [a, b] = [light(ink), light(ground(e))].sort((x, y) => y - x);
    const found = (a + .05) / (b + .05);
    if (found < least) { least = found; where = node.textContent.slice(0, 40); }
  }
  return [least, where];
})()"""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.faults: list[str] = []
        self.text: list[str] = []
        self.policy = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in KNOWN:
            self.faults.append(f"element {tag}")
        self.policy |= ("content", "default-src 'none'; img-src data:; style-src 'unsafe-inline'") in attrs
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.faults.append(f"attribute {name} of {tag}")
            if name == "src" and not str(value).startswith("data:image/svg+xml;base64,"):
                self.faults.append(f"loads {value}")
        if tag not in OPEN:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.stack or self.stack.pop() != tag:
            self.faults.append(f"end of {tag} out of place")

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.faults.append("comment")

    def unknown_decl(self, data: str) -> None:
        self.faults.append("declaration")


def faults(html: str) -> list[str]:
    """What is wrong with the file, as a strict reader sees it."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    found = reader.faults + [f"{tag} is not closed" for tag in reader.stack]
    found += [] if reader.policy else ["no policy"]
    found += re.findall(r"@import|url\(|expression\(", html)
    return found


def text(html: str) -> str:
    """The text of a page."""
    reader = _Reader()
    reader.feed(html)
    return " ".join(reader.text)


def opened_faults(page: Browser) -> list[str]:
    """What is wrong with a page that is open in a browser, by its console, its requests and what it shows."""
    found = [f"console: {line}" for line in page.messages]
    found += [f"request {url}" for url in page.requests if not url.startswith(("file:", "data:"))]
    found += ["more than one file"] if sum(url.startswith("file:") for url in page.requests) > 1 else []
    if page.value("[...document.images].some(i => !i.complete || !i.naturalWidth)"):
        found.append("a picture is broken")
    if page.value("[...document.querySelectorAll('polyline')].some(e => !(e.getBBox().width + e.getBBox().height))"):
        found.append("a curve is not drawn")
    if page.value("[...document.querySelectorAll('line,polyline')].some(e => e.children.length)"):
        found.append("lines within lines")
    for width in (1100, 480):
        for dark in (False, True):
            page.resize(width, 1400, dark)
            if page.value("document.documentElement.scrollWidth > innerWidth"):
                found.append(f"wider than {width} pixels")
            least, where = page.value(CONTRAST)
            if least < 4.5:
                found.append(f"a contrast of {least:.2f} at {where!r}, {'dark' if dark else 'light'}")
    return found
