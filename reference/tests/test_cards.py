# SPDX-License-Identifier: MIT
"""reference/cards.toml: each card is whole, and its numbers agree with each other; and the times that its peaks refuse
(impossible.py), worked out by hand."""

import math
import tomllib

import pytest

from reference.gpu import cards
from reference.gpu.costs import Cost
from reference.gpu.impossible import floor_seconds, refuse_impossible
from reference.gpu.tools import ToolError

DATA = tomllib.loads(cards.CARDS.read_text())
LANES = ("schedulers", "fp32_lanes", "int_lanes", "special_lanes", "lsu_lanes", "l1_bytes", "l1_cycles")
KEYS = {"name", "sm", "sass", "multiprocessors", "clock", "memory", "fp32", "l2", "l2_size", "l2_cycles"}
KEYS |= {"memory_cycles", "source"}


@pytest.mark.parametrize("card", DATA["card"])
def test_a_card_has_every_key_that_an_estimate_needs(card):
    assert DATA["card"][card].keys() >= KEYS
    assert DATA["sm"][str(DATA["card"][card]["sm"])].keys() >= set(LANES)


@pytest.mark.parametrize("card", DATA["card"])
def test_a_cards_peak_of_fp32_is_that_of_its_lanes_at_its_clock(card):
    row = DATA["card"][card]
    lanes = DATA["sm"][str(row["sm"])]["fp32_lanes"]
    assert 2e-6 * lanes * row["multiprocessors"] * row["clock"] == pytest.approx(row["fp32"], rel=0.01)


@pytest.mark.parametrize(
    ("card", "precision"),
    [(c, p) for c in DATA["card"] for p in ("tf32", "bf16", "fp16", "fp16_fp16") if p in DATA["card"][c]],
)
def test_a_peak_of_tensor_cores_is_a_power_of_two_in_a_cycle_of_its_clock(card, precision):
    """Multiply-adds of a multiprocessor."""
    row = DATA["card"][card]
    rate = row[precision] / (2e-6 * row["multiprocessors"] * row.get("tensor_clock", row["clock"]))
    assert rate == pytest.approx(2 ** round(math.log2(rate)), rel=0.01)
    assert 127 < rate < 2100


@pytest.mark.parametrize("table", ["card", "sm"])
def test_what_is_assumed_is_a_number_that_is_there(table):
    for row in DATA[table].values():
        assert row.keys() >= set(row.get("assumed", []))


def test_the_file_is_read_without_tomllib_as_with_it():
    assert cards.read_tables() == DATA
    for key, row in cards.read_cards().items():
        assert row == DATA["card"][key] | {"l1": row["l1"]}
    assert cards.LIMITS.keys() == {int(name) for name in DATA["sm"]}
    for name, row in DATA["sm"].items():
        assert {key: row[key] for key in vars(cards.LIMITS[int(name)])} == vars(cards.LIMITS[int(name)])


@pytest.mark.parametrize(
    ("name", "key"),
    [("H100", "H100-SXM"), ("h100-sxm", "H100-SXM"), ("RTX4090", "RTX-4090"), ("4090", "RTX-4090"), ("L4", "L4")],
)
def test_a_card_is_known_however_it_is_written(name, key):
    assert cards.read_card(name)["name"] == DATA["card"][key]["name"]


def test_an_unknown_card_lists_the_known_ones():
    with pytest.raises(ToolError, match=r"CARD=H300: it is one of H100-SXM, .*, T4"):
        cards.read_card("H300")


# ---- times that no such card can reach -------------------------------------------------------------------------------

H100 = "NVIDIA H100 80GB HBM3"
GELU = Cost(bytes=100_663_296, flop=113_246_208)  # N=12582912
SMALL = Cost(bytes=10_100_000, flop=11_400_000)
MATMUL = Cost(bytes=72_364_032, flop=19_327_352_832)  # N=4096 C=768 OC=3072


def test_cold_bytes_pass_memory_but_for_writes_that_l2_holds_back():
    assert floor_seconds(H100, GELU, "fp32") == pytest.approx(100_663_296 / 2 / 3350e9)
    large = Cost(bytes=10**9, flop=0)
    assert floor_seconds(H100, large, "fp32") == pytest.approx((10**9 - 50 * 2**20) / 3350e9)
    assert floor_seconds("NVIDIA H200", large, "fp32") == pytest.approx((10**9 - 50 * 2**20) / 4800e9)
    assert floor_seconds(H100, large, "bf16") == pytest.approx((10**9 / 2 - 50 * 2**20) / 3350e9)


def test_hot_bytes_have_no_floor():
    assert floor_seconds(H100, GELU, "fp32", hot=True) == pytest.approx(113_246_208 / 67e12)
    assert floor_seconds(H100, Cost(bytes=None, flop=0), "fp32") == 0


@pytest.mark.parametrize(
    ("precision", "rate"), [("fp32", 67e12), ("tf32", 494.7e12), ("bf16", 989.4e12), ("3xtf32", 494.7e12 / 3)]
)
def test_flop_take_their_time_at_the_peak_of_their_precision(precision, rate):
    assert floor_seconds(H100, MATMUL, precision, hot=True) == pytest.approx(19_327_352_832 / rate)


def test_three_products_of_tf32_are_no_limit_where_an_fma_is_faster():
    for card, rate in (("NVIDIA GeForce RTX 3090", 35.6e12), ("Tesla T4", 8.1e12)):
        assert floor_seconds(card, MATMUL, "3xtf32", hot=True) == pytest.approx(19_327_352_832 / rate)


def test_what_is_not_known_has_no_floor():
    assert floor_seconds("NVIDIA H300", MATMUL, "fp32") is None
    assert floor_seconds(None, MATMUL, "fp32") is None
    assert floor_seconds("Tesla T4", Cost(bytes=None, flop=5), "tf32") is None
    refuse_impossible("matmul", 1e-9, "NVIDIA H300", MATMUL, "fp32")


def test_a_time_below_the_floor_is_refused_by_name():
    with pytest.raises(ToolError) as refused:
        refuse_impossible("gelu N=1262500", 0.8e-3, H100, SMALL, "fp32")
    assert str(refused.value) == (
        "IMPOSSIBLE: gelu N=1262500: 0.8 us is less than the 1.51 us that 5.05 MB "
        "(10.1 MB less writes that L2 can hold back) take at the card's 3,350 GB/s"
    )
    with pytest.raises(ToolError) as refused:
        refuse_impossible("forward B=4", 1.1, H100, Cost(bytes=None, flop=1_089_359_314_944), "tf32", hot=True)
    assert str(refused.value) == (
        "IMPOSSIBLE: forward B=4: 1.1 ms is less than the 2.2 ms that 1.09 TFLOP take at the card's 495 TFLOP/s of tf32"
    )


def test_clocks_may_be_five_percent_above_the_datasheets():
    floor_ms = 1e3 * floor_seconds(H100, MATMUL, "fp32")
    refuse_impossible("matmul", 0.96 * floor_ms, H100, MATMUL, "fp32")
    with pytest.raises(ToolError, match="IMPOSSIBLE: matmul: "):
        refuse_impossible("matmul", 0.94 * floor_ms, H100, MATMUL, "fp32")
