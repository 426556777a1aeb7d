# SPDX-License-Identifier: MIT
"""Matrix products as tensor cores compute them, by the CPU device's code (checker/simt/runtime/tensor)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from reference.gpu.tools import ToolError

TOOL = Path(__file__).parents[2] / "build/tools/tile_product"


def multiply(architecture: str, kind: str, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Returns the bits of a @ b + c for each of n tiles, as an `architecture` of "sm_90" adds.

    a is (n, rows, k) and b (n, columns, k), their elements' bits in words of 32 bits; `kind` is f16, bf16 or tf32.
    c is (n, rows, columns), the bits of floats in words of 32 bits or of f16 numbers in words of 16."""
    if not TOOL.exists():
        raise ToolError(f"{TOOL.name} is not built: make build/tools/{TOOL.name}")
    tiles = [np.ascontiguousarray(part).reshape(len(part), -1).view(np.uint8) for part in (a, b, c)]
    words = [architecture, kind, "f16" if c.dtype.itemsize == 2 else "f32", a.shape[1], b.shape[1], a.shape[2]]
    done = subprocess.run(
        [TOOL, *map(str, words)], input=np.concatenate(tiles, 1).tobytes(), capture_output=True, check=False
    )
    if done.returncode != 0:
        raise ToolError(done.stderr.decode().strip() or f"{TOOL.name} ended with {done.returncode}")
    return np.frombuffer(done.stdout, c.dtype).reshape(c.shape)
