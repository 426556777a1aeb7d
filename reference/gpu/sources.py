# SPDX-License-Identifier: MIT
"""What a result was made from, as a hash that neither a comment nor the layout of a source moves. Needs nothing but
Python 3.10."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

# A string or a character stays as it is; a comment goes.
PIECE = re.compile(
    r"""(?P<kept>R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')"""
    r"|//(?:\\\n|[^\n])*|/\*.*?\*/",
    re.DOTALL,
)
TOKEN = re.compile(r"""R?"(?:\\.|[^"\\])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\])+'|\w+|\S""")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
CPP = (".h", ".cuh", ".cpp", ".cu")


def tokens(text: str) -> str:
    """C++ without its comments and layout: its tokens, and where a line of the preprocessor ends."""
    bare = PIECE.sub(lambda found: found["kept"] or " ", text).replace("\\\n", " ")
    lines = []
    for line in bare.splitlines():
        words = " ".join(TOKEN.findall(line))
        lines.append(f"\n{words}\n" if words.startswith("#") else words)
    return " ".join(filter(None, lines))


@cache
def content(path: Path, changed: int) -> tuple[bytes, tuple[str, ...]]:
    """What counts of a file, and what it includes. `changed` is when it was written last."""
    if path.suffix in CPP:
        text = path.read_text()
        return tokens(text).encode(), tuple(INCLUDE.findall(text))
    if path.suffix == ".py":
        return ast.dump(ast.parse(path.read_text())).encode(), ()
    if path.suffix == ".toml":
        return "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#")).encode(), ()
    return path.read_bytes(), ()


def of(path: Path) -> tuple[bytes, tuple[str, ...]]:
    return content(path, path.stat().st_mtime_ns)


def closure(root: Path, files: Iterable[Path]) -> list[Path]:
    """The files, what they include, and what is compiled beside each header: relative to the root, in order."""
    found: set[Path] = set()
    left = [Path(file) for file in files]
    while left:
        file = left.pop()
        if file in found or not (root / file).is_file():
            continue
        found.add(file)
        # Below the root, beside the file, or below the folder of lessons that it is in: a helper.
        left += [Path(folder, name) for name in of(root / file)[1] for folder in ("", file.parent, file.parts[0])]
        if file.suffix in (".h", ".cuh"):
            left += [file.with_suffix(suffix) for suffix in (".cpp", ".cu")]
    return sorted(found)


def digest(root: Path, files: Iterable[Path]) -> str:
    """Of those of the files that are there, in any order."""
    return digest_alone(root, sorted({file for file in files if (root / file).is_file()}))


def digest_alone(root: Path, files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for file in files:
        data = of(root / file)[0]
        total.update(f"{file}\0{len(data)}\0".encode())
        total.update(data)
    return total.hexdigest()[:16]
