# SPDX-License-Identifier: MIT
"""`make sass-table`: reference/sass.json, what nvcc emits for the kernels of all solutions, for each architecture of
the cards that estimates are given for. So an estimate of a solution needs no nvcc."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from reference.gpu import kernel_sass, nvcc, tools
from reference.gpu.tools import Parser, ToolError

TABLE = Path("reference/sass.json")
# T4; A100; A6000 and RTX 30; RTX 40 and L4; H100 and H200; RTX 50.
ARCHS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_120")
MEND = "make sass-table WRITE=1 writes it anew; make setup NVCC=1 brings nvcc"


def solutions(root: Path) -> list[Path]:
    """The files with kernels of their own."""
    found = sorted(path.relative_to(root) for path in root.glob("solutions/[0-9][0-9]_*/*.cu"))
    return [path for path in found if tools.kernels_of(root / path)]


def read(root: Path) -> dict[tuple[str, str], dict]:
    """By source and architecture."""
    path = root / TABLE
    try:
        return {(row["source"], row["arch"]): row for row in json.loads(path.read_text())["files"]}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ToolError(f"{path} cannot be read ({error}): {MEND}") from None


def to_json(rows: Iterable[dict]) -> str:
    """A kernel a line, so that a change shows where it is."""
    files = []
    for row in rows:
        head = json.dumps({name: value for name, value in row.items() if name != "kernels"})[:-1]
        kernels = [f"{json.dumps(name)}: {json.dumps(kernel)}" for name, kernel in row["kernels"].items()]
        files.append(f'{head}, "kernels": {{\n  ' + ",\n  ".join(kernels) + "}}")
    return '{"files": [\n' + ",\n".join(files) + "\n]}\n"


def stale(root: Path, known: dict[tuple[str, str], dict]) -> list[tuple[Path, str]]:
    """What has changed since it was recorded, and what was not."""
    digests = {source: kernel_sass.digest(root, source) for source in solutions(root)}
    return [
        (source, arch)
        for source, digest in digests.items()
        for arch in ARCHS
        if known.get((source.as_posix(), arch), {}).get("digest") != digest
    ]


def save(root: Path, known: dict[tuple[str, str], dict]) -> int:
    """What is known of the solutions, in order; gives how many. An interrupted run is continued by the next."""
    wanted = [(source.as_posix(), arch) for source in solutions(root) for arch in ARCHS]
    rows = [known[key] for key in wanted if key in known]
    (root / TABLE).write_text(to_json(rows))
    return len(rows)


def write(options) -> int:
    root = Path()
    try:
        known = read(root)
    except ToolError:
        if not options.write:
            raise
        known = {}
    if not options.write:
        old = sorted({source.as_posix() for source, _ in stale(root, known)})
        print(
            "\n".join([*(f"{source} has changed since" for source in old), MEND if old else f"{TABLE} is up to date"])
        )
        return 1 if old else 0
    version = nvcc.version()
    for row in list(known.values()):  # all of one compiler
        if row["nvcc"] != version:
            del known[row["source"], row["arch"]]
    for source, arch in stale(root, known):
        print(f"{tools.CLEAR}{source} for {arch} …", end="" if tools.CLEAR else "\n", file=sys.stderr, flush=True)
        known[source.as_posix(), arch] = kernel_sass.kernel_sass(root, source, arch, options.flags.split())
        save(root, known)
    print(tools.CLEAR, end="", file=sys.stderr, flush=True)
    print(f"{TABLE}: {save(root, known)} files of nvcc {version}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("sass-table", __doc__)
    parser.add_argument("--write", action="store_true", help="records what has changed")
    parser.add_argument("--flags", required=True, help="nvcc's, -lineinfo among them")
    options = parser.parse_args(arguments)
    return tools.run_main("sass-table", lambda: write(options))


if __name__ == "__main__":
    sys.exit(main())
