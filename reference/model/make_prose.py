# SPDX-License-Identifier: MIT
"""Makes prose.txt, the English prose that train_small.py trains on beside the course's text, from Debian's packages.

It downloads the packages that prose.json names, unpacks them into a temporary folder (nothing is installed), and keeps
the whole sentences of their HTML pages: paragraphs of 100 characters or more, each once, in ASCII, in the order of the
pages' names. Tables, lists of signatures and code are left out. The text is not committed: prose.json has the packages,
their licences and the hash of the text that the small model has seen.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

from reference.model.gpt2 import write_all
from reference.model.make_corpus import to_ascii

HERE = Path(__file__).parent
RECORD = HERE / "prose.json"
SHORTEST = 100  # characters of a paragraph: shorter ones are mostly headings and signatures
SKIPPED = ("script", "style", "table", "pre", "nav", "head")


class Paragraphs(HTMLParser):
    """The text of each <p>, and of each <div class="para"> as DocBook writes it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.text: list[str] | None = None  # of the paragraph that is open
        self.skipped = 0  # elements of SKIPPED that are open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.skipped += tag in SKIPPED
        if tag in ("p", "div"):
            self.end()
            if not self.skipped and (tag == "p" or ("class", "para") in attrs):
                self.text = []

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag in SKIPPED and self.skipped > 0
        if tag in ("p", "div"):
            self.end()

    def handle_data(self, data: str) -> None:
        if self.text is not None and not self.skipped:
            self.text.append(data)

    def end(self) -> None:
        if self.text is not None:
            self.found.append(" ".join("".join(self.text).split()))
        self.text = None


def paragraphs(page: str) -> list[str]:
    parser = Paragraphs()
    parser.feed(page)
    parser.end()
    return [to_ascii(paragraph) for paragraph in parser.found]


def is_prose(paragraph: str) -> bool:
    return len(paragraph) >= SHORTEST and re.match(r'["(]?[A-Z].*[.!?:)"]$', paragraph) is not None


def gather(folder: Path) -> str:
    """The prose of a folder's pages, a blank line after each paragraph, no paragraph twice."""
    pages = sorted(folder.rglob("*.html"))
    found = [text for page in pages for text in paragraphs(page.read_text(encoding="utf-8", errors="replace"))]
    return "".join(f"{text}\n\n" for text in dict.fromkeys(found) if is_prose(text))


def prose_of(package: dict, folder: Path) -> str:
    """Downloads and unpacks one package of the record; notes when it is another version than the record's."""
    name, version = package["name"], package["version"]
    for wanted in (f"{name}={version}", name):
        command = ["apt-get", "download", "-q", wanted]
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0:
            break
    archives = list(folder.glob(f"{name}_*.deb"))
    if not archives:
        raise ValueError(
            f"{name}: apt-get download finds no such package; on Debian 12, apt-get update brings its list"
        )
    if hashlib.sha256(archives[0].read_bytes()).hexdigest() != package["sha256"]:
        print(f"make_prose: {archives[0].name} is not {name} {version} of the record; the text may differ")
    subprocess.run(["dpkg", "-x", archives[0].name, name], cwd=folder, check=True)
    return gather(folder / name / package["folder"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "prose.txt", help="default: reference/model/prose.txt")
    args = parser.parse_args()
    record = json.loads(RECORD.read_text())
    try:
        with tempfile.TemporaryDirectory() as folder:
            data = "".join(prose_of(package, Path(folder)) for package in record["packages"]).encode()
        write_all({args.out: data})
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"make_prose: {error}", file=sys.stderr)
        return 1
    same = hashlib.sha256(data).hexdigest() == record["sha256"]
    print(f"wrote {args.out}: {len(data):,} bytes, {'as' if same else 'NOT as'} recorded in {RECORD.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
