# SPDX-License-Identifier: MIT
"""`make record-cpu`: the solutions' times on this machine, of the lessons for the CPU: reference/timings/<cpu>.json.

Each lesson's check times the solutions several times over, in turn. Times are processor time, so that what other
programs take is not counted. Of each number the median of the runs is kept, and beside it the smallest and the
largest. Needs nothing but Python 3.10.
"""

from __future__ import annotations

import json
import math
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from reference.gpu import pages
from reference.gpu.checkout import commit
from reference.gpu.machine import cpu
from reference.gpu.programs import with_json
from reference.gpu.tools import CLEAR, TIMINGS, Parser, ToolError, counted, digits, run_main, utc_now

FORMAT = 1
LIMIT = 600  # seconds for one check
PAGES = {
    "lesson01": Path("lessons/01_layers/README.md"),
    "lesson02": Path("lessons/02_forward/README.md"),
    "lesson03": Path("lessons/03_cpu_matmul/README.md"),
}
BLOCK = "recorded: {}"  # of a machine, by its slug
SPREAD = ("median_ms", "flop_per_s", "bytes_per_s")


def compiler(command: str, flags: str) -> dict[str, str]:
    """What compiled the ops, and what -march=native means to it here."""
    try:
        version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
        target = subprocess.run(
            [command, "-march=native", "-Q", "--help=target"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolError(f"{command} did not say which it is: {error}") from None
    march = re.search(r"-march=\s+(\S+)", target)
    return {"compiler": version.splitlines()[0], "flags": flags, "march": march[1] if march else "native"}


def timed(check: str) -> dict[str, dict]:
    """By op what one run of a lesson's check measured; its times beside those of others in the same run."""
    command = [check, "--subject", "solutions", "--timing-only", "--roof", "results/roof.json"]
    report, done = with_json(command, LIMIT, {"SOL_CLOCK": "processor"})
    found = {op["op"]: op["timing"] for op in report["ops"] if op.get("timing")}
    if not found:
        raise ToolError(f"{check} timed nothing: {done.output.strip().splitlines()[-1]}")
    return found


def middle(values: list[float]) -> tuple[float, list[float]]:
    """The median; the smallest and the largest. Six digits of each say all."""
    median, low, high = (float(f"{x:.6g}") for x in (statistics.median(values), min(values), max(values)))
    return median, [low, high]


def merged_shape(runs: list[dict]) -> dict:
    """Of one shape in several runs."""
    result = {"shape": runs[0]["shape"], "judged": runs[0]["judged"], "spread": {}}
    for key in ("median_ms", "p10_ms", "p90_ms", "flop_per_s", "bytes_per_s"):
        if key in runs[0]:
            result[key], spread = middle([run[key] for run in runs])
            if key in SPREAD:
                result["spread"][key] = spread
    result["of_speed_of"] = {}
    for rival in runs[0]["of_speed_of"]:
        share, spread = middle([run["of_speed_of"][rival]["share"] for run in runs])
        if rival != "solution":
            result["of_speed_of"][rival] = {"share": share, "interval": spread}
    return result


def merged(runs: list[dict]) -> dict:
    """Of one op: as a check's `timing`, each number the median of the runs."""
    shapes = zip(*(run["shapes"] for run in runs), strict=True)
    return {
        "device": "CPU",
        "runs": len(runs),
        "against": runs[0]["against"],
        "library": runs[0]["library"],
        "shapes": [merged_shape(list(of_runs)) for of_runs in shapes],
    }


def multiply_adds(items: dict[str, dict]) -> float:
    """The rate in registers, which ops were timed beside: the median over them."""
    shapes = [shape for item in items.values() for shape in item["result"]["shapes"]]
    beside = [shape for shape in shapes if "arithmetic" in shape["of_speed_of"]]
    rate = statistics.median(shape["flop_per_s"] / shape["of_speed_of"]["arithmetic"]["share"] for shape in beside)
    return float(f"{rate:.6g}")


def record(checks: list[str], runs: int, versions: dict[str, str]) -> dict:
    here, begin = cpu(), utc_now()
    load = [os.getloadavg()[0]]
    found: dict[str, list[dict]] = {}
    for i in range(runs):
        for check in checks:
            print(f"{CLEAR}run {i + 1} of {runs}: {Path(check).name} …", file=sys.stderr, flush=True)
            for op, timing in timed(check).items():
                found.setdefault(f"{Path(check).name}/{op}", []).append(timing)
        load.append(os.getloadavg()[0])
    lanes = json.loads(Path("results/roof.json").read_text())["cpu"]["lanes"]
    items = {item: {"status": "ok", "measured_at": begin, "result": merged(timings)} for item, timings in found.items()}
    return {
        "format": FORMAT,
        "cpu": here.label,
        "rehearsal": False,
        "clock": "processor time",
        "machine": {
            "name": here.name,
            "family": here.family,
            "model": here.model,
            "floats_of_a_vector": lanes,
            "fma_one_flop_per_s": multiply_adds(items),
            "load_average": [round(min(load), 2), round(max(load), 2)],
        },
        "parts": {
            "timings": {
                "measured_at": begin,
                **commit(None),
                "versions": versions,
                "items": items,
            }
        },
    }


# ---- the pages -------------------------------------------------------------------------------------------------------


def percent(shape: dict, rival: str) -> str:
    found = shape["of_speed_of"].get(rival)
    return f"{100 * found['share']:.0f}%" if found else ""


def milliseconds(shape: dict) -> str:
    spread = " to ".join(digits(ms) for ms in shape["spread"]["median_ms"])
    return f"{digits(shape['median_ms'])} ({spread})"


def results_of(data: dict, lesson: str) -> dict[str, dict]:
    """By op what was recorded of a lesson."""
    items = data["parts"]["timings"]["items"]
    return {name.split("/")[1]: item["result"] for name, item in items.items() if name.startswith(f"{lesson}/")}


def sizes(shape: dict) -> dict[str, int]:
    return {name: int(size) for name, size in (word.split("=") for word in shape["shape"].split())}


def elements(shape: dict) -> int:
    """Of an op of lesson 01: N, or B * T * C."""
    return math.prod(sizes(shape).values())


def copy_rate(data: dict) -> float:
    """Bytes per second of a copy of as many bytes as lesson 01's residual moves, read and written."""
    (shape,) = results_of(data, "lesson01")["residual"]["shapes"]
    return shape["bytes_per_s"] / shape["of_speed_of"]["copy"]["share"]


def layers(data: dict) -> list[str]:
    lines = ["| op | shape | ms | ns per element | of a copy's speed |", "|---|---|---:|---:|---:|"]
    for op, result in results_of(data, "lesson01").items():
        for shape in result["shapes"]:
            each = digits(1e6 * shape["median_ms"] / elements(shape))
            cells = [op, shape["shape"], milliseconds(shape), each, percent(shape, "copy")]
            lines.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    return lines


def forward(data: dict) -> list[str]:
    lines = ["| op | shape | ms |", "|---|---|---:|"]
    for op, result in results_of(data, "lesson02").items():
        lines += [f"| {op} | {shape['shape']} | {milliseconds(shape)} |" for shape in result["shapes"]]
    (matmul,) = results_of(data, "lesson02")["matmul"]["shapes"]
    rate, share = digits(matmul["flop_per_s"] / 1e9), percent(matmul, "arithmetic")
    return [*lines, "", f"`matmul` does {rate} GFLOP/s, {share} of the FMAs' rate."]


def cpu_matmul(data: dict) -> list[str]:
    results = results_of(data, "lesson03")
    lines = ["| N, C, OC | ms | GFLOP/s | of the roof | of OpenBLAS |", "|---|---:|---:|---:|---:|"]
    for shape in results["matmul"]["shapes"]:
        cells = [", ".join(map(str, sizes(shape).values())), milliseconds(shape), digits(shape["flop_per_s"] / 1e9)]
        cells += [percent(shape, "arithmetic"), percent(shape, "library")]
        lines.append(f"| {' | '.join(cells)} |")
    older = results["matmul"]["shapes"][0]["of_speed_of"]["older"]["share"]
    (fast,), (slow,) = results["gelu"]["shapes"], results_of(data, "lesson01")["gelu"]["shapes"]
    gelu = f"`gelu` takes {digits(fast['median_ms'])} ms for {elements(fast):,} elements, lesson 01's"
    gelu += f" {digits(slow['median_ms'])} ms: {slow['median_ms'] / fast['median_ms']:.0f} times as long."
    return [*lines, "", f"At the first shape `matmul` is {older:.0f} times as fast as lesson 02's. {gelu}"]


def page_block(data: dict, lesson: str) -> str:
    """What a lesson's page shows of the file; the roof of the run stands beside its times."""
    part, machine = data["parts"]["timings"], data["machine"]
    low, high = machine["load_average"]
    tables = {"lesson01": layers, "lesson02": forward, "lesson03": cpu_matmul}
    runs = max(result["runs"] for result in results_of(data, lesson).values())
    rates = [f"{digits(copy_rate(data) / 1e9)} GB/s in a copy of as many bytes as `residual` moves"]
    if lesson != "lesson01":  # whose page comes before the word
        rates.insert(0, f"{digits(machine['fma_one_flop_per_s'] / 1e9)} GFLOP/s in FMAs on registers")
    lines = [
        f"By `make record-cpu` on {part['measured_at'][:10]}: one core of an {data['cpu']} (family/model),"
        f" {part['versions']['compiler']}, vectors of {machine['floats_of_a_vector']} floats, processor time at a load"
        f" average of {low} to {high}. In that run it did {' and '.join(rates)}. Medians of"
        f" {counted(runs, 'run')}, the smallest and the largest in brackets:",
        "",
        *tables[lesson](data),
    ]
    return "\n".join(lines) + "\n"


def put(text: str, slug: str, new: str, page: Path) -> str:
    """The page with another table between the markers of this machine; as it is where it shows another's."""
    block = BLOCK.format(slug)
    return pages.put(text, block, new, page) if pages.has(text, block) else text


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("record-cpu", __doc__)
    parser.add_argument("checks", nargs="+", metavar="CHECK", help="build/check/lesson01 …")
    parser.add_argument("--runs", type=int, default=5, help="of each check (default: 5)")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="")
    options = parser.parse_args(arguments)
    if options.runs < 1:
        parser.error(f"runs: {options.runs}; at least 1 is needed")

    def act() -> int:
        data = record(options.checks, options.runs, compiler(options.compiler, options.flags))
        path = TIMINGS / f"{cpu().slug}.json"
        path.write_text(json.dumps(data, indent=1) + "\n")
        for lesson, page in PAGES.items():
            page.write_text(put(page.read_text(), cpu().slug, page_block(data, lesson), page))
        print(f"{path}: {len(data['parts']['timings']['items'])} ops, {options.runs} runs")
        return 0

    return run_main("record-cpu", act)


if __name__ == "__main__":
    sys.exit(main())
