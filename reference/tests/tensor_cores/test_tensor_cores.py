# SPDX-License-Identifier: MIT
"""The CPU device's tensor cores against sums that cards computed, and against mmasim, which others wrote and compared
with cards: all bits, for every architecture, type and shape."""

import sys
import types
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch

from reference.gpu.tools import ToolError
from reference.tensor_cores.product import multiply

ARCHITECTURES = {
    "sm_75": "Turing",
    "sm_80": "Ampere",
    "sm_89": "Ada Lovelace",
    "sm_90": "Hopper",
    "sm_120": "RTX Blackwell",
}
PRODUCTS = [
    ("f16", "f32", 8),
    ("f16", "f16", 8),
    ("f16", "f32", 16),
    ("f16", "f16", 16),
    ("bf16", "f32", 8),
    ("bf16", "f32", 16),
    ("tf32", "f32", 4),
    ("tf32", "f32", 8),
]
BOTH = [
    pytest.param(architecture, *product, id=f"{architecture}-{'-'.join(map(str, product))}")
    for architecture in ARCHITECTURES
    for product in PRODUCTS
    if architecture != "sm_75" or product in PRODUCTS[:2]
]
FIELDS = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "f32": (8, 23)}  # bits of exponent and fraction in a word
TILES = 12  # drawn in each way


@pytest.fixture(scope="module")
def simulated():
    """Returns mmasim's class. Its module for fp64 compiles C++ when it is imported: the test needs none of it."""
    sys.modules.setdefault("mmasim.arithmetic.fma", types.ModuleType("mmasim.arithmetic.fma"))
    sys.modules["mmasim.arithmetic.fma"].MMA_FMA = None
    from mmasim.nv_ptx import MMA

    def of(architecture: str, kind: str, accumulator: str, k: int):
        return MMA(ARCHITECTURES[architecture], f"m16n8k{k}.{accumulator}.{kind}.{kind}.{accumulator}")

    return of


def words_of(kind: str) -> type:
    return np.uint16 if kind in ("f16", "bf16") else np.uint32


def values(kind: str, bits: np.ndarray) -> torch.Tensor:
    """Returns the numbers that the bits are."""
    signed = torch.from_numpy(bits.astype(words_of(kind)).view(np.int16 if words_of(kind) is np.uint16 else np.int32))
    return signed.view({"f16": torch.float16, "bf16": torch.bfloat16}.get(kind, torch.float32))


def bits_of(kind: str, numbers: torch.Tensor) -> np.ndarray:
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}.get(kind, torch.float32)
    integers = numbers.to(dtype).contiguous().view(torch.int16 if words_of(kind) is np.uint16 else torch.int32)
    return integers.numpy().view(words_of(kind)).astype(np.uint32)


def with_exponents(
    random: np.random.Generator, kind: str, shape: tuple[int, ...], spread: int, middle: int = 0
) -> np.ndarray:
    """Draws numbers from 2^(middle - spread) to 2^(middle + spread + 1), and some zeros."""
    exponent, fraction = FIELDS[kind]
    bias = 2 ** (exponent - 1) - 1 + middle
    biased = random.integers(max(bias - spread, 0), min(bias + spread, 2**exponent - 2) + 1, shape)
    bits = (
        random.integers(0, 2, shape) << exponent + fraction
        | biased << fraction
        | random.integers(0, 2**fraction, shape)
    )
    return np.where(random.random(shape) < 0.03, 0, bits).astype(np.uint32)


def any_bits(random: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    return random.integers(0, 2 ** (1 + sum(FIELDS[kind])), shape).astype(np.uint32)


def special(random: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Draws zeros, subnormal numbers, the smallest and the largest ones, infinities and NaNs among ordinary numbers."""
    exponent, fraction = FIELDS[kind]
    infinity = 2**exponent - 1 << fraction
    low = 2 ** (fraction - 10) if kind == "tf32" else 1  # the least bit of a TF32 number that counts
    finite = np.array([0, low, 2**fraction - low, 2**fraction, infinity - low])
    chosen = random.choice(finite, shape)
    rare = random.choice(
        np.array([infinity, infinity + low, infinity + 2 ** (fraction - 1), infinity + 2**fraction - 1]), shape
    )
    chosen = np.where(random.random(shape) < 0.02, rare, chosen) | random.integers(0, 2, shape) << exponent + fraction
    return np.where(random.random(shape) < 0.5, chosen, with_exponents(random, kind, shape, 3)).astype(np.uint32)


def tiny(random: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Draws factors whose products are as small as accumulators get: zeros among them decide what is cut off."""
    if kind != "f16":
        return with_exponents(random, kind, shape, 3, middle=-76)
    powers = np.array([0] * 8 + [1, 1 << 1, 1 << 2, 1 << 10, 4 << 10])  # 2^-24, 2^-23, 2^-22, 2^-14, 2^-11
    return (random.choice(powers, shape) | random.integers(0, 2, shape) << 15).astype(np.uint32)


def drawn(kind: str, accumulator: str, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the bits of tiles in which wrong sums show."""
    random = np.random.default_rng(1)
    parts = []
    for draw in (
        lambda *of: with_exponents(random, *of, 1),
        lambda *of: with_exponents(random, *of, 5),
        lambda *of: with_exponents(random, *of, 12),
        lambda *of: special(random, *of),
        lambda *of: any_bits(random, *of),
    ):
        parts.append([draw(kind, (TILES, 16, k)), draw(kind, (TILES, 8, k)), draw(accumulator, (TILES, 16, 8))])
    nothing = np.zeros((TILES, 16, 8), np.uint32)
    parts.append([tiny(random, kind, (TILES, 16, k)), tiny(random, kind, (TILES, 8, k)), nothing])
    # Accumulators that cancel their products leave the lowest bits that were kept.
    for spread in (1, 4):
        a, b = with_exponents(random, kind, (TILES, 16, k), spread), with_exponents(random, kind, (TILES, 8, k), spread)
        mask = np.uint32(0xFFFFE000 if kind == "tf32" else 0xFFFFFFFF)
        exact = values(kind, a & mask).double() @ values(kind, b & mask).double().mT
        parts.append([a, b, bits_of(accumulator, -exact)])
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def by_mmasim(simulation, kind: str, accumulator: str, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    rows = values(kind, a)[:, :, None, :].expand(-1, -1, 8, -1)
    columns = values(kind, b)[:, None, :, :].expand(-1, 16, -1, -1)
    return simulation.dpa(rows, columns, values(accumulator, c)).numpy().view(words_of(accumulator))


def recorded_sums() -> dict[tuple[str, ...], tuple[np.ndarray, ...]]:
    """Returns a, b, c and the result of each recorded sum, by architecture, card and types (data/README.md)."""
    rows = defaultdict(list)
    for line in (Path(__file__).parents[1] / "data/tensor_cores.txt").read_text().splitlines():
        *of, numbers = line.split(maxsplit=4)
        rows[tuple(of)].append([int(number, 16) for number in numbers.split()])
    found = {}
    for of, numbers in rows.items():
        table = np.array(numbers, np.uint32)
        k = table.shape[1] // 2 - 1
        found[of] = table[:, None, :k], table[:, None, k : 2 * k], table[:, -2], table[:, -1]
    return found


RECORDED = recorded_sums()


@pytest.mark.parametrize(("architecture", "card", "kind", "accumulator"), RECORDED)
def test_all_bits_are_those_that_a_card_computed(architecture, card, kind, accumulator):
    a, b, c, result = RECORDED[architecture, card, kind, accumulator]
    ours = multiply(architecture, kind, a, b, c[:, None, None].astype(words_of(accumulator)))
    assert ours[:, 0, 0].tolist() == result.tolist()


def test_recorded_sums_tell_architectures_apart():
    for card, other in (("V100", "sm_75"), ("A100", "sm_90"), ("H100", "sm_80")):
        a, b, c, result = next(sums for of, sums in RECORDED.items() if of[1:] == (card, "f16", "f32"))
        assert (multiply(other, "f16", a, b, c[:, None, None])[:, 0, 0] != result).any(), card


@pytest.mark.parametrize(("architecture", "kind", "accumulator", "k"), BOTH)
def test_all_bits_are_mmasims(simulated, architecture, kind, accumulator, k):
    a, b, c = drawn(kind, accumulator, k)
    ours = multiply(architecture, kind, a, b, c.astype(words_of(accumulator)))
    theirs = by_mmasim(simulated(architecture, kind, accumulator, k), kind, accumulator, a, b, c)
    wrong = np.argwhere(ours != theirs)
    assert len(wrong) == 0, [(tuple(at), hex(ours[tuple(at)]), hex(theirs[tuple(at)])) for at in wrong[:5]]


# No sum of f16 products in a float is so small that the exponent of a zero shows.
@pytest.mark.parametrize(
    ("kind", "accumulator", "attribute", "change"),
    [
        (kind, accumulator, attribute, change)
        for kind, accumulator in [("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("tf32", "f32")]
        for attribute, change in [("F", 1), ("F", -1), ("L_max", 0), ("e_zero", 1), ("e_zero", -1)]
        if attribute != "e_zero" or (kind, accumulator) != ("f16", "f32")
    ],
)
def test_the_tiles_tell_wrong_sums_apart(simulated, kind, accumulator, attribute, change):
    """One bit more or fewer, half a chunk, and zeros aligned to another exponent."""
    k = 8 if kind == "tf32" else 16
    a, b, c = drawn(kind, accumulator, k)
    wrong = simulated("sm_90", kind, accumulator, k)
    before = getattr(wrong.arithmetic_op, attribute)
    setattr(wrong.arithmetic_op, attribute, before + change if change else before // 2)
    ours = multiply("sm_90", kind, a, b, c.astype(words_of(accumulator)))
    assert (ours != by_mmasim(wrong, kind, accumulator, a, b, c)).any()


def test_a_t4_has_no_tf32():
    zeros = np.zeros((1, 1, 1), np.uint32)
    with pytest.raises(ToolError, match="tile_product: sm_75 has no products of tf32 in f32"):
        multiply("sm_75", "tf32", zeros, zeros, zeros)
