# SPDX-License-Identifier: MIT
"""The ops of lessons/gpt2/ops.h, a file each: what it computes, what it may lose, how it is got wrong, what PyTorch's
own is on a GPU. A file of this folder is an op; common/ holds what several of them use."""

from importlib import import_module
from pathlib import Path

from reference.ops.common.op import Op

OPS: dict[str, Op] = {
    name: import_module(f"reference.ops.{name}").OP
    for name in sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
}
