# SPDX-License-Identifier: MIT
"""Pictures of what the learner's kernels ask of memory, line by line, as the CPU device counts it."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from figures import draw
from reference.gpu.tools import ToolError, digits
from reference.plots.roofline import STYLE
from reference.timings import results

ACCESSES = {"ld": "load", "st": "store", "atom": "atomic"}
CODE = 31  # characters of a source line that a picture has room for
LOST = {"facecolor": draw.ORANGE, "hatch": "//", "edgecolor": "#ffffff"}
SOURCE = {"family": "monospace", "color": draw.GREY}


@dataclass(frozen=True)
class Line:
    """A source line's accesses of one kind; `took` and `needs` in the memory's unit, both of a request on average."""

    number: int
    code: str
    access: str
    requests: int
    took: float
    needs: float


def code_of(side: dict, line: dict) -> str:
    """The line's text as it stands in the file now."""
    try:
        text = (results.ROOT / line["file"]).read_text().splitlines()[line["line"] - 1].strip()
    except (OSError, IndexError):
        return ""
    return text if len(text) <= CODE else text[: CODE - 1] + "…"


def global_lines(side: dict) -> list[Line]:
    """In sectors."""
    found = []
    for line in side["lines"]:
        m = line["metrics"]
        for op, access in ACCESSES.items():
            if requests := m.get(f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum"):
                took = m[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum"] / requests
                needs = min(took, m[f"sectors if side by side, {op}"] / requests)  # a broadcast takes fewer
                found.append(Line(line["line"], code_of(side, line), access, requests, took, needs))
    return found


def shared_lines(side: dict) -> list[Line]:
    """In wavefronts."""
    found = []
    for line in side["lines"]:
        m = line["metrics"]
        for op, access in ACCESSES.items():
            if requests := m.get(f"smsp__inst_executed_op_shared_{op}.sum"):
                took = m[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"]
                lost = m.get(f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum", 0)
                needs = (took - lost) / requests
                found.append(Line(line["line"], code_of(side, line), access, requests, took / requests, needs))
    return found


def shown_sides(sides: list[dict]) -> list[dict]:
    """Those whose lines are shown: the learner's and the older lesson's. The solution's are nobody's to see before
    theirs is right, unless it is what was counted."""
    return [sides[0], *(side for side in sides[1:] if side["who"].startswith("lesson"))]


def title_of(side: dict) -> str:
    """Its lines are those of the file as it is now."""
    try:
        has_changed = (results.ROOT / side["source"]).stat().st_mtime > side["counted_at"]
    except OSError:
        has_changed = True
    return f"{side['who']}: {side['source']}{', which has changed since it was counted' if has_changed else ''}"


def draw_lines(ax: Axes, lines: list[Line], most: float) -> None:
    for y, line in enumerate(lines):
        ax.barh(y, line.needs, height=0.62, color=draw.GREEN)
        ax.barh(y, line.took - line.needs, left=line.needs, height=0.62, **LOST)
        words = digits(line.took) + (f", needs {digits(line.needs)}" if line.took > 1.005 * line.needs else "")
        ax.text(line.took + most / 60, y, f"{words} · {line.requests:,} {line.access}s", va="center")
        ax.text(-0.8, y, f"{line.number:>3}  {line.code}", va="center", transform=ax.get_yaxis_transform(), **SOURCE)
    ax.set(xlim=(0, 1.95 * most), ylim=(len(lines) - 0.4, -0.6), yticks=[])
    ax.set_xticks([tick for tick in ax.get_xticks() if tick <= most])


def plot(sides: list[dict], lines: list[list[Line]], title: str, unit: str, good: str, bad: str) -> Figure:
    """A panel for each side, of as many lines as it has."""
    line, head, foot = 25, 64, 52  # pixels
    height = sum(head + line * len(of_side) for of_side in lines) + foot
    with style.context(STYLE):
        figure = Figure(figsize=(10, height / 72))
        FigureCanvasAgg(figure)
        most, top = max(line.took for of_side in lines for line in of_side), height
        for side, of_side in zip(sides, lines, strict=True):
            top -= head + line * len(of_side)
            ax = figure.add_axes((0.45, top / height, 0.54, line * len(of_side) / height))
            draw_lines(ax, of_side, most)
            ax.set_title(title_of(side), x=-0.8)
        ax.set_xlabel(unit)
        figure.text(0.018, 1 - 10 / height, title, va="center", size=14, weight="bold")
        handles = [Patch(color=draw.GREEN, label=good), Patch(label=bad, **LOST)]
        figure.legend(handles=handles, loc="upper right", ncols=2, borderaxespad=0, handlelength=1.4, columnspacing=1)
        return figure


def sectors(lesson: str, op: str) -> Figure:
    """Sectors of each line's requests to global memory: those that the bytes fill, and the rest."""
    sides = shown_sides(results.of_op(lesson, op))
    lines = [global_lines(side) for side in sides]
    unit = "32-byte sectors that a request takes"
    return plot(sides, lines, f"{op}, {sides[0]['shape']}", unit, "hold what was asked for", "moved for nothing")


def bank_conflicts(lesson: str, op: str) -> Figure:
    """Wavefronts of each line's requests to shared memory: those without conflicts, and the rest."""
    sides = [side for side in shown_sides(results.of_op(lesson, op)) if shared_lines(side)]
    if not sides:
        raise ToolError(f"no line of your {op} of lesson {lesson} touches shared memory")
    lines = [shared_lines(side) for side in sides]
    unit = "wavefronts that a request takes"
    return plot(sides, lines, f"{op}, {sides[0]['shape']}", unit, "without conflicts", "lost to bank conflicts")


def totals(lesson: str) -> Figure:
    """By op and side: bytes moved and bytes asked for, in units of the unique ones."""
    rows = []
    for op, sides in results.traffic(lesson).items():
        for side in sides:
            m = side["metrics"]
            unique = sum(m.get(f"unique bytes, {access}", 0) for access in ACCESSES)
            if unique:
                moved, asked = (
                    sum(m.get(name.format(access), 0) for access in ACCESSES) / unique
                    for name in (
                        "l1tex__t_bytes_pipe_lsu_mem_global_op_{}.sum",
                        "sm__sass_data_bytes_mem_global_op_{}.sum",
                    )
                )
                rows.append((f"{op}, {side['who']}", moved, asked))
    if not rows:
        raise ToolError(f"no kernel of your lesson {lesson} touches memory yet; first: make check-lesson{lesson}")
    with style.context(STYLE):
        figure = Figure(figsize=(10, 1.3 + 0.62 * len(rows)))
        FigureCanvasAgg(figure)
        ax = figure.add_subplot()
        most = max(max(moved, asked) for _, moved, asked in rows)
        for y, (_, moved, asked) in enumerate(rows):
            for value, shift, color, words in (
                (moved, -0.2, draw.BLUE, "moved"),
                (asked, 0.2, draw.GREY, "asked for"),
            ):
                ax.barh(y + shift, value, height=0.36, color=color)
                ax.text(value + most / 90, y + shift, f"{digits(value)} {words}", va="center")
        ax.axvline(1, color=draw.INK, linewidth=1)
        ax.set_yticks(range(len(rows)), [name for name, _, _ in rows])
        ax.set(xlim=(0, 1.2 * most), ylim=(len(rows) - 0.4, -0.6), xlabel="times the unique bytes, each byte once")
        ax.set_title(f"lesson {lesson}: bytes of global memory")
        ax.grid(visible=False, axis="y")
        figure.tight_layout()
        return figure
