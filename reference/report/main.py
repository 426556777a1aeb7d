# SPDX-License-Identifier: MIT
"""`make gpu-report`: measures what the course does on this machine's GPU, into reference/timings/<gpu>.json.

One make builds every program; then the items of reference/report/order.py are measured in their order and saved one by
one, so that a run that is cut goes on where it stopped. With LEASE=9m30s the whole command, its build included, takes
no longer than that. An item that fails is recorded with its reason, and the next one is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reference.gpu import beside_pytorch, predicted, simt_vs_ncu, tools
from reference.gpu.checkout import commit, git
from reference.gpu.programs import Programs, error_line
from reference.gpu.tools import CLEAR, NO_MEASUREMENT, Card, ClockLog, Parser, ToolError, run
from reference.report import libs_vs_gpu, plan, predictions, simt_vs_gpu
from reference.report.engine import STOP_BEFORE, Entry, carry_out, seconds_of
from reference.report.order import LIST, PARTS_BEFORE_THE_REST, in_order
from reference.report.parts import PART_NAMES, STATE, Item, Setting, Work, listed
from reference.report.store import Store, merged, read, write
from reference.report.world import RealWorld

REHEARSAL = Path("build/dry/report.json")
SHOWN = 3  # failures of a part in the summary


def is_known(path: Path) -> bool:
    """Returns true if a report of this card is part of the course."""
    return bool(git("ls-files", "--", str(path)))


# ---- the budget ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Budget:
    """The seconds of one command, counted from `begun`, a reading of time.time()."""

    begun: float
    seconds: float = math.inf

    def now(self) -> float:
        return time.time() - self.begun

    @property
    def end(self) -> float:
        """Returns the second at which whatever runs is stopped."""
        return self.seconds - STOP_BEFORE

    def left(self) -> float:
        return self.end - self.now()


# ---- building --------------------------------------------------------------------------------------------------------

BUILT_FROM = ("Makefile", "make", "scripts", "checker", "lessons", "solutions", "reference/cards.toml")
NOT_BUILT_FROM = (".md", ".svg", ".py")
NO_BUDGET_S = 3600.0  # for a build without a budget


def built_from(root: Path) -> str:
    """Returns a hash of the files that programs are made of, by their content: a copy of the course has other times."""
    total = hashlib.sha256()
    for name in BUILT_FROM:
        files = [root / name] if (root / name).is_file() else sorted((root / name).rglob("*"))
        for file in files:
            if file.is_file() and file.suffix not in NOT_BUILT_FROM:
                total.update(f"{file.relative_to(root)}\0".encode())
                total.update(file.read_bytes())
    return total.hexdigest()


def build(setting: Setting, parts: Sequence[str], budget: Budget, logs: Sequence[Path]) -> str:
    """Builds what the parts need by one make, unless the same sources were built here before. Returns what make said.
    Raises ToolError where nothing can be measured with what there is."""
    stamp = {"sources": built_from(setting.root), "parts": sorted(parts), "card": setting.card.name}
    stamp_file, log = STATE / "built.json", STATE / "build.log"
    before = json.loads(stamp_file.read_text()) if stamp_file.exists() and not setting.programs.dry else {}
    same = all(before.get(key) == stamp[key] for key in ("sources", "card"))
    if same and set(parts) <= set(before["parts"]) and log.exists():
        said = log.read_text()
        print("the programs are built", flush=True)
    else:
        print(f"building the programs by {os.cpu_count() or 1} jobs …", flush=True)
        begin = time.monotonic()
        if "forward_b4" in parts:
            setting.fill_caches()  # while the card is idle
        done = setting.programs.build_report(parts, min(budget.left(), NO_BUDGET_S))
        said = done.output
        if not setting.programs.dry:
            write(log, said)
            if done.status is not None:
                write(stamp_file, json.dumps(stamp))
        how = "stopped at the end of the budget" if done.status is None else f"make says {done.status}"
        print(f"  built in {time.monotonic() - begin:.0f} s, {how}", flush=True)
    for path in logs:
        write(path, said)
    if not setting.programs.dry:
        if not tools.GPU_TOOL.exists():
            raise ToolError(f"make report-programs: {error_line(said)}")
        asked_of = run([str(tools.GPU_TOOL)], 60)  # fails if driver, toolkit, compiler and card do not go together
        if asked_of.status != 0:
            raise ToolError(tools.last_line(asked_of.output) or f"{tools.GPU_TOOL} said nothing")
    return said


# ---- running them ----------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # item to its reason; "" is the part itself
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0


def say(status: str, seconds: float | None, part: str, item: str, why: str = "") -> None:
    took = f"{seconds:6.1f} s" if seconds is not None else " " * 8
    name = "/".join(filter(None, (part, item)))
    print(f"{CLEAR}  {status:<8} {took}  {name}{why and ': '}{why}", flush=True)


def shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def headline(record: dict) -> str:
    """Returns the time that was measured, or what two verdicts have in common."""
    result = record.get("result", {})
    if "forward" in result:
        theirs, ours = (result["forward"][side]["median_ms"] for side in ("pytorch", "ours"))
        return f"{theirs:.4g} ms, ours {ours:.4g} ms"
    row = next(iter(result.get("shapes", [])), result)
    median = row.get("median_ms")
    return f"{median:.4g} ms" if median is not None else result.get("outcome", "")


def wanted_parts(options: argparse.Namespace, store: Store) -> tuple[str, ...]:
    """Returns the parts that a command can come to. In a budget the rest waits until all before it is done: its
    programs take minutes to build."""
    if options.part != "all":
        return (options.part,)
    first = tuple(name for name in PART_NAMES if name in PARTS_BEFORE_THE_REST)
    parts = store.data["parts"]
    begun = all(name in parts for name in first)
    left = [stage for stage in LIST if stage.chosen(parts.get(stage.part, {}).get("not_done_yet", ()))]
    return PART_NAMES if options.lease is None or (begun and not left) else first


def took_before(store: Store) -> dict[tuple[str, str], float]:
    """Returns the seconds of each item that was measured, whether or not its result still holds."""
    return {
        (part, item): record["seconds"]
        for part, of_part in store.data["parts"].items()
        for item, record in of_part["items"].items()
        if record["status"] == "ok"
    }


def measure_all(options: argparse.Namespace, setting: Setting, store: Store, budget: Budget) -> dict[str, Outcome]:
    names = wanted_parts(options, store)
    setting.built = build(setting, names, budget, [options.out / "build.log"] if options.out else [])
    works, outcomes, took = listed(setting, names), {name: Outcome() for name in names}, took_before(store)
    items: dict[tuple[str, str], Item] = {}
    digests: dict[tuple[str, str], str] = {}
    for name, work in works.items():
        if isinstance(work, str):
            outcomes[name].failed[""] = work
            store.note_failure(name, work)
            say("FAILED", None, name, "", work)
            continue
        of_part = work.sources(setting.root)
        store.begin_part(name, work.versions, of_part, options.fresh)
        digests |= {(name, item): digest for item, digest in of_part.items()}
        items |= {(name, item.name): item for item in work.items}
        for item, why in work.unavailable.items():
            store.part(name)["items"][item] = {"status": "unavailable", "why": why}
            say("not here", None, name, item, why)
    entries = in_order({name: [item for part, item in items if part == name] for name in names}, took)
    status = {key: store.part(key[0])["items"].get(key[1], {}).get("status") for key in items}
    for key, how in status.items():
        outcomes[key[0]].done += how == "ok"
    entries = [entry for entry in entries if status[entry.key] != "ok"]
    stages = list(dict.fromkeys(entry.stage for entry in entries))
    # Items that failed before come last in their stage.
    entries.sort(key=lambda entry: (stages.index(entry.stage), status[entry.key] == "failed"))
    note_left(store, entries, names)
    about = sum(entry.seconds for entry in entries) / 60
    if entries and not setting.programs.dry:
        print(f"{tools.counted(len(entries), 'item')}, about {max(1, round(about))} min", flush=True)
    left = list(entries)

    def keep(entry: Entry, record: dict) -> None:
        outcome = outcomes[entry.part]
        outcome.seconds += record.get("seconds", 0.0)
        if record["status"] == "ok":
            outcome.done += 1
            say("ok", record["seconds"], entry.part, entry.name, "" if setting.programs.dry else headline(record))
        elif record["status"] == "stopped":
            say("not done", record["seconds"], entry.part, entry.name, record["why"])
        else:
            outcome.failed[entry.name] = record["why"]
            say("FAILED", record["seconds"], entry.part, entry.name, record["why"])
        if record["status"] != "stopped":
            left.remove(entry)
            note_left(store, left, names)
        store.record(entry.part, entry.name, record | {"sources": digests[entry.key]})

    with ClockLog() as clocks, RealWorld(setting, items, works, store, clocks, budget.now) as world:
        for entry in carry_out(entries, world, budget.end, keep):
            outcomes[entry.part].left.append(entry.name)
    store.save()
    return outcomes


def note_left(store: Store, left: Sequence[Entry], names: Sequence[str]) -> None:
    """Writes into the report what is left, for the reader and for the next command."""
    for name in names:
        store.part(name)["not_done_yet"] = [entry.name for entry in left if entry.part == name]


def summary(outcomes: dict[str, Outcome]) -> str:
    lines = [f"{'':14}{'ok':>6}{'failed':>8}{'left':>6}{'seconds':>9}"]
    for part, o in outcomes.items():
        lines.append(f"  {part:12}{o.done:>6}{len(o.failed):>8}{len(o.left):>6}{o.seconds:>9.1f}")
    for part, o in outcomes.items():
        for item, why in list(o.failed.items())[:SHOWN]:
            lines.append(shortened(f"failed  {'/'.join(filter(None, (part, item)))}: {why}", 160))
        if len(o.failed) > SHOWN:
            lines.append(f"        {len(o.failed) - SHOWN} more of {part}: see above, or the file")
    return "\n".join(lines)


def last_line(options: argparse.Namespace, outcomes: dict[str, Outcome]) -> str:
    left = sum(len(outcome.left) for outcome in outcomes.values())
    words = ["make gpu-report"]
    words += [f"PART={options.part}"] if options.part != "all" else []
    words += [f"LEASE={options.lease_text}"] if options.lease is not None else []
    words += [f"OUT={options.out}"] if options.out else []
    words += [f"COMMIT={options.commit}"] if options.commit else []
    words += ["DRY=1"] if options.dry else []
    if left:
        return f"{tools.counted(left, 'item')} left; go on with: {' '.join(words)}"
    if options.part == "all" and set(outcomes) != set(PART_NAMES):
        return f"nothing left but the rest; go on with: {' '.join(words)}"
    return "nothing left"


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Refuses a second report at once: the two would time each other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ToolError("another gpu-report is running here; wait until it is done") from None
        yield


def describe(options: argparse.Namespace) -> tuple[Card, dict]:
    """Returns the card, and what each run says of itself."""
    if options.dry:
        tools.rehearse()
        return tools.read_card(), {"driver": None, "cuda": None, **commit(options.commit)}
    try:
        card = tools.read_card()
    except ToolError as error:
        raise ToolError(f"{error}. To rehearse without a GPU: make gpu-report DRY=1") from None
    return card, {"driver": card.driver, "cuda": tools.version("nvcc"), **commit(options.commit)}


def found_here(options: argparse.Namespace, card: Card, stamp: dict) -> str:
    """Returns the first lines: the card, the toolkit, the libraries and the Python that were found."""
    lines = [f"{card.name}, driver {card.driver}, CUDA {stamp['cuda']}"]
    lines.append(f"nvcc: {' '.join(tools.find('nvcc'))}; PyTorch by {options.python}")
    for library, place in tools.libraries(options.python).items():
        lines.append(f"{library}: {place}")
    return "\n".join(lines)


def report(options: argparse.Namespace) -> int:
    budget = Budget(options.begun, math.inf if options.lease is None else options.lease)
    card, stamp = describe(options)
    path = REHEARSAL if options.dry else tools.TIMINGS / f"{card.slug}.json"
    copies = [] if options.dry else [STATE / path.name]
    copies += [options.out / path.name] if options.out else []
    store, is_new = Store([path, *copies], card, options.dry), not path.exists()
    store.begin_run(stamp)
    print(NO_MEASUREMENT if options.dry else found_here(options, card, stamp), flush=True)
    with tempfile.TemporaryDirectory(prefix="gpu-report-", ignore_cleanup_errors=True) as scratch:
        setting = Setting(Path(), card, options.python, Programs(options.dry), Path(scratch))
        try:
            outcomes = measure_all(options, setting, store, budget)
        finally:
            setting.leave_caches()
    show_tables(store, set(outcomes), options.dry)
    print(f"\n{summary(outcomes)}")
    if is_new and not store.has_tried():
        for one in store.paths:
            one.unlink(missing_ok=True)
        print("nothing was measured, and nothing is written")
        if not any(o.left for o in outcomes.values()):
            return 1
    else:
        print(f"written to {', '.join(map(str, (path, *copies[1:])))}")
    if path.exists() and not options.dry and any(o.done for o in outcomes.values()) and not is_known(path):
        print(f"the course has no report of {card.name} yet: please send {path} ({tools.TIMINGS}/README.md says how)")
    print(last_line(options, outcomes))
    if options.dry:
        print(NO_MEASUREMENT)
    return 1 if any(o.failed for o in outcomes.values()) else 0


def show_tables(store: Store, names: set[str], dry: bool) -> None:
    """Prints and writes what follows from the results of these parts."""
    for key, rows, table, of_parts in (
        ("beside_pytorch", beside_pytorch.rows, beside_pytorch.table, {"timings", "baselines"}),
        ("whole_forward", beside_pytorch.whole_rows, beside_pytorch.whole_table, set(beside_pytorch.PARTS)),
        ("libraries", libs_vs_gpu.rows, libs_vs_gpu.table, {"libs"}),
    ):
        if compared := rows(store.data):
            store.data[key] = compared
            if of_parts & names:
                print(f"\n{table(compared)}")
    store.save()
    pages = []
    if "ncu" in names:
        pages.append(simt_vs_ncu.write_page(Path(), store.data))
    if not dry:
        if "simt" in names:
            pages.append(simt_vs_gpu.write_table(store.data, Path()))
        foretold = predicted.compared(store.data, predicted.registrations(Path()))
        if foretold.rows:
            print(f"\n{predictions.table(foretold)}")
            pages.append(predictions.write_page(Path()))
    for page in filter(None, pages):
        print(f"table in {page}")


# ---- at the desk -----------------------------------------------------------------------------------------------------


def sources_now(setting: Setting) -> dict[tuple[str, str], str]:
    """Returns what each item would be measured with now."""
    works = listed(setting, PART_NAMES)
    return {
        (part, item): digest
        for part, work in works.items()
        if isinstance(work, Work)
        for item, digest in work.sources(setting.root).items()
    }


def merge(options: argparse.Namespace) -> int:
    """Takes a report from elsewhere into that of its card."""
    other = read(options.merge)
    if not other:
        raise ToolError(f"MERGE={options.merge}: there is no such file")
    if other["rehearsal"]:
        raise ToolError(f"MERGE={options.merge}: it is a rehearsal, in which nothing is a measurement")
    card = Card(**other["card"])
    path = tools.TIMINGS / f"{card.slug}.json"
    store = Store([path], card)
    before = store.data["parts"]
    with plan.setting(card, options.python) as setting:
        now = sources_now(setting)
    store.data |= merged(store.data, other, lambda part, item: now.get((part, item)))
    taken = sum(
        record != before.get(part, {"items": {}})["items"].get(item)
        for part, of_part in store.data["parts"].items()
        for item, record in of_part["items"].items()
    )
    show_tables(store, set(store.data["parts"]), dry=False)
    print(f"{tools.counted(taken, 'item')} of {options.merge} taken into {path}")
    return 0


# ---- the command -----------------------------------------------------------------------------------------------------


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = Parser("gpu-report", __doc__)
    parser.add_argument("--part", choices=(*PART_NAMES, "all"), default="all", help="all is the default")
    parser.add_argument("--lease", help="what the command may take, its build included: 9m30s")
    parser.add_argument("--begun", type=float, help="when that began, in seconds since 1970")
    parser.add_argument("--out", type=Path, help="a folder that gets the report and the build's log as well")
    parser.add_argument("--merge", type=Path, help="take in a report from elsewhere; measures nothing")
    parser.add_argument("--plan", action="store_true", help="print the schedule by a simulated clock; measures nothing")
    parser.add_argument("--write", action="store_true", help="with --plan: into reference/timings/README.md")
    parser.add_argument("--dry", action="store_true", help="a rehearsal without a GPU, into build/dry/report.json")
    parser.add_argument("--fresh", action="store_true", help="measure again what is there already")
    parser.add_argument("--commit", help="what is measured, where this folder is no git checkout")
    parser.add_argument("--python", default=sys.executable, help="the Python that has PyTorch")
    options = parser.parse_args(arguments)
    options.lease_text, options.begun = options.lease, options.begun or time.time()
    if options.lease is not None:
        try:
            options.lease = seconds_of(options.lease)
        except ValueError:
            parser.error(f"LEASE={options.lease_text}: minutes and seconds, such as 9m30s, 3m or 200s")
        if options.lease <= STOP_BEFORE:
            parser.error(f"LEASE={options.lease_text}: more than {STOP_BEFORE:.0f} s, which are kept for the end")
    if options.commit and not re.fullmatch(r"[0-9a-f]{7,40}", options.commit):
        parser.error(f"COMMIT={options.commit}: not a commit's hash")
    if options.dry and options.out and (tools.TIMINGS.resolve() in (options.out / "x").resolve().parents):
        parser.error(f"OUT={options.out}: a rehearsal measures nothing, and {tools.TIMINGS} is for measurements")
    if options.out and options.out.exists() and not options.out.is_dir():
        parser.error(f"OUT={options.out}: it is a file; name a folder")
    return options


def act(options: argparse.Namespace) -> int:
    if options.plan:
        return plan.show(options)
    with alone(Path("build/gpu-report.lock")):
        return merge(options) if options.merge else report(options)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    where = "interrupted; the same command goes on where it stopped"
    return tools.run_main("gpu-report", lambda: act(options), where)


if __name__ == "__main__":
    sys.exit(main())
