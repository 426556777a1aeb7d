# SPDX-License-Identifier: MIT
"""The case of all lessons with tiles of matmul."""

from reference.dump.cases import tile_case

build = tile_case(step=16, side=8)
