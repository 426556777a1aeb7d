# SPDX-License-Identifier: MIT
"""The CPU that this runs on. Virtual machines call many processors "AMD EPYC": family and model tell them apart."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cpu:
    name: str  # as the system calls it; the architecture where it has none
    family: str = ""
    model: str = ""

    @property
    def label(self) -> str:
        """ "AMD EPYC 25/17": name, family and model."""
        short = re.sub(r"\((R|TM|r|tm)\)| Processor\b| CPU\b", "", self.name)
        return " ".join(f"{short} {self.family}/{self.model}".split()) if self.family else short

    @property
    def slug(self) -> str:
        """The label as a file's name."""
        return re.sub(r"[^a-z0-9]+", "-", self.label.lower()).strip("-")


def cpu(cpuinfo: Path = Path("/proc/cpuinfo")) -> Cpu:
    try:
        text = cpuinfo.read_text()
    except OSError:
        text = ""

    def said(field: str) -> str:
        found = re.search(rf"^{field}\s*:\s*(.+)$", text, re.MULTILINE)
        return found[1].strip() if found else ""

    return Cpu(said("model name") or platform.machine(), said("cpu family"), said("model"))
