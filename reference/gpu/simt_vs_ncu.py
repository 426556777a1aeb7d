# SPDX-License-Identifier: MIT
"""`make ncu-table`: the CPU device's counters beside Nsight Compute's, into checker/simt/VS_NCU.md once there are any.

The lessons' kernels are counted here on the CPU device, into checker/simt/vs_ncu.json. Nsight Compute's numbers, of the
same launches, are in the cards' reports: the part `ncu` of `make gpu-report`, which writes the page too. Counters that
differ are a result and no failure: the page says where and why. How many are the same is also said in the block
`<!-- ncu -->` of other pages.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from reference.gpu import pages, sources, tools
from reference.gpu.lesson_shapes import Lesson, device_lessons
from reference.gpu.programs import Programs
from reference.gpu.tools import ToolError, newest_run, run

COUNTS = Path("checker/simt/vs_ncu.json")
PAGE = Path("checker/simt/VS_NCU.md")  # there once a card's report holds numbers
HEAD = Path(__file__).parent / "VS_NCU.head.txt"
SAID = (Path("checker/simt/README.md"), Path("checker/simt/COUNTERS.md"))  # pages with the block of what is proved
BLOCK = "ncu"
REHEARSED = Path("build/dry/VS_NCU.md")
FORMAT = 1
NOT_YET = "not measured yet"
NOT_COUNTED = "not counted by this Nsight Compute on this card"
TOLERANCE = 0.05
LIMIT = 300  # seconds for one op on the CPU device

# Two cases of each op: one whose rows begin on sectors, with a multiple of 128 channels, and one where nothing is a
# power of two. The first launch of each kernel is compared.
CASES = ("head64", "odd")
RULES = "rules"  # a program whose every launch is compared, and the report's item
RULE_SOURCES = tuple(Path("checker/simt/tests", name) for name in ("rules.cu", "objects/traffic.cu"))


@dataclass(frozen=True)
class Subject:
    """What is run once on each side."""

    item: str  # of the report: lesson07/matmul/odd, rules
    lesson: Lesson | None = None  # None: the rules
    op: str = ""
    case: str = ""

    @property
    def source(self) -> Path:
        return Path("solutions", self.lesson.name, f"{self.op}.cu") if self.lesson else RULE_SOURCES[0]

    def kernels(self, root: Path) -> list[str]:
        """Those whose first launches count; none where every launch does."""
        return tools.kernels_of(root / self.source) if self.lesson else []

    def files(self, root: Path) -> list[Path]:
        """The source and the kernel helpers that it includes."""
        if not self.lesson:
            return list(RULE_SOURCES)
        included = sources.closure(root, [self.source])
        return [self.source] + [
            file
            for file in included
            if file.suffix in (".cuh", ".h") and re.match(r"(lessons|solutions)/\d", str(file))
        ]

    def digest(self, root: Path) -> str:
        """Numbers of other versions are not compared."""
        return sources.digest_alone(root, self.files(root))

    def programs(self, programs: Programs) -> tuple[str, ...]:
        """Returns those that command() runs."""
        return programs.of_lesson(self.lesson, [self.op]) if self.lesson else (f"{programs.folder}/simt/{RULES}",)

    def command(self, programs: Programs) -> list[str]:
        if self.lesson:
            return programs.check(self.lesson, f"{self.op}/{self.case}", "--no-timing")
        return [f"{programs.folder}/simt/{RULES}"]

    def counted_command(self) -> list[str]:
        """On the CPU device; it prints the launches' names or a listing."""
        if self.lesson:
            check = f"build/check/lesson{self.lesson.number}"
            return [check, "--traffic", "--subject", "solutions", "--only", f"{self.op}/{self.case}"]
        return [f"build/tests/simt/{RULES}"]


@dataclass(frozen=True)
class Counts:
    """What the CPU device counts of a launch."""

    item: str  # the subject's
    source: str  # its digest
    nth: int  # of the launches that are compared
    case: str  # odd; of the rules: "shared, 4 bytes, stride 2"
    kernel: str
    grid: list[int]
    block: list[int]
    metrics: dict[str, int]  # OURS without zeros


def subjects(root: Path) -> Iterator[Subject]:
    """Every case of every solution with kernels, and the rules."""
    for lesson in device_lessons(root):
        for op in lesson.ops:
            found = [Subject(f"lesson{lesson.number}/{op}/{case}", lesson, op, case) for case in CASES]
            if tools.has_kernels(root / found[0].source):
                yield from found
    if (root / RULE_SOURCES[0]).exists():
        yield Subject(RULES)


def base_name(kernel: str) -> str:
    """Without template arguments, which the two sides write differently: k<float>, k [T = float]."""
    return re.split(r"[<\s]", kernel)[0]


# ---- the CPU device --------------------------------------------------------------------------------------------------


def count(root: Path, subject: Subject, scratch: Path) -> list[Counts]:
    """Raises ToolError where a kernel was not launched, or a launch was not counted whole."""
    log = scratch / "launches.json"
    log.unlink(missing_ok=True)
    done = run(subject.counted_command(), LIMIT, {"SIMT_TRAFFIC": str(log)})
    if done.status != 0 or not log.exists():
        raise ToolError(f"{subject.item} was not counted: {tools.last_line(done.output)}")
    launches = json.loads(log.read_text())["launches"]
    if subject.lesson:
        launches = [row for row in launches if Path(row["file"]) == subject.source]  # and not an older lesson's
        first = {base_name(row["kernel"]): row for row in reversed(launches)}
        if missing := [kernel for kernel in subject.kernels(root) if kernel not in first]:
            raise ToolError(f"{subject.item}: {missing[0]} was not launched")
        launches, names = [first[kernel] for kernel in subject.kernels(root)], [subject.case] * len(first)
    else:
        names = done.output.splitlines()
    if any(row["blocks"] != row["blocks_counted"] for row in launches) or len(names) < len(launches):
        raise ToolError(f"{subject.item} was not counted whole")
    return [
        Counts(
            subject.item,
            subject.digest(root),
            nth,
            name,
            base_name(row["kernel"]),
            row["grid"],
            row["block"],
            {metric: row["metrics"][metric] for metric in OURS if metric in row["metrics"]},
        )
        for nth, (name, row) in enumerate(zip(names, launches, strict=False))
    ]


def count_all(root: Path) -> list[Counts]:
    with tempfile.TemporaryDirectory(prefix="ncu-table-") as scratch:
        return [found for subject in subjects(root) for found in count(root, subject, Path(scratch))]


def write_counts(counts: Iterable[Counts], root: Path) -> None:
    """A line a launch, so that a change shows where it is."""
    lines = ",\n".join(json.dumps(asdict(count)) for count in counts)
    (root / COUNTS).write_text(f'{{"format": {FORMAT}, "launches": [\n{lines}\n]}}\n')


def read_counts(root: Path) -> list[Counts]:
    try:
        data = json.loads((root / COUNTS).read_text())
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']}")
        return [Counts(**row) for row in data["launches"]]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ToolError(f"{COUNTS} cannot be read ({error}): make ncu-table writes it anew") from None


# ---- Nsight Compute --------------------------------------------------------------------------------------------------


def triple(text: str) -> list[int]:
    """Of "(128, 1, 1)"."""
    return [int(word) for word in re.findall(r"\d+", text)]


def measure(root: Path, subject: Subject, programs: Programs, log: Path, left: Callable[[], float]) -> dict:
    """Returns what Nsight Compute counts of a subject."""
    metrics = {name: name for name in COUNTED}
    launches, unknown = tools.profile(subject.kernels(root), subject.command(programs), left(), log, metrics)
    return {
        "source": subject.digest(root),
        "metrics_unknown": unknown,
        "launches": [
            {"kernel": base_name(k.name), "grid": triple(k.grid), "block": triple(k.block), "metrics": k.values}
            for k in launches
        ],
    }


# ---- the comparison --------------------------------------------------------------------------------------------------


class Cost(NamedTuple):
    """The counts of one kind of access of a launch; None is what was not counted."""

    requests: float | None = None
    cost: float | None = None  # sectors; of shared memory wavefronts
    asked: float | None = None  # bytes, each once a request
    excess: float | None = None  # wavefronts beyond one a pass
    apart: float = 0  # requests that Nsight Compute counts under a name of their own
    apart_cost: float = 0  # the same requests' cost under that name
    may_be_empty: bool = False  # some requests may have no lane: there are asynchronous copies, and no count of lanes
    is_wide: bool = False  # a lane of shared memory asks for more than 4 bytes on average
    passes: float = 0  # lanes that share the busiest address of an atomic


def of_global(op: str) -> tuple[str, ...]:
    """The metrics of a Cost, in its order."""
    t = "pipe_lsu_mem_global_op"
    names = (f"l1tex__t_requests_{t}_{op}.sum", f"l1tex__t_sectors_{t}_{op}.sum")
    return (*names, f"sm__sass_data_bytes_mem_global_op_{op}.sum")


def of_shared(op: str) -> tuple[str, ...]:
    return (
        f"smsp__inst_executed_op_shared_{op}.sum",
        f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum",
        f"sm__sass_data_bytes_mem_shared_op_{op}.sum",
        f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum",
    )


ACCESSES = {
    "loads": of_global("ld"),
    "stores": of_global("st"),
    "atomics": of_global("atom"),
    "shared loads": of_shared("ld"),
    "shared stores": of_shared("st"),
    "shared atomics": of_shared("atom"),
}


class Apart(NamedTuple):
    """Accesses that Nsight Compute counts under names of their own, and the CPU device does not."""

    kind: str
    requests: str  # the metric of their number
    cost: str  # the metric of their sectors or wavefronts
    added: tuple[str | None, ...]  # to the metrics of a Cost, in its order; None where those contain them


COPIES = "asynchronous copies"
APART = {
    "atomics": Apart("reductions", *of_global("red")[:2], of_global("red")),
    # On an H100 the requests and sectors of loads contain those of LDGSTS, their bytes do not: lesson 10's matmul makes
    # 192 loads and 3,072 copies, and l1tex__t_requests_pipe_lsu_mem_global_op_ld is 3,264.
    "loads": Apart(
        COPIES,
        "sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
        "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
        (None, None, "sm__sass_data_bytes_mem_global_op_ldgsts.sum"),
    ),
    # Without their bytes in shared memory: an H100 says 65,236 where those 3,072 copies write 393,216.
    "shared stores": Apart(
        COPIES,
        "smsp__inst_executed_op_ldgsts.sum",
        "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
        (
            "smsp__inst_executed_op_ldgsts.sum",
            "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
            None,
            "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
        ),
    ),
}
# Wavefronts by the addresses; those of op_ld and op_st are by hardware. ncu collects these two, and not their
# difference, derived__memory_l1_wavefronts_shared_excessive, which its section files define.
BY_ADDRESS = ("memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal")
ALL_EXCESS = "derived__memory_l1_wavefronts_shared_excessive"  # the CPU device's


def with_lanes(metric: str) -> str:
    """Returns the metric of those instructions of `metric` that at least one lane executes."""
    return metric.replace(".sum", "_pred_on_any.sum")


COUNTED = tuple(  # asked of Nsight Compute
    dict.fromkeys(
        (
            *(name for names in ACCESSES.values() for name in names),
            *(name for apart in APART.values() for name in (*apart[1:3], *apart.added) if name),
            *(with_lanes(of_shared(op)[0]) for op in ("ld", "st", "atom")),
            with_lanes("smsp__inst_executed_op_ldgsts.sum"),
            *(f"l1tex__t_bytes_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st", "atom", "red")),
            *BY_ADDRESS,
        )
    )
)


def ours_name(metric: str) -> str:
    """Returns the CPU device's name for `metric`. Its data bytes are those of all lanes; Nsight Compute counts each
    byte once a request."""
    found = re.fullmatch(r"sm__sass_data_bytes_mem_(global|shared)_op_(ld|st|atom)\.sum", metric)
    return f"distinct bytes of {found[1]} requests, {found[2]}" if found else metric


def op_of(access: str) -> str:
    return {"loads": "ld", "stores": "st", "atomics": "atom"}[access.split()[-1]]


PASSES = "passes of atomics"
OURS = (  # kept of the CPU device's counts
    *(ours_name(name) for names in ACCESSES.values() for name in names),
    *(f"sm__sass_data_bytes_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom")),
    *(f"threads in shared requests, {op}" for op in ("ld", "st", "atom")),
    PASSES,
    ALL_EXCESS,
)


def ours_of(access: str, metrics: Mapping[str, float]) -> Cost:
    """Returns the CPU device's counts; it leaves out what is 0."""
    op = op_of(access)
    of_lanes = metrics.get(f"sm__sass_data_bytes_mem_shared_op_{op}.sum", 0)
    return Cost(
        *(metrics.get(ours_name(name), 0) for name in ACCESSES[access]),
        is_wide=access.startswith("shared") and of_lanes > 4 * metrics.get(f"threads in shared requests, {op}", 0),
        passes=metrics.get(PASSES, 0) if access == "atomics" else 0,
    )


def theirs_of(access: str, metrics: Mapping[str, float]) -> Cost:
    """Returns Nsight Compute's counts, without the requests that no lane executes if it has counted the others."""

    def value(name: str | None) -> float:
        return metrics.get(with_lanes(name), metrics.get(name, 0)) if name else 0

    apart = APART.get(access, Apart("", "", "", ()))
    both = zip_longest(ACCESSES[access], apart.added)
    cost = Cost(*(value(name) + value(more) if name in metrics else None for name, more in both))
    copies, lanes_counted = value("smsp__inst_executed_op_ldgsts.sum"), with_lanes(ACCESSES[access][0]) in metrics
    if access == "shared stores" and copies:
        cost = cost._replace(asked=None)
    return cost._replace(
        apart=value(apart.requests),
        apart_cost=value(apart.cost),
        may_be_empty=access == "shared loads" and copies > 0 and not lanes_counted,
    )


def near(a: float, b: float, whole: float | None = None) -> bool:
    return abs(a - b) <= TOLERANCE * (max(a, b) if whole is None else whole)


class Known(NamedTuple):
    """A difference that COUNTERS.md names under "Where hardware differs", of the same requests."""

    accesses: tuple[str, ...]
    holds: Callable[[Cost, Cost], bool]  # takes ours and theirs
    words: str


KNOWN = (
    Known(
        ("shared loads",),
        lambda ours, theirs: (
            ours.is_wide and not ours.excess and not theirs.excess and ours.cost / 2 <= theirs.cost < ours.cost
        ),
        "two passes with the same addresses take one wavefront",
    ),
    Known(
        ("loads",),
        lambda ours, theirs: (
            theirs.apart == theirs.requests
            and ours.cost / 2 <= theirs.cost < ours.cost
            and near(theirs.apart_cost, ours.cost)
        ),
        "half-used sectors of 16-byte copies count half",
    ),
    Known(
        ("shared stores",),
        lambda ours, theirs: theirs.apart > 0 and ours.cost < theirs.cost <= 32 * theirs.requests,
        "asynchronous copies take more wavefronts",
    ),
    Known(
        ("shared atomics",),
        lambda ours, theirs: theirs.cost == 2 * theirs.requests,
        "an atomic takes two wavefronts",
    ),
    Known(
        ("atomics",),
        lambda ours, theirs: theirs.cost > ours.cost and near(theirs.cost, ours.cost * ours.passes / ours.requests),
        "lanes on one address ask for its sector one after another",
    ),
)
KNOWN_WORDS = "known: "


def verdict(access: str, ours: Cost, theirs: Cost) -> str:
    """`same`, a known difference, `DIFFERS`, or why the two cannot be compared: SASS makes other accesses than the
    source."""
    if theirs.requests is None or theirs.cost is None:
        return NOT_COUNTED
    same = near(ours.cost, theirs.cost)
    if ours.excess is not None and theirs.excess is not None:
        same = same and near(ours.excess, theirs.excess, ours.cost)
    as_many, fewer = near(ours.requests, theirs.requests), theirs.requests < ours.requests
    as_wide = theirs.asked is None or near(ours.asked, theirs.asked)
    if as_many and as_wide:
        if same:
            return "same"
        known = [row.words for row in KNOWN if access in row.accesses and row.holds(ours, theirs)]
        if known:
            return KNOWN_WORDS + known[0]
        return PERHAPS_MERGED if theirs.may_be_empty else "DIFFERS"
    if theirs.asked is None:
        return f"nvcc made {'fewer' if fewer else 'more'} accesses"
    if as_wide and same and not fewer:
        return SAME_BUT_EMPTY
    if as_wide:
        what = "merged" if fewer else "split"
    elif theirs.asked < ours.asked:
        what = "narrowed" if as_many else "dropped"
    else:
        what = "widened" if as_many else "added"
    text = f"nvcc {what} accesses"
    if ours.requests and theirs.requests:
        widths = (ours.asked / ours.requests, theirs.asked / theirs.requests)
        text += f": {widths[0]:.0f} bytes a request in the source, {widths[1]:.0f} in SASS"
    return text


SAME_BUT_EMPTY = "same; there are requests of warps whose lanes are all predicated off, too"
PERHAPS_MERGED = "nvcc merged accesses; requests without a lane, before asynchronous copies, make up their number"
SAME = ("same", SAME_BUT_EMPTY)


def is_compared(words: str) -> bool:
    return words in SAME or words == "DIFFERS" or words.startswith(KNOWN_WORDS)


@dataclass(frozen=True)
class Row:
    count: Counts
    name: str  # of the access
    ours: Cost
    theirs: Cost
    verdict: str
    is_measured: bool = True


def measured_launch(count: Counts, record: Mapping | None) -> tuple[Mapping[str, float], str]:
    """Nsight Compute's metrics of the launch, or why there are none."""
    if record is None:
        return {}, NOT_YET
    if "result" not in record:
        return {}, f"not measured: {record.get('why', '')}"
    result = record["result"]
    if result["source"] != count.source:
        return {}, "measured on another version of the kernel"
    launches = result["launches"]
    if count.item == RULES:  # every launch, in order
        launches = launches[count.nth : count.nth + 1]
    launch = next((row for row in launches if row["kernel"] == count.kernel), None)
    if launch is None:
        return {}, "not measured: it was not launched"
    if (launch["grid"], launch["block"]) != (count.grid, count.block):
        return {}, f"measured on another launch: grid {launch['grid']}, block {launch['block']}"
    return launch["metrics"], ""


def rows_of(count: Counts, record: Mapping | None) -> list[Row]:
    """A row a kind of access that the launch makes; for shared memory one more if Nsight Compute has counted it: all
    its conflicts, by the addresses."""
    metrics, why = measured_launch(count, record)
    rows = []
    for access in ACCESSES:
        ours, theirs = ours_of(access, count.metrics), theirs_of(access, metrics)
        if ours.requests or theirs.requests:
            rows.append(Row(count, access, ours, theirs, why or verdict(access, ours, theirs), not why))
    shared = [row for row in rows if row.name.startswith("shared")]
    measured = all(name in metrics for name in BY_ADDRESS)
    if shared and measured:
        ours, theirs = Cost(excess=count.metrics.get(ALL_EXCESS, 0)), Cost(excess=difference(metrics))
        why = "other accesses: see above"
        if all(is_compared(row.verdict) for row in shared):
            wavefronts = sum(row.ours.cost for row in shared)
            why = "same" if near(ours.excess, theirs.excess, wavefronts) else "DIFFERS"
        rows.append(Row(count, ALL_SHARED, ours, theirs, why))
    return rows


ALL_SHARED = "all shared"


def difference(metrics: Mapping[str, float]) -> float:
    """Returns the wavefronts that the addresses of shared accesses need beyond the fewest."""
    wavefronts, ideal = (metrics[name] for name in BY_ADDRESS)
    return wavefronts - ideal


# ---- the page --------------------------------------------------------------------------------------------------------

PARTS = {False: "the lessons' kernels", True: "the rules, one by one"}


def head_of(rules: bool) -> list[str]:
    what = "rule" if rules else "kernel, case"
    columns = (
        f"| {what} | access | requests | Nsight's | sectors, wavefronts | Nsight's | ratio | excess | Nsight's | |"
    )
    return [columns, "|---|---|--:|--:|--:|--:|--:|--:|--:|---|"]


def number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def line_of(row: Row) -> str:
    ours, theirs = row.ours, row.theirs
    lesson = row.count.item.removeprefix("lesson").partition("/")[0]
    what = row.count.case if row.count.item == RULES else f"{lesson} `{row.count.kernel}`, {row.count.case}"
    cells = [what, row.name]
    cells += [number(value) for value in (ours.requests, theirs.requests, ours.cost, theirs.cost)]
    cells += [f"{theirs.cost / ours.cost:.2f}" if theirs.cost is not None and ours.cost else ""]
    cells += [number(ours.excess), number(theirs.excess)]
    kind = APART[row.name].kind if theirs.apart else ""
    words = "; ".join(filter(None, (row.verdict, kind and f"{theirs.apart:,.0f} of the requests are {kind}")))
    return f"| {' | '.join([*cells, words.replace('|', '/')])} |"


def versions_of(data: dict) -> tuple[str, str]:
    """Returns driver and tools, and the day."""
    when, run = newest_run(data, "ncu")
    return f"driver {run['driver']}, CUDA {run['cuda']}, Nsight Compute {run['versions'].get('ncu')}", when[:10]


def result_of(rows: list[Row]) -> str:
    """Says how many of the rows that can be compared are the same."""
    compared = [row.verdict for row in rows if is_compared(row.verdict)]
    same, differ = sum(words in SAME for words in compared), compared.count("DIFFERS")
    known = len(compared) - same - differ
    return f"{same} of {len(compared)} comparable rows are the same, {known} have a known difference, {differ} DIFFER"


def waiting(rows: list[Row]) -> list[str]:
    """Says how many launches have numbers of the card, and why the others have none."""
    lines = []
    for rules, name in PARTS.items():
        launches: dict[tuple, str] = {}
        for row in rows:
            if (row.count.item == RULES) == rules:
                launches.setdefault((row.count.item, row.count.nth), "" if row.is_measured else row.verdict)
        if launches:
            why = Counter(filter(None, launches.values()))
            waits = "wait for a run on the card"
            rest = "".join(f"; {number} {waits if words == NOT_YET else words}" for words, number in why.most_common())
            lines.append(f"- Of {name}: {len(launches) - why.total()} of {len(launches)} launches are here{rest}.")
    shown = [row for row in rows if row.is_measured]
    if any(row.name.startswith("shared") for row in shown) and not any(row.name == ALL_SHARED for row in shown):
        lines.append(f"- No row is `{ALL_SHARED}`: the report has no `{BY_ADDRESS[0]}`.")
    return lines


def kinds_of(rows: list[Row]) -> list[str]:
    """Returns a table with a row per kind of access: how many rows of it there are, and how they compare."""
    lines = ["| access | rows | same requests | same | known | DIFFERS |", "|---|--:|--:|--:|--:|--:|"]
    kinds = {kind: [row.verdict for row in rows if row.name == kind] for kind in (*ACCESSES, ALL_SHARED)}
    for kind, found in {**kinds, "all": [row.verdict for row in rows]}.items():
        if found:
            known = sum(words.startswith(KNOWN_WORDS) for words in found)
            numbers = (len(found), sum(map(is_compared, found)), sum(words in SAME for words in found), known)
            lines.append(f"| {' | '.join([kind, *map(str, (*numbers, found.count('DIFFERS')))])} |")
    return lines


def words_of(data: dict, rows: list[Row]) -> list[str]:
    shown = [row for row in rows if row.is_measured]
    versions, day = versions_of(data)
    text = f"{versions[0].upper()}{versions[1:]}, {day}: {result_of(shown)}."
    return [text, "", *waiting(rows), "", *kinds_of(shown)]


def proved(counts: list[Counts], reports: list[dict]) -> str:
    """Returns a line for each card's report, for the block of other pages."""
    lines = []
    for data in reports:
        versions, day = versions_of(data)
        rows = [row for row in all_rows(data, counts) if row.is_measured]
        lines.append(f"{data['gpu']} ({versions}, {day}): {result_of(rows)}.\n")
    return "\n".join(lines)


def all_rows(data: dict, counts: list[Counts]) -> list[Row]:
    items = data["parts"]["ncu"]["items"]
    return [row for count in counts for row in rows_of(count, items.get(count.item))]


def both_parts(rows: list[Row]) -> list[str]:
    lines = []
    for rules, name in PARTS.items():
        if part := [line_of(row) for row in rows if (row.count.item == RULES) == rules and row.is_measured]:
            lines += [f"{name.capitalize()}:", "", *head_of(rules), *part, ""]
    return lines


def measured(data: dict, counts: list[Counts]) -> bool:
    items = data["parts"].get("ncu", {}).get("items", {})
    return any("result" in items.get(count.item, {}) for count in counts)


def table(counts: list[Counts], reports: list[dict]) -> str:
    """A table for each card."""
    lines: list[str] = []
    for data in reports:
        rows = all_rows(data, counts)
        lines += [f"## {data['gpu']}", "", *words_of(data, rows), "", *both_parts(rows)]
    return "\n".join(lines).rstrip() + "\n"


def write_page(root: Path, report: dict | None = None) -> Path | None:
    """From the cards' files, and from `report` in place of its card's; nothing where none holds numbers. A rehearsal's
    is a page of its own."""
    counts, reports = read_counts(root), tools.read_reports(root)
    if report and report["rehearsal"]:
        page, head, reports = REHEARSED, report["note"], [report]
    else:
        page, head = PAGE, HEAD.read_text().rstrip()
        if report:
            reports = [*(data for data in reports if data["gpu"] != report["gpu"]), report]
    found = sorted((data for data in reports if measured(data, counts)), key=lambda data: data["gpu"])
    if not found:
        return None
    (root / page).parent.mkdir(parents=True, exist_ok=True)
    (root / page).write_text(f"{head}\n\n{table(counts, found)}")
    return page


def write_proved(root: Path, counts: list[Counts]) -> None:
    """Writes the blocks of SAID; nothing where no card has measured."""
    reports = [data for data in tools.read_reports(root) if measured(data, counts)]
    for page in SAID if reports else ():
        text = (root / page).read_text()
        (root / page).write_text(pages.put(text, BLOCK, proved(counts, reports), page))


def write_all() -> int:
    counts = count_all(Path())
    write_counts(counts, Path())
    write_proved(Path(), counts)
    print(f"{COUNTS}: {len(counts)} launches")
    print(write_page(Path()) or f"no {PAGE}: on a GPU, make gpu-report PART=ncu measures what it sets beside them")
    return 0


def main() -> int:
    return tools.run_main("ncu-table", write_all)


if __name__ == "__main__":
    os.environ.pop("SIMT_CHECK", None)  # what is unchecked is not counted
    sys.exit(main())
