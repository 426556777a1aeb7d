# SPDX-License-Identifier: MIT
"""nvidia-smi, compute-sanitizer and Nsight Compute: how they are called, and what their output says. Nothing here
changes a setting of the card. Needs nothing but Python 3.10."""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

NO_MEASUREMENT = "rehearsal without a GPU: nothing in it is a measurement"
TIMINGS = Path("reference/timings")  # a report a card, and what says how they are made
STAND_INS = Path(__file__).parents[1] / "tests/stand_ins"  # of NVIDIA's tools, for a rehearsal
CUDA = Path(__file__).parents[2] / "scripts/cuda.sh"  # says where CUDA's programs are


class ToolError(Exception):
    """One line for the user: what is wrong, and what mends it."""


def under_wsl() -> bool:
    try:
        return "microsoft" in Path("/proc/version").read_text().lower()
    except OSError:
        return False


def find(tool: str) -> list[str]:
    """The command of a tool: in PATH, else in a toolkit's folder, else in .venv; nvcc's with its host compiler."""
    done = subprocess.run(["/bin/sh", str(CUDA), tool], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        host = os.environ.get("NVCC_CXX") if tool == "nvcc" else None
        return [done.stdout.strip(), *(("-ccbin", host) if host else ())]
    mends = {
        "nvidia-smi": "it comes with NVIDIA's driver",
        "ncu": "a whole CUDA toolkit has it, and developer.nvidia.com/nsight-compute; PATH must name its bin folder",
    }
    in_venv = "make setup NVCC=1 puts it into .venv; of a CUDA toolkit elsewhere, PATH must name the bin folder"
    raise ToolError(f"{tool} is not there: {mends.get(tool, in_venv)}")


def rehearse() -> None:
    """Without a GPU: what plays the tools is found before them."""
    os.environ["PATH"] = os.pathsep.join((str(STAND_INS), os.environ["PATH"]))


def interrupt(*_) -> NoReturn:
    raise KeyboardInterrupt


def run_main(
    name: str,
    act: Callable[[], int],
    interrupted: str = "interrupted",
    status: int = 1,
    errors: tuple[type[Exception], ...] = (),
) -> int:
    """A command's exit status. What it cannot do is one line, and what it started ends with it. `errors` are its own
    beside ToolError."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup asks
            signal.signal(number, interrupt)
    try:
        return act()
    except KeyboardInterrupt:
        print(f"{CLEAR}{name}: {interrupted}", file=sys.stderr)
        return 130
    except (ToolError, OSError, *errors) as error:
        print(f"{CLEAR}{name}: {first_line(str(error)) or type(error).__name__}", file=sys.stderr)
        return status


CLEAR = "\r\033[K" if sys.stderr.isatty() else ""  # what is at work stands in the line, on a terminal


class Parser(argparse.ArgumentParser):
    """Whose errors are one line, as the rest of what the programs here say."""

    def __init__(self, prog: str, description: str):
        super().__init__(prog=prog, description=description, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


# ---- numbers ---------------------------------------------------------------------------------------------------------


def three_digits(value: float) -> str:
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}" if value else "0"


def digits(value: float) -> str:
    """Three significant digits at most: 0.0833, 1.13, 270, 154,000."""
    text = three_digits(float(f"{value:.3g}"))
    return text.rstrip("0").rstrip(".") if "." in text else text


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# ---- the card --------------------------------------------------------------------------------------------------------

CARD_FIELDS = ("name", "driver_version", "compute_cap")
CARD_FIELDS += ("memory.total", "clocks.max.sm", "clocks.max.mem", "power.limit")


@dataclass(frozen=True)
class Card:
    name: str
    driver: str
    compute_capability: str | None = None
    memory_mib: float | None = None
    sm_clock_max_mhz: float | None = None
    memory_clock_max_mhz: float | None = None
    power_limit_w: float | None = None

    @property
    def slug(self) -> str:
        """The name as a file's: "NVIDIA H200" is "nvidia-h200"."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


def read_reports(root: Path, *of: str) -> list[dict]:
    """What the cards' files say, or those of the machines in `of`: "cpu", "gpu". A rehearsal is no measurement."""
    reports = []
    for path in sorted((root / TIMINGS).glob("*.json")):
        try:
            data = json.loads(path.read_text())
            known = any(machine in data for machine in of or ("gpu",))
            if not data["rehearsal"] and isinstance(data["parts"], dict) and known:
                reports.append(data)
        except (ValueError, LookupError, TypeError) as error:
            raise ToolError(f"{path} is no report ({error}): move it away") from None
    return reports


def is_measured(record: dict) -> bool:
    """Returns true if an item's result is a measurement. A SLOW one is: it missed a target, and its time is right."""
    verdict = (record.get("result") or {}).get("verdict")
    return record["status"] == "ok" or (record["status"] == "failed" and verdict == "SLOW")


def newest_run(data: dict, part: str) -> tuple[str, dict]:
    """Returns when the newest item of a report's part was measured, and the run that did it: driver, cuda, versions,
    commit. Both are empty where nothing was measured."""
    items = data["parts"].get(part, {}).get("items", {}).values()
    newest = max(items, key=lambda item: item.get("measured_at", ""), default={})
    return newest.get("measured_at", ""), data.get("runs", {}).get(newest.get("run"), {})


def utc_now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def number(text: str) -> float | None:
    """nvidia-smi's "[N/A]" and "[Not Supported]" are None, and so is Nsight Compute's "nan"."""
    try:
        value = float(text.strip().replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def card_index() -> str:
    """The card that CUDA programs take, as nvidia-smi counts: the first that CUDA_VISIBLE_DEVICES lets them see."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0].strip()
    if first in ("", "-1"):
        raise ToolError("CUDA_VISIBLE_DEVICES hides every GPU: unset it, or set it to a card's number of nvidia-smi")
    return first


def smi(fields: tuple[str, ...]) -> list[str]:
    query = [f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits", "-i", card_index()]
    try:
        done = subprocess.run(
            [*find("nvidia-smi"), *query], capture_output=True, text=True, errors="replace", timeout=60
        )
    except subprocess.TimeoutExpired:
        raise ToolError("nvidia-smi did not answer within a minute: the driver hangs") from None
    if done.returncode != 0:
        said = first_line(done.stdout + done.stderr) or f"exit status {done.returncode}"
        raise ToolError(f"nvidia-smi finds no GPU: {said}")
    cells = [cell.strip() for cell in first_line(done.stdout).split(",")]
    if len(cells) != len(fields):
        raise ToolError(f"nvidia-smi printed {first_line(done.stdout)!r}, not {len(fields)} values")
    return cells


GPU_TOOL = Path("build/tools/gpu")


def card_of_the_driver() -> Card:
    """What the driver itself says, where there is no nvidia-smi or it tells nothing, as on a Jetson."""
    return asked(
        GPU_TOOL,
        ["--json"],
        lambda card: Card(card["name"], f"for CUDA {card['driver_cuda']}", card["compute_capability"]),
    )


def read_card() -> Card:
    try:
        find("nvidia-smi")
    except ToolError:
        if GPU_TOOL.exists():
            return card_of_the_driver()
        raise
    name, driver, capability, *rest = smi(CARD_FIELDS)
    if name in ("[N/A]", "N/A") and GPU_TOOL.exists():
        return card_of_the_driver()
    if not re.search(r"[a-zA-Z0-9]", name):
        raise ToolError(f"nvidia-smi calls the card {name!r}")
    return Card(name, driver, capability if number(capability) else None, *(number(cell) for cell in rest))


def libraries(python: str) -> dict[str, str]:
    """Returns in words where cuBLAS and CUPTI are: chosen by the user, in nvcc's toolkit, in the packages of the Python
    in use, or nowhere."""
    places = {}
    for name, option, chosen in (("cuBLAS", "--cublas", "SOL_CUBLAS"), ("CUPTI", "--cupti", "SOL_CUPTI")):
        done = subprocess.run(["/bin/sh", str(CUDA), option, python], capture_output=True, text=True, check=False)
        found = done.stdout.strip() or "nvcc's toolkit"
        places[name] = os.environ.get(chosen) or (found if done.returncode == 0 else "not found")
    return places


def version(tool: str) -> str:
    """Of nvcc, ncu or compute-sanitizer, as it prints it: "13.0", "2025.3.1"."""
    done = subprocess.run([*find(tool), "--version"], capture_output=True, text=True, errors="replace", check=False)
    found = re.search(r"(?:release|Version) (\d[\w.]*\d)", done.stdout)
    if not found:
        raise ToolError(f"{tool} --version printed no version: {first_line(done.stdout + done.stderr)}")
    return found[1]


# ---- clocks ----------------------------------------------------------------------------------------------------------

CLOCKS = {
    "clocks.sm": "sm_mhz",
    "clocks.mem": "memory_mhz",
    "power.draw": "power_w",
    "temperature.gpu": "temperature_c",
}
REASON_FIELDS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")  # the second before driver 535
# NVML's nvmlClocksEventReason bits.
REASONS = {
    0x1: "idle",
    0x2: "application clocks setting",
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "thermal slowdown by software",
    0x40: "thermal slowdown by hardware",
    0x80: "power brake",
    0x100: "display clocks setting",
}


def reasons(mask: int) -> list[str]:
    """What held the clocks back, in words."""
    words = [word for bit, word in REASONS.items() if mask & bit]
    unknown = mask & ~sum(REASONS)
    return words + ([f"unknown reason {unknown:#x}"] if unknown else [])


@dataclass(frozen=True)
class ClockSample:
    values: tuple[float | None, ...]  # as CLOCKS
    mask: int | None


def parse_clocks(line: str) -> ClockSample | None:
    """A line of nvidia-smi's; None where it is none, such as a warning or half a line."""
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != len(CLOCKS) + 1:
        return None
    values = tuple(number(cell) for cell in cells[:-1])
    try:
        mask = int(cells[-1], 16)
    except ValueError:
        mask = None
    return None if mask is None and not any(value is not None for value in values) else ClockSample(values, mask)


def summarise_clocks(samples: list[ClockSample]) -> dict | None:
    """Median, smallest and largest; and the share of the samples in which each reason held the clocks back."""
    if not samples:
        return None
    summary: dict = {"samples": len(samples)}
    for i, name in enumerate(CLOCKS.values()):
        values = [sample.values[i] for sample in samples if sample.values[i] is not None]
        summary[name] = (
            {"median": statistics.median(values), "min": min(values), "max": max(values)} if values else None
        )
    masks = [sample.mask for sample in samples if sample.mask is not None]
    counts = Counter(word for mask in masks for word in reasons(mask))
    summary["held_back_by"] = {word: round(count / len(masks), 3) for word, count in counts.most_common()}
    return summary


class ClockLog:
    """nvidia-smi in the background, five lines a second, while the `with` lasts."""

    def __init__(self) -> None:
        self.samples: list[ClockSample] = []
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> ClockLog:
        try:
            command = find("nvidia-smi")
        except ToolError:
            return self
        for field_name in REASON_FIELDS:
            with contextlib.suppress(ToolError):
                smi((*CLOCKS, field_name))
                break
        query = f"--query-gpu={','.join((*CLOCKS, field_name))}"
        self.process = subprocess.Popen(
            [*command, query, "--format=csv,noheader,nounits", "-i", card_index(), "-lms", "200"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        return self

    def read(self) -> None:
        for line in self.process.stdout:
            if sample := parse_clocks(line):
                self.samples.append(sample)

    def __exit__(self, *_) -> None:
        if self.process is not None:
            end(self.process)
            self.process.wait()
            self.thread.join()
            self.process.stdout.close()

    def since(self, begin: int) -> dict | None:
        return summarise_clocks(self.samples[begin:])


# ---- running a program -----------------------------------------------------------------------------------------------


SLOW = {"SOL_TIMEOUT_S": "600"}  # seconds that a check's worker may take under a tool that slows it down


@dataclass(frozen=True)
class Finished:
    status: int | None  # None: it ran past its time
    output: str
    seconds: float


STARTED: dict[subprocess.Popen, int] = {}  # by run(), and the thread that waits for it


def end_of(thread: int | None) -> None:
    """Ends what a thread waits for in run()."""
    for process in [process for process, of in list(STARTED.items()) if of == thread]:
        end(process)


def run(command: list[str], limit: float, extra: dict[str, str] | None = None) -> Finished:
    """Runs a command and what it starts for at most `limit` seconds; its two outputs together."""
    begin = time.monotonic()
    # So that a make started here does not join the job server of the make that started us.
    unwanted = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    # ncu writes numbers as the locale has them, a compiler its words.
    environment |= {"NO_COLOR": "1", "LC_ALL": "C"} | (extra or {})
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    ) as process:
        STARTED[process] = threading.get_ident()
        try:
            output, _ = process.communicate(timeout=max(limit, 0.1))
            status: int | None = process.returncode
        except subprocess.TimeoutExpired:
            end(process)
            output, _ = process.communicate()
            status = None
        except BaseException:
            end(process)
            raise
        finally:
            del STARTED[process]
    return Finished(status, output, time.monotonic() - begin)


def asked(program: Path, arguments: list[str], read: Callable[[Any], Any]) -> Any:
    """What `read` makes of the JSON that a program of build/tools prints."""
    if not program.exists():
        raise ToolError(f"{program} is not there: make build/tools/{program.name}")
    done = run([str(program.resolve()), *arguments], limit=60)
    if done.status != 0:
        raise ToolError(last_line(done.output) or f"{program} said nothing")
    try:
        return read(json.loads(done.output))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ToolError(f"{program} said something of another form: make build/tools/{program.name}") from None


def end(process: subprocess.Popen) -> None:
    """A process started in a session of its own, with all that it started. It is asked first: make then removes what it
    had half written."""
    for number, seconds in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 0.0)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=seconds)


# ---- compute-sanitizer -----------------------------------------------------------------------------------------------

SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")


def sanitize(tool: str, program: list[str], log: Path, limit: float, *more: str) -> SanitizerReport:
    """compute-sanitizer on a program, whose exit status is not judged: a check's is its verdict."""
    options = ["--tool", tool, "--target-processes", "all", "--check-exit-code", "no", "--show-backtrace", "device"]
    options += ["--log-file", str(log), *more]
    log.unlink(missing_ok=True)
    done = run([*find("compute-sanitizer"), *options, *program], limit, SLOW)
    if done.status is None:
        raise ToolError(f"{tool} did not end within {limit:.0f} s")
    report = parse_sanitizer((log.read_text(errors="replace") if log.exists() else "") or done.output)
    report.said = last_line(done.output)
    return report


@dataclass
class SanitizerReport:
    errors: int
    warnings: int = 0
    distinct: Counter[str] = field(default_factory=Counter)  # "what at file:line in kernel" to how often it was printed
    said: str = ""  # the last line of the program
    unended: str = ""  # what the tool says of a process that did not end well, which is not an error in a kernel


# Two releases' words of each are in reference/tests/data, with where they come from.
SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)s?\b(.*)")
UNCOUNTED = ("were not printed", "were skipped")  # a second summary, of errors that the first has or that nobody kept
AT = re.compile(r"(?:at |Device Frame:\s*)(.+?)(?:\+0x[0-9a-f]+)?(?: in (.+:\d+))?$")
RACE = re.compile(r"\w+ access at (.+?)\+0x[0-9a-f]+(?: in (.+:\d+))?(?: \[[\d,]+ hazards?\])?$")
BY_HOST = re.compile(r"Uninitialized access (?:at|to) 0x[0-9a-f]+ on access by (\w+)")
# Of a process, not of a kernel: it was killed, or its exit status is not known.
UNENDED = re.compile(r"Error: (?:process didn't terminate successfully|couldn't find exit code)")
# Lines that begin like an error's first and are none.
NOTES = re.compile(
    r"COMPUTE-SANITIZER|LEAK SUMMARY|(?:Error: )?(?:Target application|No attachable|Device not|Failed to|Unable to)"
    r"|Warning: Maximum number|Tracking kernels|Try using|Not all records|Default timeout|Connection closed"
)
PROBE = re.compile(r"Program hit .* on CUDA API call to cuGetProcAddress")  # a runtime that asks what a driver has
UNSUPPORTED = "Device not supported"
# A launch that it did not watch: its summary may say 0 errors all the same.
UNTRACKED = re.compile(r"Internal Sanitizer Error:? *(.*)")
NO_SUMMARY = {
    "No attachable process found": "the program ended before it reached the GPU",
    "terminated before first instrumented API call": "the program never reached the GPU",
    "Failed to initialize": "it does not fit the driver",
    "Unable to find injection library": "its installation is not whole",
}


def kernel_name(text: str) -> str:
    """A function without its result, its namespaces and its parameters; template arguments stay."""
    text = re.sub(r"\(anonymous namespace\)::|<unnamed>::|^void ", "", text.strip())
    return re.sub(r"^(?:\w+::)+", "", text.split("(")[0]).strip()


def place(function: str, where: str | None) -> str:
    """Without the file's folders, which older releases print."""
    name = kernel_name(function)
    return f"{Path(where).name} in {name}" if where else name


def first_words(text: str) -> str:
    """What an error's first line says, without addresses."""
    if "Race reported between" in text:
        return "race (warning)" if text.startswith("Warn") else "race"
    what = re.sub(r" (?:at|at host access to|in allocation) 0x[0-9a-f]+.*$", "", text)
    return what.removeprefix("Error: ").rstrip(".")


def error_in_a_line(error: list[str]) -> str:
    """Where a barrier's own place is a header of the toolkit, a frame below it is the kernel."""
    what = first_words(error[0])
    if what.startswith("race"):
        sites = [place(function, where) for line in error for function, where in RACE.findall(line)]
        return f"{what} between {' and '.join(dict.fromkeys(sites))}"
    sites = [place(*at.groups()) for line in error if (at := AT.match(line))]
    sites += [by[1] for line in error if (by := BY_HOST.match(line))]
    kernels = [site for site in sites if ".cu:" in site]
    return f"{what} at {(kernels or sites)[0]}" if sites else what


def paragraphs(log: str) -> list[list[str]]:
    """The tool's own lines: one that begins something, with the indented ones that go on with it."""
    found: list[list[str]] = []
    for line in log.splitlines():
        if line.startswith("====="):
            text = line.lstrip("=")
            if not found or not text.startswith("   "):
                found.append([])
            found[-1].append(text.strip())
    return found


def parse_sanitizer(log: str) -> SanitizerReport:
    """compute-sanitizer's log. Raises ToolError where it holds no summary: it then found nothing out."""
    if untracked := UNTRACKED.search(log):
        raise ToolError(f"compute-sanitizer did not watch every launch: {untracked[1]}")
    if UNSUPPORTED in log:
        raise ToolError(f"compute-sanitizer cannot run here: {UNSUPPORTED.lower()}")
    report, summaries, probes = SanitizerReport(0), 0, 0
    for paragraph in paragraphs(log):
        text = paragraph[0]
        if found := SUMMARY.match(text):
            if any(word in text for word in UNCOUNTED):
                continue
            summaries += 1
            inside = re.search(r"\((\d+) errors?, (\d+) warnings?\)", found[2])
            report.errors += int(inside[1]) if inside else int(found[1])
            report.warnings += int(inside[2]) if inside else 0
        elif UNENDED.match(text):
            report.unended = report.unended or text.removeprefix("Error: ").rstrip(".")
        elif PROBE.match(text):
            probes += 1
        elif text and not NOTES.match(text):
            report.distinct[error_in_a_line(paragraph)] += 1
    report.errors = max(report.errors - probes, 0)
    if summaries == 0:
        for sign, why in NO_SUMMARY.items():
            if sign in log:
                raise ToolError(f"compute-sanitizer could not run: {why} ({sign})")
        raise ToolError(f"compute-sanitizer wrote no summary; the last line of its log: {last_line(log) or 'none'}")
    return report


# ---- Nsight Compute --------------------------------------------------------------------------------------------------

# The few counters that the course speaks of, by Nsight Compute's names, and the names in our files.
METRICS = {
    "gpu__time_duration.sum": "time_ns",
    "dram__bytes_read.sum": "dram_bytes_read",
    "dram__bytes_write.sum": "dram_bytes_written",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "global_load_requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "global_load_sectors",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "global_store_requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "global_store_sectors",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "shared_load_bank_conflicts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": "shared_store_bank_conflicts",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared_load_wavefronts",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "shared_store_wavefronts",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "sm_percent",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": "memory_percent",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy_percent",
    "sm__maximum_warps_per_active_cycle_pct": "occupancy_possible_percent",
    "launch__registers_per_thread": "registers",
    "launch__occupancy_limit_blocks": "blocks_by_slots",
    "launch__occupancy_limit_registers": "blocks_by_registers",
    "launch__occupancy_limit_shared_mem": "blocks_by_shared_memory",
    "launch__occupancy_limit_warps": "blocks_by_warps",
}
# Other names of a metric on some cards: those of compute capability 12.0.
RENAMED = {
    "dram__bytes_read.sum": "dram__bytes_op_read.sum",
    "dram__bytes_write.sum": "dram__bytes_op_write.sum",
}
PERMISSION = "ERR_NVGPUCTRPERM"
KEPT = ("CUDA_VISIBLE_DEVICES", "CUDA_HOME", "LD_LIBRARY_PATH", "NVCC_CXX")  # what sudo drops beside PATH
MODULES = Path("/lib/modules")
AS_CSV = ["--csv", "--page", "raw", "--print-units", "base"]


@dataclass
class Kernel:
    name: str
    grid: str
    block: str
    values: dict[str, float]  # by the names asked for, such as METRICS' values; what the card does not count is missing

    def ratio(self, above: str, below: str) -> float | None:
        """None where either was not counted, or nothing happened."""
        if above not in self.values or not self.values.get(below):
            return None
        return self.values[above] / self.values[below]

    def limited_by(self) -> str | None:
        """What allows the fewest blocks on a multiprocessor."""
        limits = {
            words: self.values[name]
            for name, words in (
                ("blocks_by_registers", "registers"),
                ("blocks_by_shared_memory", "shared memory"),
                ("blocks_by_warps", "warps"),
                ("blocks_by_slots", "blocks"),
            )
            if name in self.values
        }
        if not limits:
            return None
        least = min(limits.values())
        return ", ".join(words for words, limit in limits.items() if limit == least)


def counters_mend() -> str:
    """How this machine lets Nsight Compute read the counters (developer.nvidia.com/ERR_NVGPUCTRPERM)."""
    if under_wsl():
        return (
            "in Windows' NVIDIA Control Panel switch on Desktop > Enable Developer Settings, then choose Developer > "
            "Manage GPU Performance Counters > Allow access to all users"
        )
    if os.geteuid() == 0:
        return (
            "root in a container needs --cap-add=SYS_ADMIN when it is started; where that cannot be had, "
            "make traffic-lessonNN counts on the CPU device"
        )
    keep = " ".join(f'"{name}=${name}"' for name in ("PATH", *(name for name in KEPT if name in os.environ)))
    command = os.environ.get("SOL_COMMAND", "this command")
    # Debian's own package gives the kernel module another name.
    module = "nvidia-current" if any(MODULES.glob("*/updates/dkms/nvidia-current.ko*")) else "nvidia"
    return (
        f'once: `sudo env {keep} {command}; sudo chown -R "$(id -u):$(id -g)" build results reference/timings`; '
        f"for good: `echo options {module} NVreg_RestrictProfilingToAdminUsers=0 | "
        "sudo tee /etc/modprobe.d/gpu-counters.conf`, `sudo update-initramfs -u` where there is one, and a restart"
    )


# Lines that say that something went wrong, and not what.
CONSEQUENCES = (
    "An error was reported by the driver",
    "An error occurred while",
    "Failed to p",
    "The application returned",
)
BUSY = "driver resource was unavailable"


def ncu_trouble(output: str) -> str | None:
    """The line that says why Nsight Compute measured nothing, with the mend where we know it."""
    if PERMISSION in output:
        return f"the driver keeps the counters to root ({PERMISSION}): {counters_mend()}"
    errors = [error.strip() for error in re.findall(r"^==ERROR== (.*)", output, re.MULTILINE)]
    causes = [error for error in errors if not error.startswith(CONSEQUENCES)]
    if any(BUSY in error for error in causes):
        return f"something else reads the card's counters ({BUSY}): stop it, DCGM by `dcgmi profile --pause`"
    if causes:
        return f"ncu: {causes[0]}"
    status = re.search(r"^==ERROR== The application returned an error code \((\d+)\)", output, re.MULTILINE)
    if status and status[1] != "1":  # 1 is a check's verdict
        return f"the program ended with exit status {status[1]} under ncu"
    if "No kernels were profiled" in output:
        return "no kernel of this name was launched"
    return f"ncu: {errors[0]}" if errors else None


def refused_metrics(output: str, metrics: Iterable[str]) -> list[str]:
    """Those that ncu does not know on this card ("Failed to find metric regex:^name..."); one is enough for it to
    measure nothing at all."""
    errors = "\n".join(re.findall(r"^==ERROR== .*metric.*", output, re.MULTILINE)).replace("\\", "")
    return [name for name in metrics if re.search(rf"(?<!\w){re.escape(name.removesuffix('.sum'))}(?!\w)", errors)]


def profile(
    kernels: list[str],
    program: list[str],
    limit: float,
    out: Path,
    metrics: Mapping[str, str] = METRICS,
) -> tuple[list[Kernel], list[str]]:
    """Nsight Compute on the first launch of each kernel, where none is named on every launch: their counters, by the
    names in `metrics`, and the metrics that it does not know on this card, which it is run again without. `out` is a
    CSV log, or an .ncu-rep for its UI, with everything."""
    ncu, known, unknown, end = find("ncu"), dict(metrics), [], time.monotonic() + limit
    while True:
        out.unlink(missing_ok=True)
        done = run([*ncu, *ncu_options(kernels, known, out), *program], end - time.monotonic(), SLOW)
        if done.status is None:
            raise ToolError(f"ncu took more than {limit:.0f} s")
        in_csv = out.suffix != ".ncu-rep"
        output = done.output + (out.read_text(errors="replace") if in_csv and out.exists() else "")
        if not (refused := refused_metrics(output, known)):
            break
        unknown += refused
        for name in refused:
            here = known.pop(name)
            if name in RENAMED:
                known[RENAMED[name]] = here
    if not in_csv:
        if not out.exists():
            raise ToolError(ncu_trouble(output) or f"ncu wrote no report: {last_line(output)}")
        output = run([*ncu, "--import", str(out), *AS_CSV], limit).output
    return parse_ncu(output, known), unknown


def ncu_options(kernels: list[str], metrics: Iterable[str], out: Path) -> list[str]:
    options = ["--target-processes", "all", "--clock-control", "none", "--metrics", ",".join(metrics)]
    if kernels:
        options += ["--kernel-id", f"::regex:({'|'.join(kernels)})$:1"]
    if out.suffix == ".ncu-rep":
        return [*options, "--set", "full", "--import-source", "yes", "--force-overwrite", "-o", str(out)]
    return [*options, *AS_CSV, "--log-file", str(out)]


def base_value(text: str, unit: str) -> float | None:
    """In the base unit: nanoseconds, bytes, plain counts. --print-units base is not obeyed by every version; times are
    in nsecond or in ns."""
    value = number(text)
    if value is None:
        return None
    scales = {"usecond": 1e3, "us": 1e3, "msecond": 1e6, "ms": 1e6, "second": 1e9, "s": 1e9}
    scales |= {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
    return value * scales.get(unit, 1)


def parse_ncu(output: str, metrics: Mapping[str, str] = METRICS) -> list[Kernel]:
    """Nsight Compute's CSV of --page raw, in the order of the launches: a line of names, one of units, and a row a
    launch. Raises ToolError where it holds no counter."""
    lines = [line for line in output.splitlines() if line.startswith('"')]
    units, *rows = csv.DictReader(io.StringIO("\n".join(lines))) if len(lines) > 2 else ({},)
    kernels = []
    for row in rows:
        values = {here: base_value(row.get(name) or "", units.get(name) or "") for name, here in metrics.items()}
        values = {here: value for here, value in values.items() if value is not None}
        name, grid, block = (row.get(column) or "" for column in ("Kernel Name", "Grid Size", "Block Size"))
        if name and values:
            kernels.append(Kernel(kernel_name(name), grid, block, values))
    if not kernels:
        raise ToolError(ncu_trouble(output) or f"ncu printed no counters; its last line: {last_line(output) or 'none'}")
    return kernels


def has_kernels(source: Path) -> bool:
    """Whether a file is there and has any; an op without a file of its own runs an earlier lesson's."""
    return source.exists() and bool(kernels_of(source))


def kernels_of(source: Path) -> list[str]:
    """The names of the __global__ functions of a kernel file."""
    try:
        text = re.sub(r"//.*", "", source.read_text())
    except OSError as error:
        raise ToolError(f"{source}: {error.strerror}") from None
    inner = r"\((?:[^()]|\([^()]*\))*\)"
    words = rf"__global__\s+(?:(?:__launch_bounds__|__cluster_dims__)\s*{inner}\s*|[\w:]+\s+)*?((?!__)\w+)\s*\("
    return list(dict.fromkeys(re.findall(words, text)))
