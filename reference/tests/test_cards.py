# SPDX-License-Identifier: MIT
"""reference/cards.toml: each card is whole, and its numbers agree with each other."""

import tomllib

import pytest

from reference.gpu import cards
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


@pytest.mark.parametrize("table", ["card", "sm"])
def test_what_is_assumed_is_a_number_that_is_there(table):
    for row in DATA[table].values():
        assert row.keys() >= set(row.get("assumed", []))


def test_the_limits_are_the_files_without_tomllib():
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
