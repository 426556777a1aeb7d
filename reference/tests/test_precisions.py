# SPDX-License-Identifier: MIT
"""The table of precisions: what is committed is what is measured, and the page and the picture say it."""

import json
from dataclasses import asdict

import pytest
import torch

from reference.gpu.tools import ToolError
from reference.plots import precisions
from reference.plots.precisions import FORMATS
from reference.tensor_cores import accumulation

DATA = json.loads(precisions.DATA.read_text())
BY_NAME = {format.name: format for format in FORMATS}


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("format", FORMATS[1:], ids=lambda format: format.name)
def test_the_committed_errors_of_the_matmul_are_measured(format):
    """The order of a float32 sum is the processor's; what rounds its factors errs as much on each."""
    tolerance = 1.0 if format.name == "FP32" else 0.02
    assert precisions.matmul_errors(format) == pytest.approx(DATA["matmul"][format.name], rel=tolerance)


def test_the_committed_losses_are_measured():
    assert precisions.loss_changes(precisions.wide_model)["FP64"] == pytest.approx(DATA["wide_loss"]["FP64"])
    exact = precisions.losses(BY_NAME["FP64"], *precisions.small_model())
    assert float(exact.mean()) == pytest.approx(DATA["small_loss"]["FP64"]["mean"])
    change = precisions.losses(BY_NAME["INT8"], *precisions.small_model()) - exact
    known = DATA["small_loss"]["INT8"]
    assert float(change.square().mean().sqrt()) == pytest.approx(known["rms"], rel=0.1)
    assert float(change.mean()) == pytest.approx(known["mean"], abs=0.1 * known["rms"])


def test_the_error_of_tf32_is_the_one_that_the_budgets_page_derives():
    assert DATA["matmul"]["TF32"]["rms"] == pytest.approx(0.6 * 2**-11, rel=0.05)
    assert DATA["matmul"]["TF32"] == pytest.approx(DATA["matmul"]["FP16"], rel=0.05)  # as many bits of fraction
    assert DATA["matmul"]["BF16"]["rms"] == pytest.approx(8 * DATA["matmul"]["TF32"]["rms"], rel=0.05)  # three fewer


def test_a_format_has_the_bits_that_its_numbers_have():
    for name, dtype in (
        ("FP64", torch.float64),
        ("FP32", torch.float32),
        ("FP16", torch.float16),
        ("BF16", torch.bfloat16),
        ("FP8 E4M3", torch.float8_e4m3fn),
        ("FP8 E5M2", torch.float8_e5m2),
    ):
        of = torch.finfo(dtype)
        assert (BY_NAME[name].bits, 2.0 ** -BY_NAME[name].fraction) == (of.bits, of.eps)
    assert BY_NAME["TF32"].bits == 19
    assert float(torch.tensor(BY_NAME["TF32"].largest)) == BY_NAME["TF32"].largest


def test_the_largest_number_of_a_row_or_a_tensor_is_the_formats_largest():
    x = torch.tensor([[0.5, -2.0, 1.0], [100.0, 30.0, 0.0], [0.0, 0.0, 0.0]])
    by_row = precisions.int8(x, -1)
    assert torch.equal(by_row.abs().amax(-1), x.abs().amax(-1))
    assert ((by_row - x).abs() <= x.abs().amax(-1, keepdim=True) / 127 / 2 * 1.0001).all()
    assert torch.equal(precisions.int8(x.mT, -2), by_row.mT)
    for name in ("FP8 E4M3", "FP8 E5M2"):
        whole = BY_NAME[name].rounded(x, -1)
        assert whole.abs().max() == 100
        assert torch.isfinite(whole).all()


def test_what_is_summed_over_has_one_scale():
    """In a product of two matrices that is the first one's columns and the second one's rows."""
    scaled = []
    with precisions.RoundedFactors(lambda x, dim: scaled.append(dim) or x):
        torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3))
        torch.ones(2, 3) @ torch.ones(3, 4)
    assert scaled == [-1, -1, -1, -2]


@pytest.mark.parametrize("signs", accumulation.SIGNS)
def test_the_committed_errors_of_sums_are_measured(signs):
    (committed,) = (of for of in DATA["accumulation"] if (of["K"], of["signs"]) == (768, signs))
    measured = asdict(accumulation.losses(768, signs, precisions.tf32_ratio()))
    assert {key: value for key, value in measured.items() if key != "signs"} == pytest.approx(
        {key: value for key, value in committed.items() if key != "signs"}, rel=1e-4
    )


def test_the_budgets_of_tf32_hold_with_sums_of_tensor_cores():
    assert {of["K"] for of in DATA["accumulation"]} == set(accumulation.LENGTHS)
    for of in DATA["accumulation"]:
        assert max(of["used_rounded"], of["used_cut"], of["used_cut_a100"]) < 1


def test_the_page_says_what_was_measured():
    text = precisions.PAGE.read_text()
    assert precisions.page(text, DATA) == text
    with pytest.raises(ToolError, match="has no place for the formats: a line <!-- formats -->"):
        precisions.page(text.replace("<!-- formats -->", ""), DATA)


def test_the_picture_has_each_format_and_its_error():
    words = precisions.DATA.with_suffix(".svg").read_text()
    for format in FORMATS:
        assert f">{format.name}<" in words
    for errors in DATA["matmul"].values():
        assert f">{precisions.power(errors['rms'])}<" in words


@pytest.mark.parametrize(
    ("number", "text"),
    [(65504, "65,504"), (3.4028e38, "3.4·10³⁸"), (-1.5e-5, "-1.5·10⁻⁵"), (0.0119, "0.012"), (1, "1")],
)
def test_numbers_have_two_digits(number, text):
    assert precisions.power(number) == text
