# SPDX-License-Identifier: MIT
"""Builds and runs one program, and judges it. The facts about a program are kept, and hold until the device, the
program's sources, its inputs or its arguments change."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from reference.gpu.tools import ToolError
from reference.public_programs import inputs, results
from reference.public_programs.suites import Program, Size, TrueFinding

BUILD_SECONDS = 600.0  # wall clock
WALL_PER_CPU = 10  # a call that sleeps or waits longer than this many times its limit is too slow, too
KEPT_OUTPUT = 200_000  # characters
WAIVED = 2  # the exit status of cuda-samples for what the device cannot do

Facts = dict[str, Any]


@dataclass(frozen=True)
class Device:
    """The CPU device: its compiler driver, what that reads, and a hash of both."""

    simtcc: Path
    include: Path
    key: str


@dataclass(frozen=True)
class Verdict:
    right: bool
    size: str  # "full", "smaller", or empty if it is not right
    seconds: float
    reason: str  # why it is not right


def digest(*parts: bytes | str) -> str:
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little") + data)
    return hashed.hexdigest()


def files_digest(folder: Path) -> str:
    names = sorted(path for path in folder.rglob("*") if path.is_file())
    return digest(*(part for path in names for part in (str(path.relative_to(folder)), path.read_bytes())))


def the_device(root: Path) -> Device:
    built = [root / "build" / name for name in ("simtcc", "simt-lower", "lib/libsimt.a", "lib/libsimt_libraries.a")]
    for path in built:
        if not path.is_file():
            raise ToolError(f"{path} is not there: make simt")
    include = root / "checker/simt/include"
    key = digest(*(path.read_bytes() for path in built), files_digest(include), (root / "checker/ptx.h").read_bytes())
    return Device(built[0], include, key)


def function_of(module: ModuleType, name: str) -> Callable[..., Any]:
    found = getattr(module, name, None)
    if not inspect.isfunction(found) or found.__module__ != module.__name__:
        raise ToolError(f"{Path(str(module.__file__)).name} has no function {name}")
    return found


# ---- building ----------------------------------------------------------------------------------------------------


def first_error(output: str) -> str:
    """Returns the first error of a compiler or linker, without the place."""
    for pattern in (r"(?:fatal )?error: (.*)", r"(undefined reference to .*)", r"simtcc: (.*)", r"(cannot find .*)"):
        if found := re.search(pattern, output):
            return found[1].strip()
    return output.strip().splitlines()[-1] if output.strip() else "no message"


def build(program: Program, device: Device, folder: Path) -> Facts:
    """Compiles a copy of the program in `folder`: C by gcc, as its makefile does, the rest by simtcc."""
    if not program.sources:
        return {"built": False, "error": "no source for a compiler of CUDA C++"}
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(program.folder, folder, ignore=shutil.ignore_patterns(".git"))
    inside = folder / program.inside
    of_c = [name for name in program.sources if name.endswith(".c")]
    objects = [f"{number}.c.o" for number in range(len(of_c))]
    in_c = [option for option in program.options if option.startswith(("-I", "-D"))]
    commands = [["gcc", "-O2", *in_c, "-c", name, "-o", made] for name, made in zip(of_c, objects, strict=True)]
    others = [name for name in program.sources if name not in of_c]
    commands.append([str(device.simtcc), *program.options, *others, *objects, "-o", "program.simt"])
    for command in commands:
        try:
            done = subprocess.run(
                command,
                cwd=inside,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=BUILD_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"built": False, "error": f"compiling took longer than {BUILD_SECONDS:.0f} s"}
        if done.returncode != 0:
            return {"built": False, "error": first_error(done.stdout + done.stderr)}
    return {"built": True, "error": ""}


# ---- running -----------------------------------------------------------------------------------------------------


def call(program: Path, arguments: tuple[str, ...], folder: Path, seconds: float) -> Facts:
    """Runs a program checked, for at most `seconds` of processor time."""
    report = (folder / "findings.simt.json").resolve()
    report.unlink(missing_ok=True)
    output = folder / "output.simt.txt"

    def limit() -> None:
        whole = int(1.1 * seconds) + 1  # the kernel's clock for limits differs by some percent from that of getrusage
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with output.open("wb") as written:
        process = subprocess.Popen(
            [program, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            env={**os.environ, "SIMT_REPORT": str(report)},
            preexec_fn=limit,
            start_new_session=True,
        )
        began = time.monotonic()
        while process.poll() is None and time.monotonic() - began < WALL_PER_CPU * seconds:
            time.sleep(0.02)
        timed_out = process.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its children may still run
        process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    slow = timed_out or used > seconds or process.returncode == -signal.SIGXCPU
    return {
        "arguments": list(arguments),
        "seconds": round(used, 2),
        "ended": "too slow" if slow else process.returncode,
        "findings": json.loads(report.read_text())["findings"] if report.is_file() and not slow else [],
        "output": output.read_text(errors="replace"),
        "result": "",
    }


def kept_of(output: str) -> str:
    """Returns the beginning and the end of a long output."""
    if len(output) <= KEPT_OUTPUT:
        return output
    return output[: KEPT_OUTPUT // 2] + "\n[…]\n" + output[-KEPT_OUTPUT // 2 :]


def run(program: Program, size: Size, folder: Path, seconds: float) -> list[Facts]:
    """Makes the inputs and runs each of the size's calls, up to the first one that is too slow."""
    shutil.copytree(program.folder, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    where = folder / program.inside
    if size.inputs:
        function_of(inputs, size.inputs)(where)
    seen = []
    for arguments in size.arguments:
        facts = call((where / "program.simt").resolve(), arguments, where, seconds)
        seen.append(facts)
        if facts["ended"] == "too slow":
            break
        if size.result:
            try:
                function_of(results, size.result)(where, facts["output"])
            except (AssertionError, OSError, ValueError, IndexError) as error:
                facts["result"] = f"wrong result: {error}"
        facts["output"] = kept_of(facts["output"])
    return seen


def size_key(size: Size) -> str:
    made = inspect.getsource(function_of(inputs, size.inputs)) if size.inputs else ""
    looked = inspect.getsource(function_of(results, size.result)) if size.result else ""
    return digest(repr(size.arguments), made, looked)


def look(program: Program, device: Device, kept: Path, seconds: float, say: Callable[[str], None]) -> Facts:
    """Builds and runs a program, unless facts are kept and nothing has changed. A program that comes out of the
    compiler as it was is not run again."""
    path = kept / program.suite / f"{program.name}.json"
    old: Facts = json.loads(path.read_text()) if path.is_file() else {}
    sources = files_digest(program.folder)
    build_key = digest(device.key, sources, repr((program.sources, program.options, program.inside)))
    folder = kept / "folders" / program.suite / program.name / program.path  # programs reach for ../../data
    new: Facts = {"build_key": build_key}
    binary = folder / program.inside / "program.simt"
    if old.get("build_key") == build_key and (not old["build"]["built"] or binary.is_file()):
        new["build"] = old["build"]
    else:
        say(f"builds {program.name}")
        new["build"] = build(program, device, folder)
        new["build"]["binary"] = digest(binary.read_bytes()) if new["build"]["built"] else ""
    if new["build"]["built"]:
        for name, size in (("full", program.size), ("smaller", program.smaller)):
            if size is None or (name == "smaller" and new["full"]["runs"][-1]["ended"] != "too slow"):
                continue
            key = digest(new["build"]["binary"], sources, size_key(size), f"{seconds}")
            if old.get(name, {}).get("key") == key:
                new[name] = old[name]
            else:
                say(f"runs {program.name}, {name} size")
                new[name] = {"key": key, "runs": run(program, size, folder, seconds)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(new, indent=1))
    return new


# ---- judging -----------------------------------------------------------------------------------------------------


def place(file: str, line: int) -> str:
    """Returns FILE:LINE as the program's folder has it; a file that lies elsewhere loses its folder."""
    path = Path(file)
    return f"{path.name if path.is_absolute() else path}:{line}"


def places(finding: Facts) -> list[str]:
    """Returns the places of a finding; a race has two."""
    ends = [place(finding["file"], finding["line"])]
    if finding.get("other_file"):
        ends.append(place(finding["other_file"], finding["other_line"]))
    return ends


def is_true(finding: Facts, size: Size) -> bool:
    """Returns true if one row of the table has this kind and all places of the finding."""

    def known(at: str, row: TrueFinding) -> bool:
        return any(at == one or at.endswith("/" + one) for one in row.at)

    return any(finding["kind"] == row.kind and all(known(at, row) for at in places(finding)) for row in size.true)


def judge_call(facts: Facts, size: Size) -> str:
    """Returns the reason why a call is not right, or nothing. The device makes a program fail that has findings: then
    only its output, or its result, shows that it succeeded."""
    if facts["ended"] == "too slow":
        return "too slow"
    for finding in facts["findings"]:
        if not is_true(finding, size):
            return f"`{finding['kind']}` at {' and '.join(places(finding))}, which is not known to be true"
    if facts["result"]:
        return str(facts["result"])
    for text in size.says:
        if text not in facts["output"]:
            return f"does not say {text!r}"
    if facts["findings"]:
        return "" if size.says or size.result else "has findings, and prints nothing that shows its success"
    if facts["ended"] == WAIVED:
        return "waives itself"
    if facts["ended"] < 0:
        return f"ended by {signal.Signals(-facts['ended']).name}"
    return "" if facts["ended"] == 0 else f"exit status {facts['ended']}"


def judge(program: Program, facts: Facts, seconds: float) -> Verdict:
    if not facts["build"]["built"]:
        return Verdict(False, "", 0, f"does not build: {facts['build']['error']}")
    reason = ""
    for name, size in (("full", program.size), ("smaller", program.smaller)):
        if size is None or name not in facts:
            continue
        runs = facts[name]["runs"]
        reasons = [judge_call(one, size) for one in runs]
        reason = next((text for text in reasons if text), "")
        if not reason:
            kind = "smaller" if size.is_small else name
            return Verdict(True, kind, max(one["seconds"] for one in runs), "")
        if reason == "too slow":
            reason = f"more than {seconds:g} s" + (" at its smaller size too" if name == "smaller" else "")
    return Verdict(False, "", 0, program.reason or reason)
