# SPDX-License-Identifier: MIT
"""Draws the course's figures as SVG: the same thing looks the same on every page.

A tensor in memory is a long strip, a matrix a grid, a lane of a warp a square, an arrow is data moving.
Every figure is a white card 720 units wide, so that a unit is a pixel at the width of a page and the figure reads
the same on a light and on a dark ground. Standard library only; the same script writes the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 720
TEXT = 14  # font size of labels; nothing is smaller than SMALL
SMALL = 13

INK = "#1f2328"
GREY = "#57606a"
LINE = "#8c959f"
PALE = "#eaeef2"
BLUE, BLUE_PALE = "#0072b2", "#cfe6f5"
ORANGE, ORANGE_PALE = "#b45f06", "#fde3c3"
GREEN, GREEN_PALE = "#00795a", "#cdeee3"

# Fill and outline by what a box is. The label beside it says the same, so that colour is never the only carrier.
STYLES = {
    "memory": ("#ffffff", LINE),
    "outline": ("none", LINE),
    "unused": (PALE, LINE),
    "read": (BLUE_PALE, BLUE),
    "kept": (ORANGE_PALE, ORANGE),
    "written": (GREEN_PALE, GREEN),
}

SANS = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def number(x: float) -> str:
    """At most one decimal, and no trailing zero: the same text on every machine."""
    return f"{x:.1f}".rstrip("0").rstrip(".")


class Figure:
    """Collects shapes in drawing order; `svg()` is the document."""

    def __init__(self, height: int, title: str, description: str):
        self.height = height
        self.title = title
        self.description = description
        self.body: list[str] = []

    # -- primitives ----------------------------------------------------------------------------------------------

    def text(self, x, y, words, *, mono=False, size=TEXT, anchor="start", color=INK, bold=False):
        if size < SMALL:
            raise ValueError(f"text of {size} px is smaller than {SMALL}: {words}")
        weight = ' font-weight="600"' if bold else ""
        family = f' font-family="{MONO}"' if mono else ""
        self.body.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{color}"{weight}{family} xml:space="preserve">{escape(words)}</text>'
        )

    def box(self, x, y, w, h, style="memory", *, radius=0, stroke=1.0):
        fill, outline = STYLES[style]
        self.body.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}" '
            f'rx="{number(radius)}" fill="{fill}" stroke="{outline}" stroke-width="{number(stroke)}"/>'
        )

    def line(self, points, *, color=LINE, dashed=False, width=1.0):
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        dash = ' stroke-dasharray="3 3"' if dashed else ""
        self.body.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{number(width)}"{dash}/>'
        )

    def arrow(self, points, *, color=GREY):
        """Data moves along the points, to the last one."""
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.body.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.5" marker-end="url(#tip)"/>'
        )

    # -- what the course draws -----------------------------------------------------------------------------------

    def cells(self, x, y, w, h, labels, style="memory", *, styles=None, mono=True, color=INK):
        """A strip of memory cut into equal cells. `styles` overrides the style of single cells by index."""
        cell = w / len(labels)
        marked = styles or {}
        for i in range(len(labels)):
            if i not in marked:
                self.box(x + i * cell, y, cell, h, style)
        for i, marked_style in marked.items():  # last, so that its outline is whole
            self.box(x + i * cell, y, cell, h, marked_style, stroke=1.5)
        for i, label in enumerate(labels):
            if label:
                self.text(x + (i + 0.5) * cell, y + h / 2 + 5, label, mono=mono, anchor="middle", color=color)
        return cell

    def zoom(self, x0, x1, y, to_x0, to_x1, to_y):
        """Two dashed lines from a piece of one strip to the strip that shows it enlarged."""
        self.line([(x0, y), (to_x0, to_y)], dashed=True)
        self.line([(x1, y), (to_x1, to_y)], dashed=True)

    def grid(self, x, y, cell, rows, columns, style):
        """A matrix; style(row, column) names the style of a cell."""
        for r in range(rows):
            for c in range(columns):
                self.box(x + c * cell, y + r * cell, cell, cell, style(r, c))

    def lanes(self, x, y, cell, styles):
        """The lanes of a warp: a row of squares."""
        for i, style in enumerate(styles):
            self.box(x + i * cell, y, cell, cell, style)

    # -- the document --------------------------------------------------------------------------------------------

    def svg(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
            f'height="{self.height}" role="img" aria-labelledby="title description" font-family="{SANS}">\n'
            f'<title id="title">{escape(self.title)}</title>\n'
            f'<desc id="description">{escape(self.description)}</desc>\n'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{GREY}"/></marker></defs>\n'
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{self.height - 1}" rx="8" fill="#ffffff" '
            f'stroke="#d0d7de"/>\n'
        )
        return head + "\n".join(self.body) + "\n</svg>\n"

    def write(self, path: str) -> None:
        """Writes the figure to a path from the root of the repository, over a temporary name."""
        target = ROOT / path
        temporary = target.with_suffix(".svg.tmp")
        temporary.write_text(self.svg(), encoding="utf-8")
        temporary.replace(target)
        print(path)
