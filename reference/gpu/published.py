# SPDX-License-Identifier: MIT
"""`make estimates`: the estimate beside what others measured, in checker/simt/ESTIMATES.md. WRITE=1 counts the kernels
anew and compiles them anew by nvcc; without it what was recorded is priced, which takes seconds and needs no nvcc.
Calls of the course's own ops that a card's report has timed are rows too. The band is of what others published."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from reference.gpu import counts, estimates, kernel_sass, pages, reported, tools
from reference.gpu.cards import read_card, reported_card
from reference.gpu.tools import Parser, ToolError, newest_run, read_reports

FOLDER = Path("checker/estimate/published")
ROWS = FOLDER / "published.toml"
RECORD = FOLDER / "published.json"
PAGE = Path("checker/simt/ESTIMATES.md")
BAND = Path("checker/estimate/band.h")
COUNT, PRICE = Path("build/estimate/published"), Path("build/estimate/price")
FLAGS = ["-std=c++20", "-O3", "-lineinfo", "-I."]
ALIKE = 1.03  # two measurements that differ by less are no pair: nobody can rank them


@dataclass(frozen=True)
class Work:
    """What one of our kernels does, at a size."""

    family: str
    kernel: str
    size: tuple[int, int, int]  # M, N, K

    def key(self) -> str:
        return "\t".join([self.family, self.kernel, *map(str, self.size)])


@dataclass
class Row:
    source: dict
    name: str  # in the source
    work: Work
    value: float  # measured, in the source's unit
    estimate: dict = field(default_factory=dict)

    def per_second(self) -> float:
        """What one unit of the source's is of the work, in 1/s."""
        m, n, k = self.work.size
        return 2 * m * n * k / 1e9 if self.source["unit"] == "GFLOP/s" else 4 * self.source["moves"] * m * n / 1e9

    def measured_s(self) -> float:
        return self.per_second() / self.value

    def estimated(self) -> float:
        return self.per_second() / self.estimate["seconds"]

    def launches(self, recorded: dict) -> list[dict]:
        """What was counted."""
        return recorded["counts"][self.work.key()]

    def here(self) -> str:
        return self.work.kernel

    def size(self) -> str:
        m, n, k = self.work.size
        if self.source["unit"] == "GFLOP/s":
            return f"{m}³" if m == n == k else f"{m}×{n}×{k}"
        return f"{n:,}" if m == 1 else f"{m}×{n}"

    def pairs_with(self, other: Row) -> bool:
        """Whether the estimate should rank these two: what was measured within 3% nobody can rank."""
        return max(self.value, other.value) > ALIKE * min(self.value, other.value)

    def is_ranked_rightly(self, other: Row) -> bool:
        return (self.value - other.value) * (self.estimated() - other.estimated()) > 0

    def ratio(self) -> float:
        """Of the measured time to the estimate: 2 where it takes twice as long."""
        return self.measured_s() / self.estimate["seconds"]

    def off(self) -> float:
        return max(self.ratio(), 1 / self.ratio())


@dataclass
class OwnRow(Row):
    """A call of an op, as files of the solutions serve it, on a card that has a report; the value in microseconds."""

    counted: counts.Counted | None = None

    def measured_s(self) -> float:
        return self.value / 1e6

    def estimated(self) -> float:
        return 1e6 * self.estimate["seconds"]

    def launches(self, recorded: dict) -> list[dict]:
        return self.counted.launches

    def here(self) -> str:
        return ", ".join(self.counted.files)

    def size(self) -> str:
        return str(self.counted.call).removeprefix(self.name).strip()

    def pairs_with(self, other: OwnRow) -> bool:
        """The same call, by another lesson's kernels."""
        return self.counted.call == other.counted.call and super().pairs_with(other)


def size_of(size: list[int]) -> tuple[int, int, int]:
    m, n, k = (*size, 1)[:3]
    return m, n, k


def read_rows(path: Path = ROWS) -> list[Row]:
    rows = []
    for source in tomllib.loads(path.read_text())["source"]:
        for name, kernel, value, *own in source["rows"]:
            work = Work(source["family"], kernel, size_of(own[0] if own else source["size"]))
            rows.append(Row(source, name, work, value))
    return rows


def read_own_rows(root: Path = Path()) -> list[OwnRow]:
    """Of the cards' reports, the calls whose counts are recorded too."""
    rows = []
    known = estimates.recorded(root / estimates.RECORDED)
    named = {counts.item_name(one.files, one.call): one for one in known.values()}
    for data in read_reports(root):
        if (card := reported_card(data["gpu"])) is None:
            print(f"{data['gpu']} has a report; reference/cards.toml does not know it, so its times are left out")
            continue
        source = {"name": f"This course, {data['gpu']}", "repo": "make gpu-report", "card": card}
        run = newest_run(data, "timings")[1] or newest_run(data, "waterfall")[1]
        source |= {"commit": run.get("commit", ""), "trust": "A", "unit": "µs"}
        seconds = reported.call_seconds(root, data)
        for name in [name for name in named if name in seconds]:
            one, work = named[name], Work("", "", (0, 0, 0))
            rows.append(OwnRow(source, one.call.op, work, 1e6 * seconds[name], counted=one))
    return rows


# ---- counting anew ---------------------------------------------------------------------------------------------------


def digests() -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in sorted(FOLDER.glob("*.cu"))}


def slim(launch: dict) -> dict:
    """What a price needs of a launch."""
    kept = {key: launch[key] for key in ("kernel", "grid", "block", "file", "launches", "blocks", "blocks_counted")}
    kept |= {"shared_bytes": launch.get("shared_bytes", 0), "metrics": launch["metrics"]}
    kept["lines"] = [
        {"file": Path(line["file"]).name}
        | {key: line[key] for key in ("line", "metrics", "shared_loads") if key in line}
        for line in launch["lines"]
        if line["metrics"]
    ]
    return kept | {"distinct": launch.get("distinct", [])}


def count(works: Iterable[Work]) -> dict[str, list[dict]]:
    """The launches of each, by its key."""
    works = list(works)
    done = subprocess.run(
        [COUNT, "--count"],
        input="".join(work.key() + "\n" for work in works),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ToolError(f"{COUNT} --count: {tools.last_line(done.stderr) or 'no reason was given'}")
    lines = done.stdout.splitlines()
    return {
        work.key(): [slim(launch) for launch in json.loads(line)["launches"]]
        for work, line in zip(works, lines, strict=True)
    }


def sass_of(rows: list[Row]) -> list[dict]:
    """By file and architecture, the kernels that rows of cards of it have."""
    wanted = sorted({(row.work.family, read_card(row.source["card"])["sass"]) for row in rows})
    return [kernel_sass.kernel_sass(Path(), FOLDER / f"{family}.cu", arch, FLAGS) for family, arch in wanted]


def used(sass: list[dict], counts: dict[str, list[dict]]) -> list[dict]:
    """Only kernels that are launched."""
    launched = {launch["kernel"].replace("<unnamed>::", "") for launches in counts.values() for launch in launches}
    return [
        file | {"kernels": {name: kernel for name, kernel in file["kernels"].items() if name in launched}}
        for file in sass
    ]


def record(rows: list[Row]) -> dict:
    counts = count(dict.fromkeys(row.work for row in rows))
    return {"digests": digests(), "counts": counts, "sass": {"files": used(sass_of(rows), counts)}}


def as_text(recorded: dict) -> str:
    """A line for each row of counts and each kernel of SASS, so that a change shows as what it is."""
    counts = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}"
        for key, value in sorted(recorded["counts"].items())
    )
    files = []
    for file in recorded["sass"]["files"]:
        head = json.dumps({key: value for key, value in file.items() if key != "kernels"})[:-1]
        kernels = ",\n".join(
            f"{json.dumps(name)}: {json.dumps(kernel, separators=(',', ':'))}"
            for name, kernel in sorted(file["kernels"].items())
        )
        files.append(f'{head}, "kernels": {{\n{kernels}}}}}')
    sass = ",\n".join(files)
    made_of = json.dumps(recorded["digests"])
    return f'{{"digests": {made_of},\n"counts": {{\n{counts}}},\n"sass": {{"files": [\n{sass}]}}}}\n'


# ---- prices ----------------------------------------------------------------------------------------------------------


def price(rows: list[Row], recorded: dict) -> None:
    """Gives each row its estimate."""
    files = recorded["sass"]["files"]
    if any(isinstance(row, OwnRow) for row in rows):
        files = files + json.loads(estimates.SASS.read_text())["files"]
    wanted = {
        "sass": {"files": files},
        "rows": [
            {
                "card": row.source["card"],
                "clock": row.source.get("clock"),
                "counts": {"launches": row.launches(recorded)},
            }
            for row in rows
        ],
    }
    done = subprocess.run([PRICE], input=json.dumps(wanted), capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"{PRICE}: {tools.last_line(done.stderr) or 'no reason was given'}")
    for row, estimate in zip(rows, json.loads(done.stdout), strict=True):
        row.estimate = estimate


# ---- the page --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Share:
    rows: int
    within_125: int
    within_150: int
    pairs: int
    ranked: int

    def text(self) -> str:
        def part(count: int, of: int) -> str:
            return f"{count} of {of} ({100 * count / of:.0f}%)" if of else "-"

        return (
            f"within 1.25: {part(self.within_125, self.rows)}; within 1.5: {part(self.within_150, self.rows)}; "
            f"pairs ranked rightly: {part(self.ranked, self.pairs)}"
        )

    def __add__(self, other: Share) -> Share:
        return Share(
            self.rows + other.rows,
            self.within_125 + other.within_125,
            self.within_150 + other.within_150,
            self.pairs + other.pairs,
            self.ranked + other.ranked,
        )


NOTHING = Share(0, 0, 0, 0, 0)


def share_of(rows: list[Row]) -> Share:
    """Of the rows of one source: pairs are of these."""
    pairs = [(a, b) for a, b in itertools.combinations(rows, 2) if a.pairs_with(b)]
    return Share(
        len(rows),
        sum(row.off() <= 1.25 for row in rows),
        sum(row.off() <= 1.5 for row in rows),
        len(pairs),
        sum(a.is_ranked_rightly(b) for a, b in pairs),
    )


def by_source(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.source["name"], []).append(row)
    return found


def three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def source_text(source: dict) -> str:
    card = read_card(source["card"])
    clock = f"{source['clock']} MHz" if "clock" in source else f"{card['clock']} MHz, its boost clock"
    at = f" {source['commit']}" if source["commit"] else ""
    return f"{source['repo']}{at}; trust {source['trust']}; {card['name']}, {clock}; {source['unit']}."


def table(rows: list[Row]) -> list[str]:
    lines = [
        "| there | here | size | measured | estimate | measured time over estimate | limit | next |",
        "|---|---|---|--:|--:|--:|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row.name} | {row.here()} | {row.size()} | {three_digits(row.value)} | "
            f"{three_digits(row.estimated())} | {row.ratio():.2f} | {row.estimate['limit']} | {row.estimate['next']} |"
        )
    return lines


def is_own(row: Row) -> bool:
    return isinstance(row, OwnRow)


def generated(rows: list[Row]) -> str:
    sources = by_source(rows)
    shares = {name: share_of(of) for name, of in sources.items()}
    own = {name for name, of in sources.items() if is_own(of[0])}
    fixed = {name for name, of in sources.items() if of[0].source.get("fixed")}
    published = [row for row in rows if not is_own(row)]
    in_all = sum((share for name, share in shares.items() if name not in own), NOTHING)
    others = sum((share for name, share in shares.items() if name not in own | fixed), NOTHING)
    cards = len({row.source["card"] for row in published})
    lines = [
        f"{len(published)} measurements of {len(sources) - len(own)} sources on {cards} cards. {in_all.text()}.",
        "",
        f"Without those on which the constants were fixed: {others.text()}.",
        "",
    ]
    for name in own:
        lines += [f"{name}, which is not among them: {shares[name].text()}.", ""]
    for name, of in sources.items():
        fixed_here = " The constants were fixed on these." if name in fixed else ""
        lines += [
            f"### {name}",
            "",
            source_text(of[0].source) + fixed_here,
            "",
            *table(of),
            "",
            shares[name].text() + ".",
            "",
        ]
    return "\n".join(lines)


def band(rows: list[Row]) -> str:
    """Returns band.h, by the rows that others published: nine tenths of the ratios lie between its last two numbers."""
    rows = [row for row in rows if not is_own(row)]
    ratios = sorted(row.ratio() for row in rows)
    edge = len(ratios) // 20
    share = share_of(rows)
    cards = len({row.source["card"] for row in rows})
    shares = f"{share.within_125 / len(rows):.2f}, {share.within_150 / len(rows):.2f}"
    numbers = f"{len(rows)}, {cards}, {shares}, {ratios[edge]:.2f}, {ratios[-1 - edge]:.2f}"
    text, count = re.subn(r"kBand\{.*?\};", f"kBand{{{numbers}}};", BAND.read_text())
    if count != 1:
        raise ToolError(f"{BAND} has {count} lines with kBand, not one")
    return text


def run(options) -> int:
    rows = read_rows()
    if options.write:
        RECORD.write_text(as_text(record(rows)))
    rows += read_own_rows()
    recorded = json.loads(RECORD.read_text())
    if recorded["digests"] != digests():
        raise ToolError(
            f"{FOLDER}: the kernels are not those that {RECORD.name} was counted of: make estimates WRITE=1"
        )
    price(rows, recorded)
    PAGE.write_text(pages.put(PAGE.read_text(), "estimates", generated(rows), PAGE))
    if (text := band(rows)) != BAND.read_text():
        BAND.write_text(text)
    in_all = sum((share_of(of) for of in by_source(rows).values()), NOTHING)
    print(f"{PAGE}: {len(rows)} measurements; {in_all.text()}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("estimates", __doc__)
    parser.add_argument("--write", action="store_true", help="count and compile anew")
    options = parser.parse_args(arguments)
    return tools.run_main("estimates", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
