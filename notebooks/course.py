# SPDX-License-Identifier: MIT
"""What each notebook imports first: makes the repository's modules known to a kernel that starts in this folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from reference.notebooks.show import show

__all__ = ["show"]
