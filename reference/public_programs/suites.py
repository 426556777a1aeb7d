# SPDX-License-Identifier: MIT
"""The suites of public CUDA programs, and the programs in them. `programs.toml` says what a program needs beyond its
sources: its arguments, its inputs, how one knows that its result is right."""

from __future__ import annotations

import re
import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reference.gpu.tools import ToolError

TABLE = Path(__file__).with_name("programs.toml")
SOURCES = (".cu", ".cpp", ".cc", ".c")


@dataclass(frozen=True)
class TrueFinding:
    """A finding that is true: the program has this fault. `at` holds FILE:LINE."""

    kind: str
    at: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Size:
    """One way to call a program: `arguments` holds command lines, each of which must be right."""

    arguments: tuple[tuple[str, ...], ...] = ((),)
    inputs: str = ""  # name of a function of inputs.py
    result: str = ""  # name of a function of results.py
    says: tuple[str, ...] = ()
    true: tuple[TrueFinding, ...] = ()
    is_small: bool = False  # is smaller than the suite's own, or has inputs that are made here


@dataclass(frozen=True)
class Program:
    suite: str
    name: str
    folder: Path  # is copied before the build, so that the suite stays as it is
    path: Path  # the folder's, in its suite
    inside: str = "."  # a folder in `folder`; the program is built there and runs there
    sources: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    size: Size = field(default_factory=Size)
    smaller: Size | None = None
    needs: dict[str, str] = field(default_factory=dict)  # a name of needs.ALL that the sources do not show -> why
    not_needs: dict[str, str] = field(default_factory=dict)  # a name that they show and do not need -> why
    reason: str = ""  # replaces the reason that the build and the run give


@dataclass(frozen=True)
class Suite:
    name: str
    commit: str
    folder: Path
    programs: tuple[Program, ...]

    @property
    def found_commit(self) -> str:
        """The commit of the clone; empty if it is not one."""
        if not (self.folder / ".git").exists():
            return ""
        done = subprocess.run(
            ["git", "-C", self.folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=False
        )
        return done.stdout.strip()


def read_size(table: dict[str, Any]) -> Size:
    arguments = table.get("arguments", [[]])
    if not isinstance(arguments, list) or not all(isinstance(call, (list, str)) for call in arguments):
        raise ToolError(f"{TABLE.name}: arguments must be a list of command lines, not {arguments!r}")
    return Size(
        arguments=tuple(tuple(call.split()) if isinstance(call, str) else tuple(call) for call in arguments),
        inputs=table.get("inputs", ""),
        result=table.get("result", ""),
        says=tuple(table.get("says", ())),
        true=tuple(TrueFinding(row["kind"], tuple(row["at"]), row["why"]) for row in table.get("true", ())),
        is_small=table.get("small", False),
    )


def cmake_call(text: str, function: str) -> list[str]:
    """The words of the first call of a CMake function; empty if there is none."""
    found = re.search(rf"\b{function}\s*\(([^)]*)\)", re.sub(r"#.*", "", text))
    return found[1].split() if found else []


def from_cmake(lists: Path, suite: Path) -> dict[str, Any]:
    """Reads a sample's sources and options from its CMakeLists.txt."""
    text = lists.read_text(errors="replace")
    sources = [word for word in cmake_call(text, "add_executable")[1:] if Path(word).suffix in SOURCES]
    libraries = re.findall(r"CUDA::(\w+)", text)
    return {
        "sources": sources,
        "options": [
            "-std=c++17",
            f"-I{suite / 'Common'}",
            "-I.",
            *(["-Iinc"] if (lists.parent / "inc").is_dir() else []),
            *(["-Xcompiler", "-fopenmp"] if "OpenMP" in text else []),
            *(f"-l{name}" for name in dict.fromkeys(libraries) if name.startswith("cublas")),
        ],
    }


def found_by_cmake(root: Path) -> dict[str, Path]:
    """Each CMakeLists.txt that lists no further folders is a program, by its folder's name."""
    found = {}
    for lists in sorted(root.rglob("CMakeLists.txt")):
        if not re.search(r"^\s*add_subdirectory\b", lists.read_text(errors="replace"), re.MULTILINE):
            found[lists.parent.name] = lists
    return found


def read_suite(name: str, table: dict[str, Any], rows: list[dict[str, Any]], root: Path) -> Suite:
    folder = root / name
    if not folder.is_dir():
        raise ToolError(f"{folder} is not there: clone it, {table['from']}, commit {table['commit']}")
    replaced = {"{suite}": str(folder), "{from}": str(root)}
    found = found_by_cmake(folder / table["cmake"]) if "cmake" in table else {}
    named = {row["name"]: row for row in rows if row["suite"] == name}
    if "cmake" in table and (unknown := sorted(named.keys() - found.keys())):
        raise ToolError(f"{TABLE.name} names {', '.join(unknown)}, which {folder} does not have")
    if "folders" in table:
        present = {path.name for path in (folder / table["folders"]).iterdir() if path.is_dir()}
        covered = {Path(row["folder"]).name for row in named.values()} | set(table["no_programs"])
        if present != covered:
            differ = ", ".join(sorted(present ^ covered))
            raise ToolError(f"{folder / table['folders']} and {TABLE.name} have other programs: {differ}")
    programs = []
    for program in sorted({*found, *named}, key=str.lower):
        row = dict(named.get(program, {}))
        if program in found:
            row = {"folder": found[program].parent.relative_to(folder), **from_cmake(found[program], folder), **row}
        options = []
        for option in (*row.get("options", ()), *row.get("more_options", ())):
            for key, value in replaced.items():
                option = option.replace(key, value)
            options.append(option)
        programs.append(
            Program(
                suite=name,
                name=program,
                folder=folder / row["folder"],
                path=Path(row["folder"]),
                inside=row.get("inside", "."),
                sources=tuple(row.get("sources", ())),
                options=tuple(options),
                size=read_size(row),
                smaller=read_size({**row, **row["smaller"]}) if "smaller" in row else None,
                needs=dict(row.get("needs", {})),
                not_needs=dict(row.get("not_needs", {})),
                reason=row.get("reason", ""),
            )
        )
    return Suite(name, table["commit"], folder, tuple(programs))


def read(root: Path, table: Path = TABLE) -> tuple[float, list[Suite]]:
    """The seconds of processor time that a call may take, and the suites in a folder."""
    read = tomllib.loads(table.read_text())
    rows = read.get("program", [])
    return float(read["seconds"]), [read_suite(name, suite, rows, root) for name, suite in read["suite"].items()]
