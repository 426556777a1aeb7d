# SPDX-License-Identifier: MIT
"""`make ncu-table`: the CPU device's counters beside Nsight Compute's, into checker/simt/VS_NCU.md.

The lessons' kernels are counted here on the CPU device, into checker/simt/vs_ncu.json. Nsight Compute's numbers, of the
same launches, are in the cards' reports: the part `ncu` of `make gpu-report`, which writes the page too. Counters that
differ are a result and no failure: the page says where and why.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from reference import gpu_tools as tools
from reference.gpu_build import Programs
from reference.gpu_tools import ToolError, run
from reference.lesson_shapes import Lesson, ShapeError, device_lessons
from reference.simt_vs_gpu import put_between

COUNTS = Path("checker/simt/vs_ncu.json")
PAGE = Path("checker/simt/VS_NCU.md")
REHEARSED = Path("build/dry/VS_NCU.md")
TIMINGS = Path("reference/timings")
BEGIN, END = "<!-- make ncu-table -->\n", "<!-- end -->\n"
FORMAT = 1
NOT_YET = "not measured yet"
NOT_COUNTED = "not counted by this Nsight Compute on this card"
TOLERANCE = 0.05
LIMIT = 300  # seconds for one op on the CPU device

# Two cases of each op: one whose rows begin on sectors, with a multiple of 128 channels, and one where nothing is a
# power of two. The first launch of each kernel is compared.
CASES = ("head64", "odd")


@dataclass(frozen=True)
class Counts:
    """What the CPU device counts of the first launch of a kernel."""

    lesson: str  # "07_tiled_matmul"
    op: str
    case: str
    shape: str
    source: str  # see digest()
    kernel: str
    grid: list[int]
    block: list[int]
    metrics: dict[str, int]  # those of tools.COUNTED that are not 0

    @property
    def item(self) -> str:
        return item_name(self.lesson, self.op, self.case)


def item_name(lesson: str, op: str, case: str) -> str:
    """Of the report's part: lesson07/matmul/square."""
    return f"lesson{lesson.split('_')[0]}/{op}/{case}"


def digest(root: Path, lesson: str, op: str) -> str:
    """Of a solution's file and the kernel helpers that it includes: numbers of other versions are not compared."""
    text = (root / "solutions" / lesson / f"{op}.cu").read_text()
    for name in re.findall(r'#include "(lessons/\d[^"]*\.cuh)"', text):
        text += (root / name).read_text()
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def kernels_of(root: Path, lesson: Lesson, op: str) -> list[str]:
    return tools.kernels_of(root / "solutions" / lesson.name / f"{op}.cu")


def wanted(root: Path) -> Iterator[tuple[Lesson, str, str]]:
    """Every case of every solution with kernels: lesson, op, case."""
    for lesson in device_lessons(root):
        for op in lesson.ops:
            if kernels_of(root, lesson, op):
                yield from ((lesson, op, case) for case in CASES)


def base_name(kernel: str) -> str:
    return kernel.partition("<")[0]


# ---- the CPU device --------------------------------------------------------------------------------------------------


def count(root: Path, lesson: Lesson, op: str, case: str, scratch: Path) -> list[Counts]:
    """Of the first launch of each kernel. Raises ToolError where one was not launched, or not counted whole."""
    launched, shown = scratch / "launches.json", scratch / "shown.json"
    for file in (launched, shown):
        file.unlink(missing_ok=True)
    command = [f"build/check/lesson{lesson.number}", "--traffic", "--subject", "solutions"]
    done = run([*command, "--only", f"{op}/{case}", "--json", str(shown)], LIMIT, {"SIMT_TRAFFIC": str(launched)})
    if done.status != 0 or not launched.exists():
        raise ToolError(f"{op}/{case} of lesson {lesson.number} was not counted: {tools.last_line(done.output)}")
    source = f"solutions/{lesson.name}/{op}.cu"
    launches = [row for row in json.loads(launched.read_text())["launches"] if row["file"] == source]
    found = []
    for kernel in kernels_of(root, lesson, op):
        first = next((row for row in launches if base_name(row["kernel"]) == kernel), None)
        if first is None or first["blocks"] != first["blocks_counted"]:
            raise ToolError(f"{source}: {kernel} was not {'counted whole' if first else 'launched'} in {case}")
        metrics = {name: first["metrics"][name] for name in tools.COUNTED if name in first["metrics"]}
        shape = json.loads(shown.read_text())["ops"][0]["shape"].removesuffix(f" ({case})")
        numbers = (first["grid"], first["block"], metrics)
        found.append(Counts(lesson.name, op, case, shape, digest(root, lesson.name, op), kernel, *numbers))
    return found


def count_all(root: Path) -> list[Counts]:
    with tempfile.TemporaryDirectory(prefix="ncu-table-") as scratch:
        return [c for lesson, op, case in wanted(root) for c in count(root, lesson, op, case, Path(scratch))]


def write_counts(counts: Iterable[Counts], root: Path) -> None:
    """A line a kernel, so that a change shows where it is."""
    lines = ",\n".join(json.dumps(asdict(count)) for count in counts)
    (root / COUNTS).write_text(f'{{"format": {FORMAT}, "kernels": [\n{lines}\n]}}\n')


def read_counts(root: Path) -> list[Counts]:
    try:
        data = json.loads((root / COUNTS).read_text())
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']}")
        return [Counts(**row) for row in data["kernels"]]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ToolError(f"{COUNTS} cannot be read ({error}): make ncu-table writes it anew") from None


# ---- Nsight Compute --------------------------------------------------------------------------------------------------


def triple(text: str) -> list[int]:
    """Of "(128, 1, 1)"."""
    return [int(word) for word in re.findall(r"\d+", text)]


def measure(root: Path, lesson: Lesson, op: str, case: str, programs: Programs, log: Path, limit: float) -> dict:
    """Nsight Compute on one case, built already. Metrics that it does not know on this card are left out, and said."""
    program = programs.check(lesson, f"{op}/{case}", "--no-timing")
    metrics, refused = list(tools.COUNTED), []
    while True:
        log.unlink(missing_ok=True)
        ncu = tools.find("ncu", programs.dry)
        command = tools.ncu_command(ncu, kernels_of(root, lesson, op), program, log=log, metrics=metrics)
        done = run(command, limit)
        if done.status is None:
            raise ToolError(f"ncu took more than the {limit:.0f} s that were left")
        output = done.output + (log.read_text(errors="replace") if log.exists() else "")
        unknown = tools.refused_metrics(output, metrics)
        if not unknown:
            break
        metrics = [name for name in metrics if name not in unknown]
        refused += unknown
        limit -= done.seconds
    kernels = tools.parse_ncu(output, {name: name for name in metrics})
    return {
        "case": case,
        "source": digest(root, lesson.name, op),
        "metrics_unknown": refused,
        "kernels": [
            {"name": kernel.name, "grid": triple(kernel.grid), "block": triple(kernel.block), "metrics": kernel.values}
            for kernel in kernels
        ],
    }


# ---- the comparison --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Access:
    """A kind of access, and the metrics that say what it costs. `apart` is what Nsight Compute counts apart and the CPU
    device does not."""

    name: str
    requests: str
    cost: str  # sectors; of shared memory wavefronts
    asked: str  # bytes
    excess: str = ""  # wavefronts beyond one a pass
    apart: Access | None = None


def of_global(name: str, op: str, apart: Access | None = None) -> Access:
    t = "pipe_lsu_mem_global_op"
    names = (f"l1tex__t_requests_{t}_{op}.sum", f"l1tex__t_sectors_{t}_{op}.sum")
    return Access(name, *names, f"sm__sass_data_bytes_mem_global_op_{op}.sum", apart=apart)


def of_shared(name: str, op: str, apart: Access | None = None) -> Access:
    return Access(
        name,
        f"smsp__inst_executed_op_shared_{op}.sum",
        f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum",
        f"sm__sass_data_bytes_mem_shared_op_{op}.sum",
        f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum",
        apart,
    )


REDUCTIONS = of_global("reductions", "red")
ASYNCHRONOUS = ("sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum",)
ASYNCHRONOUS_LOADS = Access(
    "asynchronous copies",
    *ASYNCHRONOUS,
    "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "sm__sass_data_bytes_mem_global_op_ldgsts.sum",
)
ASYNCHRONOUS_STORES = Access(
    "asynchronous copies",
    *ASYNCHRONOUS,
    "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    "sm__sass_data_bytes_mem_global_op_ldgsts.sum",
    "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
)
GLOBAL = (
    of_global("loads", "ld", ASYNCHRONOUS_LOADS),
    of_global("stores", "st"),
    of_global("atomics", "atom", REDUCTIONS),
)
SHARED = (
    of_shared("shared loads", "ld"),
    of_shared("shared stores", "st", ASYNCHRONOUS_STORES),
    of_shared("shared atomics", "atom"),
)
ALL_EXCESS = "derived__memory_l1_wavefronts_shared_excessive"  # by the addresses, as here; op_ld and op_st by hardware


@dataclass(frozen=True)
class Cost:
    """Of one kind of access of a launch; None is what was not counted."""

    requests: float | None = None
    cost: float | None = None
    asked: float | None = None
    excess: float | None = None
    apart: str = ""  # "128 requests are reductions"

    @staticmethod
    def of(access: Access, metrics: Mapping[str, float]) -> Cost:
        names = (access.requests, access.cost, access.asked, access.excess)
        return Cost(*(metrics.get(name) for name in names))


def ours_of(access: Access, metrics: Mapping[str, float]) -> Cost:
    """The device leaves out what is 0."""
    cost = Cost.of(access, metrics)
    return Cost(cost.requests or 0, cost.cost or 0, cost.asked or 0, (cost.excess or 0) if access.excess else None)


def total(a: float | None, b: float | None) -> float | None:
    return a if a is None or b is None else a + b


def theirs_of(access: Access, metrics: Mapping[str, float]) -> Cost:
    cost = Cost.of(access, metrics)
    apart = Cost.of(access.apart, metrics) if access.apart else Cost()
    words = f"{apart.requests:,.0f} of the requests are {access.apart.name}" if apart.requests else ""
    both = zip(astuple(cost)[:4], astuple(apart)[:4], strict=True)
    return Cost(*(total(a, b) for a, b in both), words)


def near(a: float, b: float, whole: float | None = None) -> bool:
    return abs(a - b) <= TOLERANCE * (max(a, b) if whole is None else whole)


def verdict(ours: Cost, theirs: Cost) -> str:
    """`same`, `DIFFERS`, or why the two cannot be compared: SASS makes other accesses than the source."""
    if theirs.requests is None or theirs.cost is None:
        return NOT_COUNTED
    same = near(ours.cost, theirs.cost)
    if ours.excess is not None and theirs.excess is not None:
        same = same and near(ours.excess, theirs.excess, ours.cost)
    if near(ours.requests, theirs.requests):
        return "same" if same else "DIFFERS"
    fewer = theirs.requests < ours.requests
    if theirs.asked is None:
        return f"nvcc made {'fewer' if fewer else 'more'} accesses"
    if same and not fewer and near(ours.asked, theirs.asked):
        return SAME_BUT_EMPTY
    if near(ours.asked, theirs.asked):
        what = "merged" if fewer else "split"
    else:
        what = "dropped" if theirs.asked < ours.asked else "added"
    text = f"nvcc {what} accesses"
    if ours.requests and theirs.requests:
        widths = (ours.asked / ours.requests, theirs.asked / theirs.requests)
        text += f": {widths[0]:.0f} bytes a request in the source, {widths[1]:.0f} in SASS"
    return text


SAME_BUT_EMPTY = "same; there are requests of warps whose lanes are all predicated off, too"
SAME = ("same", SAME_BUT_EMPTY)
COMPARED = (*SAME, "DIFFERS")


@dataclass(frozen=True)
class Row:
    count: Counts
    name: str  # of the access
    ours: Cost
    theirs: Cost
    verdict: str


def measured_launch(count: Counts, record: Mapping | None) -> tuple[Mapping[str, float], str]:
    """Nsight Compute's metrics of the launch, or why there are none."""
    if record is None:
        return {}, NOT_YET
    if "result" not in record:
        return {}, f"not measured: {record.get('why', '')}"
    result = record["result"]
    if result["source"] != count.source:
        return {}, "measured on another version of the kernel"
    kernel = next((row for row in result["kernels"] if base_name(row["name"]) == count.kernel), None)
    if kernel is None:
        return {}, "not measured: it was not launched"
    if (kernel["grid"], kernel["block"]) != (count.grid, count.block):
        return {}, f"measured on another launch: grid {kernel['grid']}, block {kernel['block']}"
    return kernel["metrics"], ""


def rows_of(count: Counts, record: Mapping | None) -> list[Row]:
    """A row a kind of access that the launch makes; for shared memory one more: all its conflicts, by the addresses."""
    metrics, why = measured_launch(count, record)
    rows = []
    for access in (*GLOBAL, *SHARED):
        ours, theirs = ours_of(access, count.metrics), theirs_of(access, metrics)
        if ours.requests or theirs.requests:
            rows.append(Row(count, access.name, ours, theirs, why or verdict(ours, theirs)))
    shared = [row for row in rows if row.name in [access.name for access in SHARED]]
    if shared:
        ours = Cost(excess=count.metrics.get(ALL_EXCESS, 0))
        theirs = Cost(excess=metrics.get(ALL_EXCESS))
        if not why and any(row.verdict not in COMPARED for row in shared):
            why = "other accesses: see above"
        if not why and theirs.excess is None:
            why = NOT_COUNTED
        if not why:
            wavefronts = sum(row.ours.cost for row in shared)
            why = "same" if near(ours.excess, theirs.excess, wavefronts) else "DIFFERS"
        rows.append(Row(count, "all shared", ours, theirs, why))
    return rows


# ---- the page --------------------------------------------------------------------------------------------------------

HEAD = [
    "| kernel | case | access | requests | Nsight's | sectors, wavefronts | Nsight's | ratio | excess | Nsight's | |",
    "|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|",
]


def number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def line_of(row: Row) -> str:
    ours, theirs = row.ours, row.theirs
    cells = [f"{row.count.lesson.split('_')[0]} `{row.count.kernel}`", row.count.case, row.name]
    cells += [number(value) for value in (ours.requests, theirs.requests, ours.cost, theirs.cost)]
    cells += [f"{theirs.cost / ours.cost:.2f}" if theirs.cost is not None and ours.cost else ""]
    cells += [number(ours.excess), number(theirs.excess)]
    words = "; ".join(filter(None, (row.verdict, theirs.apart)))
    return f"| {' | '.join([*cells, words.replace('|', '/')])} |"


def words_of(data: dict, rows: list[Row]) -> str:
    part = data["parts"]["ncu"]
    versions = f"driver {part['driver']}, CUDA {part['cuda']}, Nsight Compute {part['versions'].get('ncu')}"
    comparable = [row for row in rows if row.verdict in COMPARED]
    same = sum(row.verdict in SAME for row in comparable)
    text = f"{data['gpu']}, {versions}, {part['measured_at'][:10]}: of {len(rows)} rows SASS makes the source's "
    return text + f"requests in {len(comparable)}, and {same} of these are the same."


def table(counts: list[Counts], reports: list[dict]) -> str:
    """Between the markers: a table a card; where no report holds numbers, the CPU device's alone."""
    wanted = {count.item for count in counts}
    lines: list[str] = []
    for data in reports:
        items = data["parts"].get("ncu", {}).get("items", {})
        if not any("result" in record for name, record in items.items() if name in wanted):
            continue
        rows = [row for count in counts for row in rows_of(count, items.get(count.item))]
        lines += ["", words_of(data, rows), "", *HEAD, *(line_of(row) for row in rows)]
    if not lines:
        lines += ["No GPU's report holds numbers yet.", "", *HEAD]
        lines += [line_of(row) for count in counts for row in rows_of(count, None)]
    return "\n".join(lines).strip() + "\n"


def read_reports(root: Path) -> list[dict]:
    """What the cards' files say; a rehearsal is no measurement."""
    reports = []
    for path in sorted((root / TIMINGS).glob("*.json")):
        try:
            data = json.loads(path.read_text())
            if not data["rehearsal"] and isinstance(data["parts"], dict):
                reports.append(data)
        except (ValueError, LookupError, TypeError) as error:
            raise ToolError(f"{path} is no report ({error}): move it away") from None
    return reports


def write_page(root: Path, report: dict | None = None) -> Path:
    """From the cards' files, and from `report` in place of its card's. A rehearsal's is a page of its own."""
    counts, reports = read_counts(root), read_reports(root)
    if report and report["rehearsal"]:
        (root / REHEARSED).parent.mkdir(parents=True, exist_ok=True)
        (root / REHEARSED).write_text(f"{report['note']}\n\n{table(counts, [report])}")
        return REHEARSED
    if report:
        reports = [*(data for data in reports if data["gpu"] != report["gpu"]), report]
    put_between(root / PAGE, BEGIN, END, table(counts, sorted(reports, key=lambda data: data["gpu"])))
    return PAGE


def main(arguments: list[str] | None = None) -> int:
    parser = tools.Parser(prog="ncu-table", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args(arguments)
    try:
        counts = count_all(Path())
        write_counts(counts, Path())
        print(f"{COUNTS}: {len(counts)} launches\n{write_page(Path())}")
        return 0
    except (ToolError, ShapeError, OSError) as error:
        print(f"ncu-table: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    os.environ.pop("SIMT_CHECK", None)  # what is unchecked is not counted
    sys.exit(main())
