# SPDX-License-Identifier: MIT
"""Gathers the course's own pages, solutions and headers into corpus.txt, on which train_small.py trains, together with
the prose of make_prose.py. The file is committed: the small model changes only when somebody decides so. Plain ASCII,
in the order of the names."""

from __future__ import annotations

import argparse
import subprocess
import sys
import unicodedata
from pathlib import Path, PurePath

from reference.model.gpt2 import write_all

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).parent / "corpus.txt"
PATTERNS = ("*.md", "*/*.md", "lessons/*/README.md", "lessons/gpt2/*.h", "solutions/*/*.cpp", "solutions/*/*.cu")
GENERATED = ("checker/KILL_TABLE.md",)
ASCII = {
    "—": "-", "–": "-", "−": "-", "·": "*", "×": "x", "’": "'", "‘": "'", "“": '"', "”": '"', "…": "...",
    "→": "->", "←": "<-", "≈": "~", "≤": "<=", "≥": ">=", "≠": "!=", "√": "sqrt", "Σ": "sum", "σ": "sigma",
    "δ": "delta", "π": "pi", "∈": "in", "±": "+-", "²": "^2", "³": "^3", "½": "1/2", "⇔": "<=>",
}  # fmt: skip


def to_ascii(text: str) -> str:
    text = "".join(ASCII.get(c, c) for c in text)
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def sources() -> list[str]:
    """Every page, and what a learner reads of the source: mostly prose, so that the model writes words."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [
        path
        for path in sorted(set(listed))
        if any(PurePath(path).match(pattern) and path.count("/") == pattern.count("/") for pattern in PATTERNS)
        and path not in GENERATED
        and (ROOT / path).is_file()
    ]


def gather() -> str:
    """Every file under a line with its path, trailing blanks dropped."""
    parts = []
    for path in sources():
        lines = [line.rstrip() for line in to_ascii((ROOT / path).read_text(encoding="utf-8")).splitlines()]
        parts.append(f"==== {path}\n\n" + "\n".join(lines).strip() + "\n\n")
    return "".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=CORPUS, help="file to write (default: reference/model/corpus.txt)")
    args = parser.parse_args()
    try:
        text = gather()
        write_all({args.out: text.encode()})
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"make_corpus: {error}", file=sys.stderr)
        return 1
    print(f"wrote {args.out}: {len(sources())} files, {len(text):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
