# SPDX-License-Identifier: MIT
"""`make ladder`: every matmul of the course in one table and one picture, results/ladder.svg and .png.

The CPU device counts what a kernel asks of memory; lessons 02 and 03 are timed on this machine, in the same run as
OpenBLAS; the times of kernels are those that `make gpu-report PART=ladder` has measured on cards. With WRITE=1 it goes
into reference/LADDER.md, and what was counted and timed into reference/plots/ladder.json.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from figures import draw
from reference.gpu import estimates, rungs
from reference.gpu.counts import Call, Key
from reference.gpu.estimates import Estimate
from reference.gpu.lesson_shapes import dims
from reference.gpu.machine import cpu
from reference.gpu.pages import put
from reference.gpu.rungs import Rung
from reference.gpu.tools import CLEAR, Parser, ToolError, digits, run_main
from reference.plots.roofline import DEFAULT_CARD, STYLE, write

DATA = Path("reference/plots/ladder.json")
PAGE = Path("reference/LADDER.md")
PICTURE = Path("reference/plots/ladder.svg")
NOT_YET = "not measured yet"
SQUARE_SHAPE = "N=4096 C=4096 OC=4096"  # what the table shows of a card, where it was timed


@dataclass
class Ladder:
    rungs: list[Rung]
    counted: dict[str, dict[str, int]]  # by lesson, of kernels
    cpu: dict  # name, and by lesson and shape the times
    gpus: dict[str, dict[str, dict[str, dict]]] = field(default_factory=dict)  # by card, lesson number and shape
    card: str = ""  # "H100 SXM", of the estimates
    estimated: dict[str, Estimate] = field(default_factory=dict)  # by lesson, of kernels at SQUARE_SHAPE

    def to_json(self) -> str:
        return json.dumps({"square": rungs.SQUARE, "counted": self.counted, "cpu": self.cpu}, indent=1) + "\n"


# ---- what a kernel asks of memory ------------------------------------------------------------------------------------


def total(metrics: dict[str, int], name: str, *ops: str) -> int:
    """Over ops such as ld, st, which stand in the metric's name for OP."""
    return sum(metrics.get(name.replace("OP", op), 0) for op in ops)


def bytes_moved(metrics: dict[str, int]) -> int:
    return total(metrics, "l1tex__t_bytes_pipe_lsu_mem_global_op_OP.sum", "ld", "st")


def sectors_a_request(metrics: dict[str, int]) -> str:
    """Of those that a request moves, and of those that its bytes would fill side by side: "9.0, 4.0"."""
    requests = total(metrics, "l1tex__t_requests_pipe_lsu_mem_global_op_OP.sum", "ld", "st")
    moved = total(metrics, "l1tex__t_sectors_pipe_lsu_mem_global_op_OP.sum", "ld", "st")
    needed = total(metrics, "sectors if side by side, OP", "ld", "st")
    return f"{moved / requests:.1f}, {needed / requests:.1f}"


def fma(rung: Rung) -> int:
    """Multiply-adds where it is counted."""
    return math.prod(rung.counted_at.values())


def shared_a_fma(rung: Rung, metrics: dict[str, int]) -> float:
    """Bytes loaded from shared memory for each multiply-add, lanes × size."""
    return total(metrics, "sm__sass_data_bytes_mem_shared_op_OP.sum", "ld") / fma(rung)


def distinct_a_fma(rung: Rung, metrics: dict[str, int]) -> float:
    """The same, each byte once a request."""
    return total(metrics, "distinct bytes of shared requests, OP", "ld") / fma(rung)


def lost_wavefronts(metrics: dict[str, int]) -> int:
    return total(metrics, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_OP.sum", "ld", "st")


def counted_elsewhere(ladder: Ladder) -> str:
    """Of kernels that do not take N = C = OC = SQUARE: "; 27 at N=288 C=256 OC=288"."""
    square = dict.fromkeys(("N", "C", "OC"), rungs.SQUARE)
    others = [rung for rung in ladder.rungs if rung.kernel and rung.counted_at != square]
    shapes = {rung.number: " ".join(f"{size}={n}" for size, n in rung.counted_at.items()) for rung in others}
    return "".join(f"; {number} at {shape}" for number, shape in shapes.items())


def in_bytes(count: float) -> str:
    return f"{digits(count / 1e6)} MB"


def estimated_speed(ladder: Ladder, rung: Rung) -> tuple[float, str] | None:
    """FLOP/s at best, and what the limit is."""
    one = ladder.estimated.get(rung.lesson)
    return (2 * math.prod(dims(SQUARE_SHAPE).values()) / one.seconds, one.limit) if one else None


def at_best(ladder: Ladder, rung: Rung) -> str:
    """ "13.4 TFLOP/s, L2"."""
    found = estimated_speed(ladder, rung)
    return f"{digits(found[0] / 1e12)} TFLOP/s, {found[1]}" if found else ""


# ---- words -----------------------------------------------------------------------------------------------------------


def speed(timed: dict) -> str:
    rate = timed["flop_per_s"]
    return f"{digits(rate / 1e12)} TFLOP/s" if rate >= 1e12 else f"{digits(rate / 1e9)} GFLOP/s"


def percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def beside(timed: dict) -> str:
    """Speed and shares."""
    roof = f"{percent(timed['of_roof'])} of the roof" if timed["of_roof"] else ""
    library = f"{percent(timed['of_library'])} of {timed['library']}" if timed["of_library"] else ""
    return ", ".join(filter(None, (speed(timed), roof, library)))


def library(rows: list[dict | None]) -> tuple[str, dict] | None:
    """The library that the first of the rows of one shape was timed beside, and its own times: by the last of them, in
    its run. A row in another precision was timed beside another library."""
    known = [row for row in rows if row and row["of_library"]]
    known = [row for row in known if row["library"] == known[0]["library"]]
    if not known:
        return None
    last = known[-1]
    roof = last["of_roof"] / last["of_library"] if last["of_roof"] else None
    rate = last["flop_per_s"] / last["of_library"]
    return last["library"], {"flop_per_s": rate, "of_roof": roof, "library": None, "of_library": None}


def counts_as_text(ladder: Ladder) -> list[str]:
    where = f"counted at N=C=OC={rungs.SQUARE}"
    lines = [
        f"{where:<26}{'global':>9}{'sectors/request':>17}{'shared bytes a FMA':>19}{'lost':>9}",
        f"{'on the CPU device':<26}{'bytes':>9}{'moved, full':>17}{'loaded':>8}{'different':>11}{'to banks':>9}",
    ]
    for rung in ladder.rungs:
        if rung.kernel:
            m = ladder.counted[rung.lesson]
            lines.append(
                f"{rung.number} {rung.title:<23}{in_bytes(bytes_moved(m)):>9}{sectors_a_request(m):>17}"
                f"{digits(shared_a_fma(rung, m)):>8}{digits(distinct_a_fma(rung, m)):>11}"
                f"{digits(lost_wavefronts(m)):>9}"
            )
    lines += ["", f"at best on {ladder.card}, {SQUARE_SHAPE}: counted, not measured"]
    lines += [f"{rung.number} {rung.title:<23}{at_best(ladder, rung)}" for rung in ladder.rungs if rung.kernel]
    return [*lines, *filter(None, [counted_elsewhere(ladder).removeprefix("; ")])]


def times_as_text(name: str, timed: dict[str, dict[str, dict]], names: dict[str, str]) -> list[str]:
    """`timed` by lesson number and shape."""
    lines = []
    for shape in dict.fromkeys(shape for rows in timed.values() for shape in rows):
        rows = [(f"{number} {names[number]}", rows.get(shape)) for number, rows in timed.items()]
        if found := library([row for _, row in rows]):
            rows.append((f"   {found[0]}", found[1]))
        lines += ["", f"{shape} on {name}", *(f"{label:<26}{beside(row)}" for label, row in rows if row)]
    return lines


def as_text(ladder: Ladder) -> str:
    names = {rung.number: rung.title for rung in ladder.rungs}
    lines = counts_as_text(ladder)
    lines += times_as_text(f"one core of {ladder.cpu['name']}", by_number(ladder.cpu["timed"]), names)
    for card, timed in ladder.gpus.items():
        lines += times_as_text(card, timed, names)
    if not ladder.gpus:
        lines += ["", f"kernels on a GPU: {NOT_YET}; make gpu-report PART=ladder on one does"]
    return "\n".join(lines)


def by_number(timed: dict[str, dict]) -> dict[str, dict]:
    return {lesson.split("_")[0]: rows for lesson, rows in timed.items()}


def shown_shape(timed: dict[str, dict[str, dict]]) -> str:
    """That of a card's times which the table shows."""
    found = list(dict.fromkeys(shape for rows in timed.values() for shape in rows))
    return SQUARE_SHAPE if SQUARE_SHAPE in found else found[-1]


COUNTED = ("global bytes", "sectors per request", "shared bytes per FMA", "wavefronts lost", "at best, {card}")


def table_row(cells: list[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def counted_cells(rung: Rung, metrics: dict[str, int]) -> list[str]:
    loaded, different = shared_a_fma(rung, metrics), distinct_a_fma(rung, metrics)
    shared = f"{digits(different)} of {digits(loaded)}" if loaded else ""
    return [in_bytes(bytes_moved(metrics)), sectors_a_request(metrics), shared, digits(lost_wavefronts(metrics))]


def head(ladder: Ladder, cards: list[str]) -> list[str]:
    counted = [name.format(card=ladder.card) for name in COUNTED]
    return [table_row(["", "matmul of", *counted, "one CPU core", *cards]), f"|---|---|{'---:|' * (6 + len(cards))}"]


def section(ladder: Ladder) -> str:
    """What stands on the page between the markers."""
    cards = list(ladder.gpus)
    cpu = by_number(ladder.cpu["timed"])
    (cpu_shape,) = {shape for rows in cpu.values() for shape in rows}
    # Of each card by lesson number, at the one shape that is shown.
    timed = {
        card: {number: rows.get(shown_shape(found)) for number, rows in found.items()}
        for card, found in ladder.gpus.items()
    }
    lines = head(ladder, cards)
    for rung in ladder.rungs:
        name = [rung.number, f"[{rung.title}](../lessons/{rung.lesson}/README.md)"]
        if rung.kernel:
            of_cards = [timed.get(card, {}).get(rung.number) for card in cards]
            cells = [
                *counted_cells(rung, ladder.counted[rung.lesson]),
                at_best(ladder, rung),
                "",
                *(beside(one) if one else "" for one in of_cards),
            ]
        else:
            one = cpu[rung.number].get(cpu_shape)
            cells = ["", "", "", "", "", beside(one) if one else "", *("" for _ in cards)]
        lines.append(table_row([*name, *cells]))
    blank = [""] * len(COUNTED)
    if found := library([rows.get(cpu_shape) for rows in cpu.values()]):
        lines.append(table_row(["", found[0], *blank, beside(found[1]), *("" for _ in cards)]))
    libraries = [library(list(timed.get(card, {}).values())) for card in cards]
    if any(libraries):
        cells = [beside(found[1]) if found else "" for found in libraries]
        lines.append(table_row(["", "cuBLAS", *blank, "", *cells]))
    where = "; ".join(f"{card} at {shown_shape(timed)}" for card, timed in ladder.gpus.items())
    gpus = f" GPU: {where}." if where else ""
    lines += [
        "",
        f"Counted on the CPU device at N = C = OC = {rungs.SQUARE}{counted_elsewhere(ladder)}: bytes of global memory"
        " that requests move; the sectors of a request, and how many its bytes would fill side by side; bytes that a"
        " multiply-add loads from shared memory, different ones of a warp's request *of* all that its lanes ask"
        f" for; wavefronts that bank conflicts cost. *At best* at {SQUARE_SHAPE}, and the limit: counted, not measured"
        f" ([how](../checker/estimate/README.md)). CPU: {ladder.cpu['name']} (family/model), processor time,"
        f" {cpu_shape}."
        f"{gpus} In the picture *global* is what requests move, *shared* the different bytes.",
        "",
        f"![The matmuls beside each other]({PICTURE.relative_to(PAGE.parent)})",
        "",
    ]
    return "\n".join(lines)


# ---- the picture -----------------------------------------------------------------------------------------------------


def share_of(ladder: Ladder, rung: Rung) -> tuple[float, str] | None:
    """Of the library's speed, and which; of a kernel on the first card."""
    if not rung.kernel:
        one = next(iter(ladder.cpu["timed"][rung.lesson].values()), None)
    elif ladder.gpus:
        timed = next(iter(ladder.gpus.values()))
        one = timed.get(rung.number, {}).get(shown_shape(timed))
    else:
        return None
    return (one["of_library"], one["library"]) if one and one["of_library"] else None


def draw_traffic(ax: Axes, ladder: Ladder, heights: dict[str, float]) -> None:
    for rung in ladder.rungs:
        y = heights[rung.lesson]
        if not rung.kernel:
            share = None if ladder.gpus else share_of(ladder, rung)  # beside cards' they have bars
            of_library = f", {percent(share[0])} of {share[1]}" if share else ""
            ax.text(ax.get_xlim()[0] * 1.2, y, f"plain C++{of_library}", va="center", color=draw.GREY)
            continue
        m = ladder.counted[rung.lesson]
        for memory, value, shift, color in (
            ("global", bytes_moved(m) / fma(rung), -0.2, draw.BLUE),
            ("shared", distinct_a_fma(rung, m), 0.2, draw.ORANGE),
        ):
            if value:
                ax.barh(y + shift, value, height=0.36, color=color)
                ax.text(value * 1.15, y + shift, f"{digits(value)} {memory}", va="center")
            else:
                ax.text(ax.get_xlim()[0] * 1.2, y + shift, f"none {memory}", va="center", color=draw.GREY)


def draw_estimates(ax: Axes, ladder: Ladder, heights: dict[str, float]) -> None:
    for rung in ladder.rungs:
        if found := estimated_speed(ladder, rung):
            y, speed = heights[rung.lesson], found[0] / 1e12
            ax.barh(y, speed, height=0.5, color=draw.ORANGE_PALE, edgecolor=draw.ORANGE, hatch="//", linewidth=0.8)
            ax.text(speed + 0.02 * ax.get_xlim()[1], y, digits(speed), va="center")


def draw_shares(ax: Axes, ladder: Ladder, heights: dict[str, float]) -> None:
    for rung in ladder.rungs:
        y, share = heights[rung.lesson], share_of(ladder, rung)
        if share:
            ax.barh(y, share[0], height=0.5, color=draw.GREEN)
            ax.text(share[0] + 0.02, y, f"{percent(share[0])} of {share[1]}", va="center")


def plot(ladder: Ladder) -> Figure:
    """Shares of a library's speed stand beside the rest where a card has been timed."""
    with style.context(STYLE):
        figure = Figure(figsize=(10, 1.6 + 0.62 * len(ladder.rungs)))
        FigureCanvasAgg(figure)
        widths = (1.2, 0.75, 0.9) if ladder.gpus else (1, 0.8)
        left, middle, *rest = figure.subplots(1, len(widths), width_ratios=widths)
        heights = {rung.lesson: float(i) for i, rung in enumerate(ladder.rungs)}
        left.set(xscale="log", xlim=(0.02, 500))
        left.set_title("bytes for each\nmultiply-add")
        left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: digits(value)))
        left.set_yticks(list(heights.values()), [f"{rung.number} {rung.title}" for rung in ladder.rungs])
        fastest = max(found[0] / 1e12 for found in (estimated_speed(ladder, rung) for rung in ladder.rungs) if found)
        middle.set(xlim=(0, (1.6 if rest else 1.3) * fastest))
        middle.set_xticks(range(0, int(fastest) + 1, 100 if fastest > 150 else 20))
        middle.set_title(f"estimate, TFLOP/s\n{ladder.card}")
        middle.set_yticks(list(heights.values()), [""] * len(heights))
        for ax in (left, middle, *rest):
            ax.set_ylim(len(heights) - 0.4, -0.6)
            ax.grid(visible=False, axis="y")
        draw_traffic(left, ladder, heights)
        draw_estimates(middle, ladder, heights)
        for right in rest:
            right.set(xlim=(0, 2.6))
            right.set_title("share of the\nlibrary's speed")
            right.set_xticks([0, 1])
            right.xaxis.set_major_formatter(PercentFormatter(1))
            right.set_yticks(list(heights.values()), [""] * len(heights))
            draw_shares(right, ladder, heights)
        figure.tight_layout(rect=(0, 0, 0.98, 1))  # a viewer's font may be wider
        return figure


# ---- the command -----------------------------------------------------------------------------------------------------


def keys(root: Path) -> dict[str, Key]:
    """By lesson, what is estimated."""
    call = Call.of(f"matmul {SQUARE_SHAPE} out_stride={dims(SQUARE_SHAPE)['OC']}")
    return {rung.lesson: (call, (f"{rung.lesson}/matmul",)) for rung in rungs.rungs(root) if rung.kernel}


def estimated(root: Path) -> tuple[str, dict[str, Estimate]]:
    of = keys(root)
    (found,) = estimates.of_calls(root, of.values(), DEFAULT_CARD)
    return found.name, {lesson: found.of[key] for lesson, key in of.items()}


def read(root: Path) -> Ladder:
    """What is committed: nothing is measured."""
    data = json.loads((root / DATA).read_text())
    return Ladder(rungs.rungs(root), data["counted"], data["cpu"], rungs.gpu_reports(root), *estimated(root))


def measure() -> Ladder:
    found = rungs.rungs(Path())
    counted, timed = {}, {}
    for rung in found:
        if CLEAR:
            print(f"{CLEAR}… {rung.lesson}", end="", file=sys.stderr, flush=True)
        if rung.kernel:
            counted[rung.lesson] = rungs.count(rung)
        else:
            chosen = [shape for shape in rungs.chosen_shapes(rungs.CPU_SHAPES) if rung.takes(shape)]
            timed[rung.lesson] = {shape: rungs.time_at("build", rung, shape) for shape in chosen}
    print(CLEAR, end="", file=sys.stderr, flush=True)
    return Ladder(found, counted, {"name": cpu().label, "timed": timed}, rungs.gpu_reports(Path()), *estimated(Path()))


def run(options: argparse.Namespace) -> int:
    ladder = measure()
    print(as_text(ladder))
    if not options.write:
        for path in write(plot(ladder), Path("results"), "ladder"):
            print(f"written to {path}")
        return 0
    if rungs.chosen_shapes(()):
        raise ToolError("WRITE=1 goes with the shapes that the page shows: leave SHAPES out")
    text = put(PAGE.read_text(), "ladder", section(ladder), PAGE)
    DATA.write_text(ladder.to_json())
    PAGE.write_text(text)
    (picture,) = write(plot(ladder), PICTURE.parent, "ladder", ("svg",))
    print(f"written to {DATA}, {PAGE} and {picture}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("ladder", __doc__)
    parser.add_argument("--write", action="store_true", help="into reference/LADDER.md, its picture and ladder.json")
    options = parser.parse_args(arguments)
    return run_main("ladder", lambda: run(options), status=2)


if __name__ == "__main__":
    sys.exit(main())
