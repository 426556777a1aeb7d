# SPDX-License-Identifier: MIT
"""What is generated into a page stands between two lines: `<!-- ladder -->` and `<!-- end ladder -->`. A name may say
after a colon which of several it is: `<!-- recorded: amd-epyc-25-17 -->` ends with `<!-- end recorded -->`."""

from __future__ import annotations

from pathlib import Path

from reference.gpu.tools import ToolError


def markers(name: str) -> tuple[str, str]:
    """The lines before and after a block."""
    return f"<!-- {name} -->\n", f"<!-- end {name.partition(':')[0]} -->\n"


def has(text: str, name: str) -> bool:
    return markers(name)[0] in text


def put(text: str, name: str, new: str, where: Path) -> str:
    """The page with another block between the markers of this name."""
    begin, end = markers(name)
    before, found, rest = text.partition(begin)
    old, closed, after = rest.partition(end)
    if not found or not closed or "<!-- " in old:
        raise ToolError(f"{where} has no place for the {name}: a line {begin.strip()} and a line {end.strip()}")
    return before + begin + new + end + after
