# SPDX-License-Identifier: MIT
"""Writes the inputs that fuzzing starts from: corpus/TARGET/NAME, each with what it is there for.

An input that the fuzzer found is kept as a file of its own and named in FOUND; it is not written here.
"""

import json
import struct
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"

# What the fuzzer found, by target: name and what went wrong with it.
FOUND: dict[str, dict[str, str]] = {"config": {}, "safetensors": {}}


# ---- safetensors: 8 bytes with the header's length, the header as JSON, the data -------------------------------------


def raw(header: bytes, data: bytes = b"", length: int | None = None) -> bytes:
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def file_of(tensors: dict, zeros: int, separators: tuple[str, str] | None = None) -> bytes:
    return raw(json.dumps(tensors, separators=separators).encode(), bytes(zeros))


def tensor(shape: list, begin: int, end: int, dtype: str = "F32") -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def padded(tensors: dict) -> bytes:
    """A header as PyTorch's writer leaves it: no spaces but at its end, up to a multiple of 8."""
    header = json.dumps(tensors, separators=(",", ":")).encode()
    return header + b" " * (-len(header) % 8)


def all_types() -> dict:
    """Three elements of each type that NumPy has, the widest first; names in another order than the data."""
    tensors = {}
    begin = 0
    types = {
        "t3": "I64",
        "t0": "F64",
        "t1": "F32",
        "t4": "I32",
        "t2": "F16",
        "t5": "I16",
        "t6": "I8",
        "t7": "U8",
        "t8": "BOOL",
    }
    for name, dtype in types.items():
        end = begin + 3 * {"I64": 8, "F64": 8, "F32": 4, "I32": 4, "F16": 2, "I16": 2}.get(dtype, 1)
        tensors[name] = tensor([3], begin, end, dtype)
        begin = end
    return tensors


ONE = {"__metadata__": {"k": "v"}, "a": tensor([2, 3], 0, 24)}
TWO_OF_A_NAME = (
    b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}'
)

SAFETENSORS = {
    # Good files.
    "one": ("metadata and one tensor, as a writer leaves them", raw(padded(ONE), struct.pack("<6f", *range(6)))),
    "types": ("a tensor of each type that NumPy has", raw(padded(all_types()), bytes(93))),
    "bfloat16": ("a tensor of the type that NumPy lacks", file_of({"a": tensor([3], 0, 6, "BF16")}, 6)),
    "scalar": ("a tensor without dimensions", file_of({"a": tensor([], 0, 4)}, 4)),
    "empty_tensor": ("a dimension of 0, so no data", file_of({"a": tensor([0, 5], 0, 0)}, 0)),
    "escape": ("a terminal's escape and a letter beyond ASCII", file_of({"a\x1b[31mé": tensor([1], 0, 4)}, 4)),
    "metadata_only": ("metadata and no tensor", file_of({"__metadata__": {"a": "b"}}, 0)),
    "no_tensors": ("an empty header", raw(b"{}")),
    # The length of the header.
    "empty_file": ("no bytes", b""),
    "short": ("ends within the header's length", b"\1\2"),
    "zero_header": ("a header of no bytes", raw(b"")),
    "huge_header": ("a header's length of 2**63", raw(b"{}", length=1 << 63)),
    # The header as JSON.
    "not_json": ("a header that is no JSON", raw(b"hello")),
    "array": ("a header that is an array", raw(b"[1,2]")),
    "deep": ("2,000 nested arrays", raw(b"[" * 2000)),
    "duplicate": ("one name twice", raw(TWO_OF_A_NAME, bytes(2))),
    "missing_key": ("a tensor without shape and offsets", file_of({"a": {"dtype": "F32"}}, 0)),
    "null": ("null for a tensor", file_of({"a": None}, 0)),
    "boolean": ("true for a tensor", file_of({"a": True}, 0)),
    "dtype": ("an unknown type", file_of({"a": tensor([1], 0, 4, "F31")}, 4)),
    # Shapes and offsets.
    "negative": ("a negative dimension", file_of({"a": tensor([-1], 0, 4)}, 4)),
    "float_shape": ("a dimension that is no whole number", file_of({"a": tensor([1.5], 0, 4)}, 4)),
    "overflow": ("dimensions whose product is beyond 64 bits", file_of({"a": tensor([1 << 40, 1 << 40], 0, 4)}, 4)),
    "empty_beyond_int64": ("a dimension of 2**63 beside one of 0", file_of({"a": tensor([0, 1 << 63], 0, 0)}, 0)),
    "reversed": ("offsets in the wrong order", file_of({"a": tensor([1], 4, 0)}, 4)),
    "beyond": ("offsets beyond the file's end", file_of({"a": tensor([4], 0, 16)}, 4)),
    "overlap": ("two tensors that share bytes", file_of({"a": tensor([1], 0, 4), "b": tensor([1], 2, 6)}, 6)),
    "hole": ("bytes that belong to no tensor", file_of({"a": tensor([1], 0, 4), "b": tensor([1], 8, 12)}, 12)),
    "trailing": ("bytes after the last tensor", file_of({"a": tensor([1], 0, 4)}, 9)),
}  # fmt: skip


# ---- config.json -----------------------------------------------------------------------------------------------------

SMALL = {
    "architectures": ["GPT2LMHeadModel"],
    "model_type": "gpt2",
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-05,
    "n_positions": 256,
    "n_ctx": 256,
    "vocab_size": 256,
    "n_layer": 4,
    "n_head": 4,
    "n_embd": 128,
    "tie_word_embeddings": True,
    "tokenizer": "bytes",
}
GPT2_124M = {
    "activation_function": "gelu_new",
    "architectures": ["GPT2LMHeadModel"],
    "n_ctx": 1024,
    "n_embd": 768,
    "n_head": 12,
    "n_layer": 12,
    "n_positions": 1024,
    "vocab_size": 50257,
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
}


def config(**changed: object) -> bytes:
    return json.dumps(SMALL | changed).encode()


def without(key: str) -> tuple[str, bytes]:
    return f"no {key}", json.dumps({k: v for k, v in SMALL.items() if k != key}).encode()


CONFIG = {
    # Good files.
    "small": ("the model that comes with the course", config()),
    "gpt2_124m": ("GPT-2 as it is published", json.dumps(GPT2_124M).encode()),
    # Not a config at all.
    "nothing": ("no bytes", b""),
    "empty": ("an object without keys", b"{}"),
    "array": ("an array", b"[]"),
    "number": ("a number beyond double's range", b"1e999"),
    "nan": ("NaN, which JSON has not", b'{"n_embd": NaN}'),
    "not_json": ("ends within a value", b'{"n_embd": '),
    "deep": ("3,000 nested arrays", b"[" * 3000),
    # A key is missing.
    **{f"without_{key}": without(key) for key in SMALL},
    # Sizes that no model has.
    "with_n_embd": ("channels that the heads do not divide", config(n_embd=130)),
    "with_n_embd2": ("null for a number", config(n_embd=None)),
    "with_n_head": ("no heads, to divide by", config(n_head=0)),
    "with_n_layer": ("a negative number of layers", config(n_layer=-1)),
    "with_n_layer_4097": ("one layer more than the reader takes", config(n_layer=4097)),
    "with_n_positions": ("a size that is no whole number", config(n_positions=1.5)),
    "with_vocab_size": ("a size beyond int", config(vocab_size=1 << 31)),
    "with_vocab_size_s": ("an unknown key with a number as text", config(vocab_size_s="256")),
    # Models of another kind.
    "with_model_type": ("another model", config(model_type="llama")),
    "with_activation_function": ("the exact GELU", config(activation_function="gelu")),
    "with_layer_norm_epsilon": ("another epsilon", config(layer_norm_epsilon=1e-06)),
    "with_n_ctx": ("two lengths that differ", config(n_ctx=12)),
    "with_n_inner": ("another width of the MLP", config(n_inner=7)),
    "with_tie_word_embeddings": ("a second table for the logits", config(tie_word_embeddings=False)),
    "with_scale_attn_by_inverse_layer_idx": ("scores scaled by layer", config(scale_attn_by_inverse_layer_idx=True)),
    "with_reorder_and_upcast_attn": ("scores in another order", config(reorder_and_upcast_attn=True)),
}

INPUTS = {"config": CONFIG, "safetensors": SAFETENSORS}


def main() -> None:
    for target, inputs in INPUTS.items():
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, (_, content) in inputs.items():
            (folder / name).write_bytes(content)
        print(f"checker/fuzz/corpus/{target}: {len(inputs)} inputs")


if __name__ == "__main__":
    main()
