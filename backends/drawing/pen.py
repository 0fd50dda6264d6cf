"""Writing the elements of an SVG, with coordinates that are whole numbers, without scripts, and with nothing loaded
from a network.
"""

from __future__ import annotations

from html import escape

from .text import plain, width


class Pen:
    """A writer of SVG elements, in the order in which they are drawn."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def open(self, kind: str, title: str, **data: str) -> None:
        """Begin an SVG group of a style class, with a text that is shown where a pointer rests on the group."""
        said = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
        self.lines.append(f'<g class="{kind}"{said}><title>{_titled(title)}</title>')

    def close(self) -> None:
        """Close the SVG group that was opened last."""
        self.lines.append("</g>")

    def path(self, kind: str, steps: list[str]) -> None:
        """Draw one path of a style class from steps in SVG's path language, or nothing if there are no steps."""
        if steps:
            self.lines.append(f'<path class="{kind}" d="{"".join(steps)}"/>')

    def box(self, x: int, y: int, wide: int, tall: int, rounding: int) -> None:
        """Draw a rectangle with rounded corners whose top left corner is (x, y), in pixels."""
        self.lines.append(f'<rect class="f" x="{x}" y="{y}" width="{wide}" height="{tall}" rx="{rounding}"/>')

    def hexagon(self, x: int, y: int, wide: int, tall: int) -> None:
        """Draw a hexagon with points at its left and right side, inside the rectangle whose top left corner is (x,
        y).
        """
        cut, middle = min(10, tall // 2), y + tall // 2
        points = (
            f"{x},{middle} {x + cut},{y} {x + wide - cut},{y} {x + wide},{middle} "
            f"{x + wide - cut},{y + tall} {x + cut},{y + tall}"
        )
        self.lines.append(f'<polygon class="f" points="{points}"/>')

    def dot(self, x: int, y: int) -> None:
        """Draw a dot of radius 2 around (x, y), which marks that a wire is copied."""
        self.lines.append(f'<circle class="o" cx="{x}" cy="{y}" r="2"/>')

    def text(self, kind: str, x: int, y: int, text: str, size: int = 10, bold: bool = False) -> None:
        """Draw a line of text whose middle is at height y; the style class `kind` says which end of the text is at
        x.
        """
        text = plain(text)
        wide = width(text, size, bold)
        given = f' class="{kind}"' if kind else ""
        self.lines.append(f'<text{given} x="{x}" y="{y + 4}" textLength="{wide}">{escape(text)}</text>')


def _titled(text: str) -> str:
    return "\n".join(escape(plain(line)) for line in text.split("\n"))


def curve(x: int, y: int, to_x: int, to_y: int) -> str:
    """Return the SVG path of a curve from one point to another that is level at both ends."""
    if y == to_y:
        return f"M{x} {y}H{to_x}"
    middle = (x + to_x) // 2
    return f"M{x} {y}C{middle} {y} {middle} {to_y} {to_x} {to_y}"


def line(x: int, y: int, to_x: int) -> str:
    """Return the SVG path of a horizontal line from (x, y) to (to_x, y), or an empty text if the line has no length."""
    return f"M{x} {y}H{to_x}" if x != to_x else ""
