# SPDX-License-Identifier: MIT
"""What each step's own kernels ask of memory in one forward pass, op by op. Needs nothing but Python 3.10.

Which ops a pass calls, and with which sizes, the step's own forward says (build/tools/calls). Each op is counted on the
CPU device, whole, at small shapes. Its counts are polynomials in the sizes: a matmul's in N, C and OC, attention's in
B, NH and T. The polynomials through these counts are evaluated at the sizes of the pass. They are tried at one more
shape, and exact where the sizes are multiples of the kernels' tiles.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

from reference.gpu import sources
from reference.gpu.lesson_shapes import Lesson, all_lessons, dims, implementing
from reference.gpu.programs import with_json
from reference.gpu.rungs import LIMIT
from reference.gpu.tools import ToolError, asked, last_line

CALLS = Path("build/tools/calls")
TOLERANCE = 0.005  # at the shape that a polynomial is tried at


# ---- the calls of a pass ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    op: str
    sizes: tuple[tuple[str, int], ...]
    null: tuple[str, ...] = ()  # parameters

    @staticmethod
    def of(text: str) -> Call:
        """Of "matmul N=4096 C=768 OC=50257 out_stride=50304 -bias"."""
        op, *words = text.split()
        sizes = dims(" ".join(word for word in words if not word.startswith("-")))
        return Call(op, tuple(sizes.items()), tuple(word[1:] for word in words if word.startswith("-")))

    def __str__(self) -> str:
        words = [*(f"{name}={value}" for name, value in self.sizes), *(f"-{name}" for name in self.null)]
        return " ".join([self.op, *words])


def item_name(files: tuple[str, ...], call: Call) -> str:
    """What a GPU's report calls the time of a call, as these files serve it."""
    return f"{' '.join(files)}: {call}"


@dataclass(frozen=True)
class Step:
    """A whole model on the device: the ops that its pass calls, how often, and the files that serve them."""

    lesson: str  # "16_fused_attention"
    calls: dict[Call, int]
    files: dict[
        str, tuple[str, ...]
    ]  # op to its own file, "16_fused_attention/attention", and those of ops that it calls
    precision: dict[str, str]  # of ops that are not fp32

    @property
    def number(self) -> str:
        return self.lesson.split("_")[0]


def forward_calls(root: Path, lesson: str, config: str, B: int, T: int) -> Counter[Call]:
    """Of a lesson's forward; config as "max_T=1024 V=50257 L=12 NH=12 C=768"."""
    return asked(
        root / CALLS / lesson,
        ["--config", config, "-B", str(B), "-T", str(T)],
        lambda calls: Counter(Call.of(call) for call in calls),
    )


def steps(root: Path, config: str, B: int, T: int) -> list[Step]:
    """Of the device's track, in order: lessons by which every op of the pass is a kernel."""
    lessons = all_lessons(root)
    passes: dict[str, Counter[Call]] = {}
    found = []
    for lesson in lessons:
        forward = implementing(root, lesson.name, "forward")
        if lesson.track != "device" or not forward:
            continue
        writer = forward[0].parent.name
        if writer not in passes:
            passes[writer] = forward_calls(root, writer, config, B, T)
        files = {op: implementing(root, lesson.name, op) for op in sorted({call.op for call in passes[writer]})}
        if all(path.suffix == ".cu" for paths in files.values() for path in paths):
            named = {op: tuple(f"{path.parent.name}/{path.stem}" for path in paths) for op, paths in files.items()}
            found.append(Step(lesson.name, dict(passes[writer]), named, precisions(lessons, named)))
    return found


def precisions(lessons: list[Lesson], files: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    by_name = {lesson.name: lesson for lesson in lessons}
    said = {op: by_name[paths[0].split("/")[0]].precision.get(op) for op, paths in files.items()}
    return {op: precision for op, precision in said.items() if precision}


# ---- what is counted -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Count:
    """Of all launches of one kernel, or calls of one function of a library. Bytes of memory: each that a launch loads,
    once, and each that it stores; of a library's call each of its matrices' once. Bytes of L1: the sectors that
    requests to global memory move, 32 bytes each. A wavefront of shared memory is at most 128 bytes. What a library
    asks of L1 is not known."""

    launches: float = 0
    library_calls: float = 0
    memory_bytes: float = 0
    l1_bytes: float = 0
    shared_wavefronts: float = 0
    library_flop: float = 0


NAMES = tuple(field.name for field in fields(Count))
METRICS = {
    "library_calls": ("calls of libraries",),
    "memory_bytes": (
        *(f"unique bytes, {op}" for op in ("ld", "st", "atom")),
        "bytes that libraries read",
        "bytes that libraries write",
    ),
    "l1_bytes": tuple(f"l1tex__t_bytes_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st", "atom")),
    "shared_wavefronts": tuple(
        f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom")
    ),
    "library_flop": ("floating-point operations of libraries",),
}
Counts = dict[str, Count]  # by kernel


def counts_of(rows: Iterable[Mapping]) -> Counts:
    """Of the kernels that SIMT_TRAFFIC lists. A template's instances are one kernel: another size may take another."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["unique_bytes_are_at_least"] or row["blocks"] != row["blocks_counted"]:
            raise ToolError(f"{row['kernel']} was not counted whole")
        total = found.setdefault(re.split(r"[<\s]", row["kernel"])[0], dict.fromkeys(NAMES, 0))
        total["launches"] += row["launches"]
        for name, metrics in METRICS.items():
            total[name] += sum(row["metrics"].get(metric, 0) for metric in metrics)
    for total in found.values():
        if total["library_calls"]:
            total["launches"] = 0
    return {kernel: Count(**total) for kernel, total in found.items()}


def program(folder: str, call: Call, files: tuple[str, ...], scratch: Path) -> list[str]:
    """The check program of the lesson that serves the op, with a shared object of the step that has all these files.
    `folder` is build, build/gpu or build/dry."""
    objects = sorted(Path(folder, "impl/solutions", newest(files)).glob("*.so"))
    if not objects:
        raise ToolError(
            f"{newest(files)} is not built in {folder}: make waterfall WRITE=1 builds it for the CPU device"
        )
    here = scratch / "00_call"
    here.mkdir(exist_ok=True)
    link = here / f"{call.op}.so"  # every object of a lesson has all ops of its step
    link.unlink(missing_ok=True)
    link.symlink_to(objects[0].resolve())
    check = f"{folder}/check/lesson{files[0].split('_')[0]}"
    return [check, "--subject", "solutions", "--impl-dir", str(here), "--reference-dir", str(here)]


def newest(files: tuple[str, ...]) -> str:
    """The lesson by which all of them are there."""
    return max(path.split("/")[0] for path in files)


def count(call: Call, files: tuple[str, ...], scratch: Path) -> Counts:
    """On the CPU device."""
    log, out = scratch / "launches.json", scratch / "out.json"
    log.unlink(missing_ok=True)
    command = [*program("build", call, files, scratch), "--traffic", "--only", f"{call.op}/call", "--json", str(out)]
    report, _ = with_json(command, out, LIMIT, {"SOL_CALL": str(call), "SIMT_TRAFFIC": str(log)})
    (op,) = report["ops"]
    if failure := op["sides"][0]["failure"]:
        raise ToolError(f"{call} of {files[0]} was not counted: {failure}")
    return counts_of(json.loads(log.read_text())["kernels"])


def time_at(folder: str, call: Call, files: tuple[str, ...], scratch: Path, limit: float = LIMIT) -> dict:
    """On a GPU, or in its rehearsal: the median of a call, on data that is not in L2."""
    out = scratch / "out.json"
    command = [*program(folder, call, files, scratch), "--only", call.op, "--timing-only", "--json", str(out)]
    report, done = with_json(command, out, limit, {"SOL_CALL": str(call)})
    (op,) = report["ops"]
    timing = op.get("timing")
    if not timing or not timing["shapes"]:
        raise ToolError(f"{call} of {files[0]}: {'; '.join(op.get('not_timed', [])) or last_line(done.output)}")
    (row,) = timing["shapes"]
    if row["verdict"] in ("WRONG", "IMPOSSIBLE"):
        raise ToolError(f"{call} of {files[0]}: {row['verdict']}: {row['findings'][0]['text']}")
    return {name: row[name] for name in ("median_ms", "p10_ms", "p90_ms")}


# ---- polynomials -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """How an op's counts depend on its sizes."""

    names: tuple[str, ...]  # of the variables, which the counts are polynomials in
    variables: Callable[[dict[str, int]], dict[str, int]]  # of a call's sizes
    fixed: Callable[[dict[str, int]], dict[str, int]]  # and what they are counted at as it is
    sizes: Callable[[dict[str, int]], dict[str, int]]  # of variables and fixed ones: a call's
    terms: tuple[tuple[str, ...], ...]  # products of variables
    points: tuple[tuple[int, ...], ...]  # of the variables: as many as terms
    tried_at: tuple[int, ...]


def rows_plan(first: int, second: int, tried_at: int, *fixed: str, of: tuple[str, ...] = ("N",)) -> Plan:
    """Of an op whose rows are all alike; `of` are the sizes whose product says how many."""
    return Plan(
        ("rows",),
        lambda d: {"rows": math.prod(d[name] for name in of)},
        lambda d: {name: d[name] for name in fixed},
        lambda d: {**dict.fromkeys(of, 1), of[-1]: d["rows"], **{name: d[name] for name in fixed}},
        ((), ("rows",)),
        ((first,), (second,)),
        (tried_at,),
    )


def products(*names: str) -> tuple[tuple[str, ...], ...]:
    """1, N, C, N·C, …"""
    return tuple(
        tuple(n for n, there in zip(names, used, strict=True) if there) for used in product((0, 1), repeat=len(names))
    )


def matmul_plan(*fixed: str) -> Plan:
    return Plan(
        ("N", "C", "OC"),
        lambda d: {name: d[name] for name in ("N", "C", "OC")},
        lambda d: {name: d[name] for name in fixed},
        lambda d: {name: d[name] for name in ("N", "C", "OC", *fixed)},
        products("N", "C", "OC"),
        tuple(product((128, 256), (64, 128), (128, 256))),
        (256, 192, 384),
    )


# Heads and sequences are alike, but a library may be called once for each sequence.
ATTENTION = Plan(
    ("B", "NH", "T"),
    lambda d: {name: d[name] for name in ("B", "NH", "T")},
    lambda d: {"HS": d["C"] // d["NH"]},
    lambda d: {"B": d["B"], "T": d["T"], "C": d["NH"] * d["HS"], "NH": d["NH"]},
    tuple((*heads, *tokens) for heads in ((), ("B",), ("B", "NH")) for tokens in ((), ("T",), ("T", "T"))),
    tuple((*heads, T) for heads in ((1, 1), (2, 1), (1, 2)) for T in (128, 256, 384)),
    (1, 3, 512),
)
PLANS = {
    "encoder": rows_plan(64, 128, 192, "C", of=("B", "T")),
    "layernorm": rows_plan(256, 512, 768, "C", of=("B", "T")),
    "residual_layernorm": rows_plan(256, 512, 768, "C", of=("B", "T")),
    "gelu": rows_plan(1 << 16, 1 << 17, 3 << 16),
    "residual": rows_plan(1 << 16, 1 << 17, 3 << 16),
    "softmax": rows_plan(64, 128, 192, "V", "Vp"),
    "crossentropy": rows_plan(64, 128, 192, "Vp"),
    "matmul": matmul_plan(),
    "linear": matmul_plan(),
    "linear_gelu": matmul_plan("outputs"),
    "attention": ATTENTION,
}


def monomials(plan: Plan, values: Mapping[str, int]) -> list[Fraction]:
    return [Fraction(math.prod(values[name] for name in term)) for term in plan.terms]


@cache
def inverse(plan: Plan) -> list[list[Fraction]]:
    """Of the matrix that has a row for each point and a column for each term; by Gauss and Jordan."""
    size = len(plan.points)
    system = [
        monomials(plan, dict(zip(plan.names, point, strict=True))) + [Fraction(i == k) for k in range(size)]
        for i, point in enumerate(plan.points)
    ]
    for i in range(size):
        pivot = next(k for k in range(i, size) if system[k][i])
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [x / system[i][i] for x in system[i]]
        for k, row in enumerate(system):
            if k != i and row[i]:
                system[k] = [x - row[i] * y for x, y in zip(row, system[i], strict=True)]
    return [row[size:] for row in system]


def weights(plan: Plan, values: Mapping[str, int]) -> list[Fraction]:
    """Of the counts at the plan's points: their sum is the polynomial through these at `values`."""
    terms = monomials(plan, values)
    return [sum(t * x for t, x in zip(terms, column, strict=True)) for column in zip(*inverse(plan), strict=True)]


@dataclass(frozen=True)
class Kind:
    """Calls whose counts are the same polynomials: of an op with some parameters null and some sizes fixed, as files
    serve it."""

    op: str
    null: tuple[str, ...]
    fixed: tuple[tuple[str, int], ...]
    files: tuple[str, ...]

    @staticmethod
    def of(call: Call, files: tuple[str, ...]) -> Kind:
        if call.op not in PLANS:
            raise ToolError(
                f"nobody says how the counts of {call.op} depend on its sizes: reference/gpu/counts.py, PLANS"
            )
        return Kind(call.op, call.null, tuple(PLANS[call.op].fixed(dict(call.sizes)).items()), files)

    @property
    def plan(self) -> Plan:
        return PLANS[self.op]

    def call(self, point: tuple[int, ...]) -> Call:
        sizes = self.plan.sizes(dict(zip(self.plan.names, point, strict=True)) | dict(self.fixed))
        return Call(self.op, tuple(sizes.items()), self.null)


@dataclass(frozen=True)
class Counted:
    kind: Kind
    sources: str  # a hash of what was counted
    counts: dict[str, Counts]  # by call, at the plan's points

    def at(self, call: Call) -> Counts:
        """By the polynomials."""
        plan = self.kind.plan
        counts = [self.counts[str(self.kind.call(point))] for point in plan.points]
        shares = weights(plan, plan.variables(dict(call.sizes)))

        def total(kernel: str, name: str) -> float:
            found = (one.get(kernel, Count()) for one in counts)
            return float(sum(share * Fraction(getattr(one, name)) for share, one in zip(shares, found, strict=True)))

        kernels = dict.fromkeys(kernel for one in counts for kernel in one)
        return {kernel: Count(**{name: total(kernel, name) for name in NAMES}) for kernel in kernels}


def digest(root: Path, kind: Kind) -> str:
    """Of the kernels and of the lessons' headers that they include."""
    files = sources.closure(root, [Path("solutions", f"{path}.cu") for path in kind.files])
    return sources.digest_alone(root, [file for file in files if re.match(r"(solutions|lessons)/\d", str(file))])


def differ(one: Counts, other: Counts) -> str | None:
    """What of two counts of a call is not the same, but for TOLERANCE."""
    for kernel in sorted(one.keys() | other.keys()):
        a, b = one.get(kernel, Count()), other.get(kernel, Count())
        for name in NAMES:
            x, y = getattr(a, name), getattr(b, name)
            if abs(x - y) > TOLERANCE * max(abs(x), abs(y)):
                return f"{name} of {kernel}: {x:,.0f} and {y:,.0f}"
    return None


def measured(root: Path, kind: Kind, scratch: Path) -> Counted:
    """Counted on the CPU device. Raises ToolError where the counts are not the polynomials that they are taken for."""
    calls = [kind.call(point) for point in kind.plan.points]
    counted = Counted(kind, digest(root, kind), {str(call): count(call, kind.files, scratch) for call in calls})
    tried = kind.call(kind.plan.tried_at)
    if why := differ(counted.at(tried), count(tried, kind.files, scratch)):
        raise ToolError(f"{kind.files[0]}: the counts of {tried} are not those that smaller shapes lead to ({why})")
    return counted


# ---- what is recorded ------------------------------------------------------------------------------------------------


def to_json(counted: Iterable[Counted]) -> str:
    """A line a count, so that a change shows where it is. What is 0 is left out."""

    def row(counts: Counts) -> dict:
        return {kernel: {name: n for name, n in asdict(one).items() if n} for kernel, one in counts.items()}

    blocks = []
    for one in counted:
        head = {"op": one.kind.op, "null": one.kind.null, "fixed": dict(one.kind.fixed)}
        head |= {"files": one.kind.files, "sources": one.sources}
        lines = ",\n".join(f" {json.dumps(call)}: {json.dumps(row(counts))}" for call, counts in one.counts.items())
        blocks.append(f'{json.dumps(head)[:-1]}, "counts": {{\n{lines}}}}}')
    return "[\n" + ",\n".join(blocks) + "\n]\n"


def read(path: Path) -> dict[Kind, Counted]:
    try:
        rows = json.loads(path.read_text())
        found = [
            Counted(
                Kind(row["op"], tuple(row["null"]), tuple(row["fixed"].items()), tuple(row["files"])),
                row["sources"],
                {
                    call: {kernel: Count(**one) for kernel, one in counts.items()}
                    for call, counts in row["counts"].items()
                },
            )
            for row in rows
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ToolError(f"{path} cannot be read ({error}): make waterfall WRITE=1 writes it anew") from None
    return {one.kind: one for one in found}
