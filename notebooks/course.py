# SPDX-License-Identifier: MIT
"""What each notebook imports first: a kernel that starts in this folder works in the repository's, as make does, and
knows its modules."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
os.chdir(ROOT)
sys.path.insert(0, str(ROOT))

from reference.notebooks.show import show  # noqa: E402 (found there)

__all__ = ["show"]
