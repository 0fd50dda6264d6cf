"""Writing HTML in a single file, in which no text of a program can become markup, and nothing is loaded or run."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """A text that is already HTML, and is not escaped again. A text that is not HTML yet is escaped when it is put into
    an element.
    """

    __slots__ = ()


Part = Markup | str | int | float

EMPTY = frozenset({"meta", "img"})
"""The elements of HTML that have no end; elements of SVG without content close themselves."""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""What a browser may do with a page: show the page's own pictures, in its own style. The policy allows no scripts, no
network and no forms.
"""


def visible(text: str) -> str:
    r"""Return the text with escapes such as `\x1b` or `\u202e` for characters that are not printable, some of which
    could change the direction of the text after them.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def written(part: Part) -> str:
    """Return a part of a page as HTML: whole numbers get thousands separators, other numbers are shortened, and text is
    escaped.
    """
    if isinstance(part, Markup):
        return part
    if isinstance(part, float):
        return f"{part:.4g}"
    return f"{part:,}" if isinstance(part, int) else escape(visible(part), quote=True)


def tag(name: str, /, *parts: Part, **attributes: str | int) -> Markup:
    """Return an element of HTML with the given parts and attributes. In the name of an attribute, a `_` at the end is
    left out, and every other `_` becomes `-`: examples are `class_` and `stroke_width`.
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(str(value)), quote=True)}"'
        for key, value in attributes.items()
    )
    if name in EMPTY:
        return Markup(f"<{name}{said}>")
    if name in ("line", "polyline"):
        return Markup(f"<{name}{said}/>")
    return Markup(f"<{name}{said}>{''.join(map(written, parts))}</{name}>")


def joined(parts: Iterable[Markup]) -> Markup:
    """Return parts of a page that are already HTML as one text, one after the other."""
    return Markup("".join(parts))


def table(heads: Sequence[str], rows: Iterable[Sequence[Part]]) -> Markup:
    """Return a table in HTML, with numbers aligned to the right, which scrolls if the page is narrow, or empty markup
    if there are no rows.
    """
    body = [
        tag("tr", *(tag("td", cell, class_="r") if isinstance(cell, int | float) else tag("td", cell) for cell in row))
        for row in rows
    ]
    if not body:
        return Markup("")
    above = tag("thead", tag("tr", *(tag("th", head) for head in heads))) if heads else Markup("")
    return tag("div", tag("table", above, tag("tbody", *body)), class_="wide")


def picture(svg: str, said: str) -> Markup:
    """Return an SVG picture embedded as an image, so that its content cannot affect the rest of the page."""
    data = b64encode(svg.encode()).decode()
    return tag("div", tag("img", src=f"data:image/svg+xml;base64,{data}", alt=said), class_="wide")


def section(title: str, *parts: Part) -> Markup:
    """Return a section of a page with a heading of the second level; texts among its parts are escaped."""
    return tag("section", tag("h2", title), *parts)


def page(title: str, *parts: Part) -> str:
    """Return a whole page of HTML with the given title and parts."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Markup(STYLE)),
    )
    body = tag("body", tag("main", tag("h1", title), *parts))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


STYLE = (
    ":root{color-scheme:light dark;--ink:#1f2328;--page:#fff;--faint:#4d555e;--rule:#d0d7de;--band:#f6f8fa;"
    "--good:#1a6b33;--bad:#b3261e;--one:#c2410c;--two:#57606a}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--page:#0d1117;--faint:#aab4bf;--rule:#3d444d;"
    "--band:#161b22;--good:#56c46f;--bad:#ff8a80;--one:#ffae6b;--two:#aab4bf}}"
    "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 Helvetica,Arial,'Liberation Sans',sans-serif}"
    "main{max-width:1040px;margin:0 auto;padding:24px}h1{font-size:26px;overflow-wrap:anywhere}"
    "h2{font-size:19px;border-bottom:1px solid var(--rule);padding-bottom:4px;margin-top:32px}h3{font-size:15px}"
    "code,pre{font:13px/1.5 'DejaVu Sans Mono',Consolas,monospace;overflow-wrap:anywhere}"
    "pre{background:var(--band);padding:10px;white-space:pre-wrap}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:13px;margin:8px 0}"
    "th,td{text-align:left;padding:3px 12px 3px 0;border-bottom:1px solid var(--rule);vertical-align:top}"
    "td.r{text-align:right;white-space:nowrap}img{max-width:100%;height:auto}"
    ".note{border-left:4px solid var(--rule);background:var(--band);padding:8px 12px}.faint{color:var(--faint)}"
    ".good{color:var(--good);font-weight:bold}.bad{color:var(--bad);font-weight:bold}"
    ".charts{display:flex;flex-wrap:wrap;gap:16px}summary{cursor:pointer}"
    "svg text{fill:var(--ink);font-size:11px}svg .axis{stroke:var(--rule)}"
    "svg polyline{fill:none;stroke-width:1.5}svg .one{stroke:var(--one)}svg .two{stroke:var(--two);stroke-width:4;"
    "opacity:.55}"
)
