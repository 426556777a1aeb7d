# SPDX-License-Identifier: MIT
"""Writes the committed cases: reference/cases/*.safetensors and budgets.json. `make reference` runs it.

A case holds inputs, two references for each op, the floor of each row and the suspects:
  local/NAME    the op's output in float64 from its stored inputs: what a lesson's check compares with
  chained/NAME  the same tensor in float64 through the whole model: what whole-model checks compare with
  floor/NAME    the floor of each row (BUDGET.md); shape without the last dimension, or NAME's where that is one a row
  suspect/local/NAME/ID, suspect/chained/NAME/ID   what NAME would be under mistake ID (ops/OP.py)
  spread/local/NAME/ID   how far from local/NAME mistake ID may leave each row, which only loses bits
NAME is an activation's name in lessons/gpt2/tensors.h, and in the op-level cases OP.OUT as in lessons/gpt2/ops.h.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from reference.dump.cases import BUILDERS, Case, Stored
from reference.dump.pytorch_error import measure, ratios_of
from reference.dump.references import chained_suspects, check_suspects, described, floors_of, local_references
from reference.model import gpt2
from reference.ops import OPS
from reference.ops.common.op import Op

CASES = Path(__file__).parents[1] / "cases"
DRAWS = 17  # the committed draw and 16 more


def complete(case: Case, ratios: dict) -> dict[str, Stored]:
    tensors = dict(case.tensors)
    tensors |= {f"floor/{name}": value.numpy().astype(np.float32) for name, value in floors_of(case).items()}
    tensors |= local_references(case) | chained_suspects(case)
    for name, value in tensors.items():
        if not name.startswith(("suspect/", "spread/")) and not torch.as_tensor(value).double().isfinite().all():
            raise ValueError(f"case {case.name}: {name} is not finite; draw its inputs narrower")
    check_suspects(case, tensors, ratios)
    return tensors


def sentences_of(ops: dict[str, Op]) -> dict[str, str]:
    """The sentence of each mistake, by its id. A case stores one sentence per id: ops that list the same id with two
    sentences are a ValueError."""
    sentences: dict[str, str] = {}
    for name, op in ops.items():
        for id, suspect in op.suspects.items():
            if sentences.setdefault(id, suspect.sentence) != suspect.sentence:
                raise ValueError(
                    f"{name}: another op has a suspect {id} with another sentence, "
                    f"'{sentences[id]}'; give one of them another id"
                )
    return sentences


def metadata_of(case: Case, tensors: dict[str, Stored]) -> dict[str, str]:
    known = sentences_of(OPS)
    ids = sorted({key.rsplit("/", 1)[-1] for key in tensors if key.startswith(("suspect/", "spread/"))})
    sentences = {id: known[id] for id in ids}
    return {
        "case": case.name,
        "config": json.dumps(case.config),
        "suspects": json.dumps(sentences),
        "calls": json.dumps([described(case, call, tensors) for call in case.calls]),
    }


# How a safetensors file names elements.
DTYPES = {
    torch.float32: "F32",
    torch.int32: "I32",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.float8_e4m3fn: "F8_E4M3",
    torch.float8_e5m2: "F8_E5M2",
}


def safetensors_bytes(tensors: dict[str, Stored], metadata: dict[str, str]) -> bytes:
    """A safetensors file whose bytes depend on its content only: the widest elements first, which keeps all of them
    aligned, names in order, data from a multiple of 64 on. The package's own `save` writes the metadata in an order
    that is another in each process."""
    header: dict = {"__metadata__": metadata}
    parts: list[bytes] = []
    offset = 0
    values = {name: torch.as_tensor(tensors[name]) for name in sorted(tensors)}
    for name, value in sorted(values.items(), key=lambda item: -item[1].element_size()):
        part = value.contiguous().flatten().view(torch.uint8).numpy().tobytes()
        header[name] = {
            "dtype": DTYPES[value.dtype],
            "shape": list(value.shape),
            "data_offsets": [offset, offset + len(part)],
        }
        parts.append(part)
        offset += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 64)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def dump(
    out: Path,
    draws: int = DRAWS,
    ratios: dict | None = None,
    progress: Callable[[str], None] = print,
    fresh: bool = False,
) -> None:
    """Writes all cases and budgets.json to out, or nothing. Stored ratios stay while they agree, but for `fresh`."""
    if ratios is None:
        path = out / "budgets.json"
        stored = json.loads(path.read_text()) if path.exists() and not fresh else {}
        ratios = ratios_of(*measure(draws, progress), draws, stored)
    files = {out / "budgets.json": (json.dumps(ratios, indent=1) + "\n").encode()}
    for name, build in BUILDERS.items():
        case = build(name, 0)
        tensors = complete(case, ratios)
        files[out / f"{name}.safetensors"] = safetensors_bytes(tensors, metadata_of(case, tensors))
    gpt2.write_all(files)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=CASES, help="folder to write to (default: reference/cases)")
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"draws of each case for PyTorch's error ({DRAWS})")
    parser.add_argument("--fresh", action="store_true", help="write PyTorch's error as it is measured here and now")
    args = parser.parse_args()
    if args.draws < 1:
        parser.error("--draws must be at least 1")
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - start:5.1f} s  {text}", flush=True)

    torch.set_num_threads(1)  # small tensors: threads would only wait for each other
    try:
        args.out.mkdir(parents=True, exist_ok=True)  # before the work, not after it
        dump(args.out, args.draws, progress=say, fresh=args.fresh)
    except OSError as error:
        print(f"dump: cannot write to {args.out}: {error.strerror}; nothing was changed there", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"dump: {error}", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in args.out.iterdir())
    say(f"wrote {args.out}: {len(BUILDERS)} cases, {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
