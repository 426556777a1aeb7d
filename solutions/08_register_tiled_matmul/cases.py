# SPDX-License-Identifier: MIT
"""The case of all lessons with tiles of matmul."""

from reference.dump.cases import tile_case as build

__all__ = ["build"]
