# SPDX-License-Identifier: MIT
"""A model with room for three buckets, 64, 128 and 150 tokens: its logits after every token of three sequences."""

import numpy as np

from reference.dump.cases import Case, Shape, model_case
from reference.dump.references import floors_of
from reference.model.gpt2 import Config

SHAPE = Shape(3, 150, Config(max_T=150, V=65, L=1, NH=2, C=32))


def build(name: str, seed: int) -> Case:
    case = model_case(name, seed, SHAPE)
    case.calls = [call for call in case.calls if call.results.get("out") == "logits"]
    floors = floors_of(case)["logits"].numpy().astype(np.float32)
    stored = {
        key: x for key, x in case.tensors.items() if key.startswith("param/") or key in ("tokens", "chained/logits")
    }
    return Case(name, case.config, stored | {"floor/logits": floors}, [])
