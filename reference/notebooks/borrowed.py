# SPDX-License-Identifier: MIT
"""A card that is borrowed for an hour, in a browser: what gpu_in_a_browser.ipynb runs and draws. What make prints is
shown line by line, as it comes. DRY=1 in the environment rehearses it without a card, at shapes that take no time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from figures import draw
from reference.gpu import estimates, tools
from reference.gpu.cards import reported_card
from reference.gpu.counts import Call
from reference.gpu.estimates import OnCard
from reference.gpu.lesson_shapes import Lesson, all_lessons
from reference.gpu.programs import error_line
from reference.gpu.tools import Card, ToolError, digits
from reference.notebooks import forward, limits
from reference.plots import roofline
from reference.plots.roofline import DEFAULT_CARD, STYLE, Roof, duration
from reference.timings import results

NO_CARD = "no GPU is here; in Colab: Runtime → Change runtime type → T4 GPU, then run all cells"
REHEARSED = ("04", "07")  # the lessons that stand for all of them
TOOLS = ("build/tools/lessons", "build/tools/ops", "build/tools/estimate")


def is_rehearsal() -> bool:
    return os.environ.get("DRY", "0") not in ("", "0")


def borrowed() -> Card | None:
    """The card that is here; None in a rehearsal."""
    if is_rehearsal():
        return None
    try:
        return tools.read_card()
    except ToolError as error:
        if re.search("nvidia-smi is not there|no NVIDIA driver|finds no GPU", str(error)):
            raise ToolError(NO_CARD) from None
        raise


# ---- make, as it runs ------------------------------------------------------------------------------------------------


def make(*words: str) -> None:
    """Its lines are shown as they come; where it fails, one more says so."""
    command = ["make", *words, *(["DRY=1"] if is_rehearsal() else [])]
    print(f"$ {' '.join(command)}", flush=True)
    said = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout:
            said.append(line)
            print(line, end="", flush=True)
    if process.returncode:
        raise ToolError(f"{' '.join(command)} failed: {error_line(''.join(said))}")


def subject(solution: bool) -> list[str]:
    return ["SOLUTION=1"] if solution else []


# ---- the cells -------------------------------------------------------------------------------------------------------


def card() -> str:
    """What it is, in one line."""
    found = borrowed()
    if found is None:
        return "a rehearsal: the CPU device runs the kernels at tiny shapes, and no time means anything"
    return f"{found.name}, compute capability {found.compute_capability}, driver {found.driver}"


def set_up() -> str:
    """The packages that builds need, nvcc where the machine has none, and the programs that the pictures ask."""
    begin = time.monotonic()
    if borrowed():
        try:
            tools.find("nvcc")
            make("setup")
        except ToolError as missing:
            if not str(missing).startswith("nvcc is not there"):
                raise
            make("setup", "NVCC=1")
    make(*TOOLS)
    return f"set up in {time.monotonic() - begin:.0f} s"


def check(lesson: str = "04", solution: bool = True) -> str:
    """Is the lesson right on this card, and how fast is it?"""
    borrowed()
    make(f"check-lesson{lesson}", "DEVICE=gpu", *subject(solution))
    return f"lesson {lesson} is right on {'this card' if not is_rehearsal() else 'the CPU device'}"


def calibrate() -> str:
    """How fast the card copies and computes at best."""
    if borrowed() is None:
        return f"a rehearsal has no roof of its own: the data sheet of {DEFAULT_CARD} takes its place"
    make("calibrate")
    roof = roof_here()
    if roof.source == roofline.ROOF_FILE:
        return "this is the roof of the pictures below"
    instead = "its report's" if roof.kind == "measured" else "its data sheet's"
    raise ToolError(f"the card's roof was not measured; the pictures below take {instead}")


def timed_file(lesson: str) -> Path:
    return results.root() / f"results/borrowed/lesson{lesson}.json"


def runnable(lessons: list[Lesson], capability: str | None) -> tuple[list[Lesson], dict[str, list[str]]]:
    """Those with kernels that the card can run, and the numbers of the others by what they need."""
    able, unable = [], {}
    for lesson in lessons:
        if lesson.track == "device" and lesson.timed:
            if need := lesson.unmet(capability):
                unable.setdefault(need, []).append(lesson.number)
            else:
                able.append(lesson)
    return able, unable


def times(solution: bool = True, minutes: float = 30) -> str:
    """Of each lesson that this card can run; no other is begun once so many minutes are over. What is timed already is
    not timed again."""
    found = borrowed()
    able, unable = runnable(all_lessons(Path()), found.compute_capability if found else None)
    able = [lesson for lesson in able if found or lesson.number in REHEARSED]
    begin, left, failed = time.monotonic(), [], []
    for lesson in able:
        path = timed_file(lesson.number)
        if path.exists() and json.loads(path.read_text())["subject"] == ("solutions" if solution else "lessons"):
            continue
        if time.monotonic() - begin > 60 * minutes:
            left.append(lesson.number)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            make(f"time-lesson{lesson.number}", "DEVICE=gpu", *subject(solution), f"JSON={path.resolve()}")
        except ToolError as error:
            failed.append(lesson.number)
            print(error)
    lines = [f"timed: lessons {', '.join(one.number for one in able if timed_file(one.number).exists()) or 'none'}"]
    lines += [f"need {need.replace('sm_', 'compute capability ')}: {', '.join(of)}" for need, of in unable.items()]
    lines += [f"failed: {', '.join(failed)}"] if failed else []
    lines += [f"left when {minutes:g} minutes were over: {', '.join(left)}; run this cell again"] if left else []
    return "\n".join(lines)


# ---- the card beside its roof and its estimates ----------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """An op at one shape: its share of the roof's rate, and the share that the estimate allows, where one is known."""

    name: str
    milliseconds: float
    share: float
    estimate: float | None


def key_of_card() -> str:
    """Of reference/cards.toml: what estimates are given for."""
    found = borrowed()
    key = reported_card(found.name) if found else DEFAULT_CARD
    if key is None:
        raise ToolError(f"reference/cards.toml has no {found.name}: there are no estimates for this card yet")
    return key


def roof_here() -> Roof:
    """As it was measured here; else the data sheet's."""
    roof = None if is_rehearsal() else roofline.measured_here(results.root())
    return roof or roofline.datasheet(key_of_card())


def priced() -> OnCard | None:
    """What is counted of ops, on this card."""
    try:
        key = key_of_card()
    except ToolError:
        return None
    counted = list(estimates.recorded(estimates.RECORDED).values())
    return estimates.priced(Path(), counted, key)[0]


def estimate_of(on_card: OnCard | None, lesson: str, op: str, shape: str) -> float | None:
    """Seconds at least, where this call of this lesson's file is counted."""
    sizes = Call.of(f"{op} {shape}").sizes
    for (call, files), one in on_card.of.items() if on_card else ():
        of_shape = tuple(size for size in call.sizes if size[0] != "out_stride") == sizes
        # `outputs` says which outputs are null. A shape cannot say that of an input.
        same = of_shape and (not call.null or "outputs" in dict(sizes))
        if same and call.op == op and files[0] == f"{lesson}/{op}":
            return one.seconds
    return None


def rate(roof: Roof, shape: dict, precision: str) -> float:
    """What share of the roof it reaches: of bytes where memory bounds it, else of FLOP."""
    peak = roof.tensor.get(precision.upper(), roof.flop_per_s) if precision else roof.flop_per_s
    return max(shape.get("bytes_per_s", 0) / roof.bytes_per_s, shape.get("flop_per_s", 0) / peak)


def rows_of(timed: dict, lesson: Lesson, roof: Roof, on_card: OnCard | None) -> list[Row]:
    """The shapes that are judged, and of the others the first with an estimate."""
    found = []
    for op in timed["ops"]:
        others = 0
        for shape in (op.get("timing") or {}).get("shapes", []):
            share = rate(roof, shape, lesson.precision.get(op["op"], ""))
            seconds = estimate_of(on_card, lesson.name, op["op"], shape["shape"])
            others += not shape["judged"] and seconds is not None
            if share and (shape["judged"] or (seconds is not None and others == 1)):
                bound = seconds and share * 1e-3 * shape["median_ms"] / seconds
                name = f"{lesson.number} {op['op']} {shape['shape']}"
                found.append(Row(name, shape["median_ms"], share, bound))
    return found


def beside() -> Figure:
    """Each op that was timed: its share of the roof, and what its kernels can reach of it by the estimate."""
    borrowed()
    roof, on_card = roof_here(), priced()
    rows = [
        row
        for lesson in all_lessons(Path())
        if timed_file(lesson.number).exists()
        for row in rows_of(json.loads(timed_file(lesson.number).read_text()), lesson, roof, on_card)
    ]
    if not rows:
        raise ToolError("nothing is timed yet: run the cell that times the lessons first")
    return drawn(rows, roof)


COLUMNS = {"time": 0.79, "of roof": 0.88, "of estimate": 0.99}  # where each ends, of the picture's width


def percent(share: float) -> str:
    return f"{digits(100 * share)}%" if share >= 0.001 else "< 0.1%"


def cells(row: Row) -> list[str]:
    return [
        duration(1e-3 * row.milliseconds),
        percent(row.share),
        percent(row.share / row.estimate) if row.estimate else "",
    ]


def drawn(rows: list[Row], roof: Roof) -> Figure:
    head, foot, line = 104, 50, 25
    height = head + foot + line * len(rows)

    def at(pixels: float) -> float:
        """From the top, of the picture's height."""
        return 1 - pixels / height

    with style.context(STYLE):
        figure = Figure(figsize=(10, height / 72))
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0.48, foot / height, 0.23, line * len(rows) / height))
        for y, row in enumerate(rows):
            ax.barh(y, min(row.share, 1.2), height=0.6, color=draw.BLUE)
            if row.estimate:
                ax.plot(min(row.estimate, 1.2), y, "D", color=draw.ORANGE, zorder=3)
            for text, x in zip(cells(row), COLUMNS.values(), strict=True):
                figure.text(x, at(head + line * (y + 0.5)), text, ha="right", va="center")
        ax.axvline(1, color=draw.INK, linewidth=1)
        ax.set_yticks(range(len(rows)), [row.name for row in rows])
        ax.set(xlim=(0, 1.25), ylim=(len(rows) - 0.5, -0.5))
        ax.set_xlabel("share of the roof's rate", loc="left")
        ax.set_xticks([0, 0.5, 1], ["0", "50%", "100%"])
        ax.grid(visible=False, axis="y")
        for text, x in COLUMNS.items():
            figure.text(x, at(head - 12), text, ha="right", va="center", color=draw.GREY)
        title = f"{roof.name}; its roof: {'measured here' if roof.kind == 'measured' else 'the data sheet'}"
        figure.text(0.01, at(16), title, va="center", weight="bold")
        if is_rehearsal():
            figure.text(0.01, at(38), "a rehearsal: no time here means anything", va="center")
        handles = [
            Patch(color=draw.BLUE, label="timed here"),
            Line2D([], [], marker="D", color=draw.ORANGE, linestyle="none", label="what the estimate allows"),
        ]
        figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.0, at(48)), ncols=2)
        return figure


def roof() -> Figure:
    """GPT-2's ops under the card's roof."""
    borrowed()
    measured = not is_rehearsal() and roofline.measured_here(results.root())
    return limits.roof(card=None if measured else key_of_card())


def waterfall() -> Figure:
    """A forward pass by step, as estimated for the card."""
    key = key_of_card()
    make("forward-calls", *TOOLS)
    return forward.waterfall(card=key)


# ---- the report ------------------------------------------------------------------------------------------------------


def report(run: bool = False) -> str:
    """What it takes, and where it goes; with run=True it is made."""
    found = borrowed()
    path = f"reference/timings/{found.slug if found else 'CARD'}.json"
    if run and found:
        make("gpu-report")
        return f"{Path(path).resolve()}: reference/timings/README.md says how to send it"
    return (
        "make gpu-report measures all that the course's tables can show of this card: show(borrowed.report, run=True)\n"
        "each of its parts takes at most 8 minutes, and what is done is kept: a second run goes on where one ended\n"
        f"its file is {path}; reference/timings/README.md says what is in it and how to send it"
    )
