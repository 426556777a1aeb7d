# SPDX-License-Identifier: MIT
"""Lists the C++ folders of the course with their files and lines, and the include cycles between files.

    cpp_folders.py [FOLDER...]          folders below the root; checker and lessons/gpt2 without any

A .cpp and the .h of its name are one unit; a cycle is a set of units that include each other, directly or not. Tests
and the CPU device's copies of CUDA's headers are left out.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("checker", "lessons/gpt2")
SUFFIXES = (".cpp", ".h", ".cu", ".cuh")
CUDA_HEADERS = Path("checker/simt/include")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

Graph = Mapping[Path, set[Path]]


def cpp_files(root: Path, folders: Iterable[str] = FOLDERS) -> list[Path]:
    """Returns the C++ and CUDA files of the folders, relative to the root; neither tests nor CUDA's headers."""
    found = (path.relative_to(root) for folder in folders for path in (root / folder).rglob("*"))
    return sorted(
        path
        for path in found
        if path.suffix in SUFFIXES and "tests" not in path.parts and CUDA_HEADERS not in path.parents
    )


def includes(root: Path, files: Iterable[Path]) -> dict[Path, set[Path]]:
    """Returns the files of the course that each file includes by name in quotes: beside it, or below the root."""
    graph = {}
    for file in files:
        names = INCLUDE.findall((root / file).read_text())
        candidates = {Path(folder, name) for name in names for folder in (file.parent, "")}
        graph[file] = {path for path in candidates if (root / path).is_file()}
    return graph


def unit_of(file: Path) -> Path:
    return file.with_suffix("")


def cycles(graph: Graph) -> list[set[Path]]:
    """Returns the sets of units that include each other, the largest first."""
    edges: dict[Path, set[Path]] = defaultdict(set)
    for file, included in graph.items():
        edges[unit_of(file)] |= {unit_of(other) for other in included} - {unit_of(file)}
    reached = {unit: reachable(edges, unit) for unit in list(edges)}
    found = {frozenset(other for other in reached[unit] if unit in reached.get(other, ())) for unit in edges}
    return sorted(map(set, found - {frozenset()}), key=lambda cycle: (-len(cycle), sorted(cycle)))


def reachable(edges: Graph, begin: Path) -> set[Path]:
    """Returns what `begin` includes, directly or not; `begin` itself only if a cycle leads back to it."""
    found: set[Path] = set()
    left = [begin]
    while left:
        new = edges.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def folder_table(root: Path, files: Iterable[Path]) -> str:
    """Returns a line for each folder: its files and their lines."""
    lines: dict[Path, list[int]] = defaultdict(list)
    for file in files:
        lines[file.parent].append(len((root / file).read_text().splitlines()))
    rows = [(str(folder), len(counts), sum(counts)) for folder, counts in sorted(lines.items())]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    return "\n".join(f"{folder:32} {count:4} files {total:7,} lines" for folder, count, total in rows)


def main(folders: list[str]) -> None:
    files = cpp_files(ROOT, folders or FOLDERS)
    print(folder_table(ROOT, files))
    print()
    found = cycles(includes(ROOT, files))
    for cycle in found:
        print(f"cycle of {len(cycle)}: {' '.join(sorted(map(str, cycle)))}")
    if not found:
        print("no include cycle")


if __name__ == "__main__":
    main(sys.argv[1:])
