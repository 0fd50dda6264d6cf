"""The colours of a picture on a light and on a dark background: every text has a contrast of 4.5 to 1 to its
background.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a picture as #rrggbb: `fills` and `edges` by the kind of part, and `heat` from no cost to the
    greatest cost.
    """

    page: str
    ink: str
    faint: str
    name: str
    dash: str
    fills: dict[str, str]
    edges: dict[str, str]
    heat: tuple[str, ...]


LIGHT = Palette(
    page="#ffffff",
    ink="#1f2328",
    faint="#4d555e",
    name="#6639ba",
    dash="#9aa4af",
    fills={"forward": "#e2f0ff", "derivative": "#fff0e0", "update": "#e0f7e6", "output": "#f0e9fb"},
    edges={"forward": "#3b7dc4", "derivative": "#c27722", "update": "#3f9a58", "output": "#8661c5"},
    heat=("#ffffff", "#fff3c9", "#ffe19a", "#ffc978", "#ffae6b", "#ff9270"),
)
DARK = Palette(
    page="#0d1117",
    ink="#e6edf3",
    faint="#aab4bf",
    name="#cfb0ff",
    dash="#5d6772",
    fills={"forward": "#10243c", "derivative": "#35220e", "update": "#0f2d1a", "output": "#271d3d"},
    edges={"forward": "#58a6ff", "derivative": "#e3a052", "update": "#56c46f", "output": "#b392f0"},
    heat=("#161b22", "#2b2710", "#403210", "#573612", "#6d3416", "#80301e"),
)


def style_sheet(heat: bool) -> str:
    """Return the style rules of a picture for light and dark backgrounds, of which the reader's settings choose one,
    with the colours of costs or of kinds of parts.
    """
    return f"{SHAPES}{_rules(LIGHT, heat)}@media (prefers-color-scheme:dark){{{_rules(DARK, heat)}}}"


SHAPES = (
    ".cz text{font-family:Helvetica,Arial,'Liberation Sans',sans-serif;font-size:10px}"
    ".cz .n{font-weight:bold}.cz .t{font-size:12px;font-weight:bold}.cz .m{text-anchor:middle}.cz .e{text-anchor:end}"
    ".cz .s,.cz .d,.cz .h{fill:none}.cz .h{stroke-dasharray:1 4;stroke-linecap:round;stroke-width:1.6}"
    ".cz .d{stroke-dasharray:5 4}"
)


def _rules(colours: Palette, heat: bool) -> str:
    kinds = "".join(
        f".cz .{kind} .f{{fill:{colours.fills[kind]};stroke:{colours.edges[kind]}}}" for kind in colours.fills
    )
    costs = "".join(
        f".cz .c{step} .f{{fill:{colour};stroke:{colours.faint}}}.cz .c{step} .q{{fill:{colours.ink}}}"
        for step, colour in enumerate(colours.heat)
    )
    return (
        f".cz .p{{fill:{colours.page}}}.cz text,.cz .o{{fill:{colours.ink}}}.cz .q{{fill:{colours.faint}}}"
        f".cz .k{{fill:{colours.name}}}.cz .s,.cz .h{{stroke:{colours.ink}}}"
        f".cz .d{{stroke:{colours.dash}}}{costs if heat else kinds}"
    )
