# SPDX-License-Identifier: MIT
"""What a call of an op must move and compute at least, as the checks count it: lessons/gpt2/check/OP.cpp, asked of
build/tools/ops. Needs nothing but Python 3.10."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reference.gpu.tools import ToolError, asked

PROGRAM = Path("build/tools/ops")


@dataclass(frozen=True)
class Cost:
    bytes: int | None  # each input read and each output written once, as float32; None where nobody says it
    flop: int  # a multiply-add is two; a tanh, an exp, a division are one each


def costs(calls: Iterable[str], program: Path = PROGRAM) -> list[Cost]:
    """Returns the cost of calls as build/tools/calls writes them: "matmul N=4096 C=768 OC=50257 -bias"."""
    calls = list(calls)
    found = asked(
        program,
        ["--costs", *calls],
        lambda rows: [Cost(row["bytes"] and round(row["bytes"]), round(row["flop"])) for row in rows],
    )
    if len(found) != len(calls):
        raise ToolError(f"{program} counted {len(found)} of {len(calls)} calls")
    return found
