# SPDX-License-Identifier: MIT
"""A model with small logits, in whose softmax a padding of zeros counts; and with what it gives to read a matrix by
columns, or to scale the scores twice."""

from dataclasses import replace

from reference.dump.cases import Case, Shape, model_case
from reference.model.gpt2 import Config
from reference.ops import attention, matmul

SHAPE = Shape(2, 8, Config(max_T=8, V=65, L=1, NH=2, C=32))


def build(name: str, seed: int) -> Case:
    case = model_case(name, seed, SHAPE, logits=0.3)
    of_products = {"h.0.qkv": tuple(matmul.OF_COLUMNS), "h.0.attn": tuple(attention.OF_PRODUCTS)}
    case.calls = [replace(call, suspects=of_products.get(call.results.get("out"), ())) for call in case.calls]
    return case
