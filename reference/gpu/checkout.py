# SPDX-License-Identifier: MIT
"""The commit that is measured. Needs nothing but Python 3.10; where git is missing, somebody says the commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from reference.gpu.tools import TIMINGS


def git(*words: str, root: Path = Path()) -> str | None:
    """Returns what git prints, without the last line's end; None where there is no git, or it fails."""
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit(given: str | None = None) -> dict:
    """Returns the commit, and true as `dirty` if files differ from it; outside a git checkout `given`."""
    head = git("rev-parse", "HEAD")
    if head is None:
        return {"commit": given, "dirty": None}
    return {"commit": head, "dirty": bool(git("status", "--porcelain", "--", ".", f":!{TIMINGS}"))}
