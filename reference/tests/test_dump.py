# SPDX-License-Identifier: MIT
"""The committed cases: equal to a fresh dump, complete, small, and every suspect far from the reference."""

import inspect
import json
import math
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open

from reference.dump import budget, cases, dump, pytorch_error, references
from reference.dump.cases import BUILDERS, MODELS, lesson_builders, pad_vocabulary
from reference.dump.dump import CASES
from reference.ops import OPS
from reference.ops.common import rounding
from reference.ops.common.op import Op, Suspect
from reference.ops.common.rounding import U, rows
from reference.ops.matmul import BLOCK, TILE

ROOT = Path(__file__).parents[2]
SENTENCES = dump.sentences_of(OPS)
RATIOS = json.loads((CASES / "budgets.json").read_text())


def read(path: Path) -> tuple[dict[str, np.ndarray], dict]:
    """All tensors and the metadata. Narrow elements are given as floats."""
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    tensors = {name: (value.float() if value.is_floating_point() else value).numpy() for name, value in stored.items()}
    return tensors, {
        "case": metadata["case"],
        **{key: json.loads(metadata[key]) for key in ("config", "suspects", "calls")},
    }


@pytest.fixture(scope="module", params=BUILDERS)
def committed(request):
    return request.param, *read(CASES / f"{request.param}.safetensors")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    dump.dump(folder, ratios=RATIOS)
    return folder


def one_ulp(name: str, got: np.ndarray, ref: np.ndarray) -> None:
    """Equal to one float32 ulp; where a sum cancels, to 1e-7 ulp of its row's largest element, which is the float64
    sum's own error."""
    assert got.dtype == ref.dtype, name
    assert got.shape == ref.shape, name
    if ref.dtype == np.int32:
        assert np.array_equal(got, ref), name
        return
    finite = np.isfinite(ref)
    assert np.array_equal(got[~finite], ref[~finite], equal_nan=True), name
    scale = np.abs(np.where(finite, ref, 0)).max(axis=-1, keepdims=True)
    allowed = np.maximum(budget.ulp(np.where(finite, ref, 0)), 1e-7 * budget.ulp(scale))
    difference = np.abs(got[finite].astype(np.float64) - ref[finite])
    assert (difference <= allowed[finite]).all(), name


def test_committed_cases_equal_a_fresh_dump(committed, fresh):
    name, tensors, metadata = committed
    again, metadata_again = read(fresh / f"{name}.safetensors")
    assert metadata_again == metadata
    assert again.keys() == tensors.keys()
    for key, value in tensors.items():
        if key.split("/")[0] not in ("local", "floor", "spread") and not key.startswith("suspect/local"):
            one_ulp(key, again[key], value)


def test_local_references_follow_from_the_stored_inputs(committed):
    """From the committed inputs, not from fresh ones: an input one ulp off may move an output by several."""
    name, tensors, _ = committed
    case = BUILDERS[name](name, 0)
    case.tensors = {key: tensors[key] for key in case.tensors}
    local = references.local_references(case)
    floors = references.floors_of(case)
    assert {key for key in tensors if key.startswith(("local/", "suspect/local/", "spread/local/"))} == local.keys()
    for key, value in local.items():
        one_ulp(key, tensors[key], value)
    for key, value in floors.items():
        np.testing.assert_allclose(tensors[f"floor/{key}"], value.numpy(), rtol=1e-5)


OPS_H = (Path(__file__).parents[2] / "lessons/gpt2/ops.h").read_text()
NOT_IN_OPS_H = {"linear_gelu": {"outputs"}}  # integers of a call
STORED_PADDED = {("matmul", "weight"): "out_stride C"}  # with the rows of wte that no token has


def declared(op: str) -> tuple[set[str], dict[str, str]]:
    """Returns an op's integers in ops.h, and the shapes of its tensors that they give: {"out": "N C"}."""
    parameters = re.search(rf"^void {op}\((.*?)\);", OPS_H, re.MULTILINE | re.DOTALL)[1]
    integers = set(re.findall(r"\bint (\w+)", parameters))
    commented = re.findall(r"\* ?(\w+),\s*// \(([\w, ]+)\)", parameters)
    shapes = {tensor: STORED_PADDED.get((op, tensor), names.replace(",", "")) for tensor, names in commented}
    return integers | NOT_IN_OPS_H.get(op, set()), {
        tensor: names for tensor, names in shapes.items() if set(names.split()) <= integers
    }


def test_shapes_are_read_from_ops_h():
    assert declared("linear") == (
        {"N", "C", "OC"},
        {"out": "N OC", "inp": "N C", "weight": "OC C", "bias": "OC"},
    )
    assert declared("encoder") == ({"B", "T", "C"}, {"out": "B T C", "tokens": "B T"})
    assert declared("attention")[1] == {"out": "B T C", "lse": "B NH T"}


def test_the_calls_of_a_case_say_how_its_tensors_were_made(committed):
    """Run as they are written, with nothing else known of the case, they give every local reference."""
    name, tensors, metadata = committed
    made = {}
    built = BUILDERS[name](name, 0)
    for call, of in zip(metadata["calls"], built.calls, strict=True):
        assert call["case"] == (of.case or built.case or name)
        args = {arg: references.taken(call["op"], arg, tensors | made, of) for arg, of in call["args"].items()}
        asked = inspect.signature(OPS[call["op"]].run).parameters
        args |= {arg: value for arg, value in (call["dims"] | call.get("scalars", {})).items() if arg in asked}
        results = OPS[call["op"]].exact(*(args[arg] for arg in asked))
        written = {key: results[result] for result, key in call["results"].items() if key is not None}
        made |= {f"local/{key}": value for key, value in written.items()}
        assert call["where"] in (next(iter(written)), call["results"].get("att", "")[: -len(".att")])
    assert made.keys() == {key for key in tensors if key.startswith("local/")}
    for key, value in made.items():
        one_ulp(key, value.numpy().astype(np.float32), tensors[key])


def test_the_integers_of_a_call_fit_its_tensors(committed):
    """An index names every dimension of its tensor; the elements of a tensor are products of the integers."""
    _, tensors, metadata = committed
    for call in metadata["calls"]:
        (integers, shapes), dims = declared(call["op"]), call["dims"]
        assert set(dims) == integers, call
        stored = {arg: tensors[of] for arg, of in call["args"].items() if of is not None}
        stored |= {result: tensors[f"local/{of}"] for result, of in call["results"].items() if of is not None}
        for tensor, names in call.get("index", {}).items():
            assert len(names.split()) == stored[tensor].ndim, (call["where"], tensor)
        for tensor in stored.keys() & shapes.keys():
            assert stored[tensor].size == math.prod(dims[name] for name in shapes[tensor].split()), (call, tensor)
        if call["where"] in ("logits", "probs"):  # the padding is not written
            assert dims["OC" if call["op"] == "matmul" else "V"] == metadata["config"]["V"]


def test_narrow_elements_are_stored_as_they_are(tmp_path):
    """An odd number of bytes of narrow elements leaves floats aligned, and references follow from rounded values."""
    op = Op(
        results=("out",), run=lambda inp, scale: inp * scale, in_bf16=("inp",), floors=lambda r, inp, scale: r["out"]
    )
    drawn = np.array([[1.0, 1.001, -3.14159]], dtype=np.float32)
    scale = torch.tensor([2.0, 0.5, 0.25]).to(torch.float8_e4m3fn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OPS, "scaled", op)
        case = cases.op_case("tiny", {}, [cases.op_call("scaled", {"inp": drawn, "scale": scale}, "out", ())])
        tensors = dump.complete(case, RATIOS)
    path = tmp_path / "tiny.safetensors"
    path.write_bytes(dump.safetensors_bytes(tensors, {"case": "tiny"}))
    with safe_open(path, framework="pt") as file:
        stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    rounded = torch.from_numpy(drawn).bfloat16()
    assert stored["input/scaled/inp"].dtype == torch.bfloat16
    assert torch.equal(stored["input/scaled/inp"], rounded)
    assert stored["input/scaled/scale"].dtype == torch.float8_e4m3fn
    assert torch.equal(stored["input/scaled/scale"].float(), scale.float())
    assert torch.equal(stored["local/scaled.out"], rounded.float() * scale.float())
    text = path.read_bytes()
    header = json.loads(text[8 : 8 + int.from_bytes(text[:8], "little")])
    assert all(of["data_offsets"][0] % 4 == 0 for of in header.values() if of.get("dtype") == "F32")


@pytest.fixture
def grown(monkeypatch) -> Callable[..., cases.Case]:
    """Returns a function that makes a case of a sequence of an op that adds to its in-out tensor, which it takes in
    bfloat16 if asked."""

    def make(steps: list[tuple[dict, tuple[str, ...]]], narrow: bool = False) -> cases.Case:
        op = Op(
            results=("total", "square"),
            run=lambda total, inp, step: (total + inp, step * inp * inp),
            floors=lambda results, *_: tuple(U * rows(results[name].abs()) for name in ("total", "square")),
            dims=lambda at: {"N": at["inp"][0]},
            suspects={"forgotten": Suspect("the state was forgotten", lambda total, inp, step: {"total": inp})},
            in_bf16=("total",) if narrow else (),
        )
        monkeypatch.setitem(OPS, "grown", op)
        return cases.op_case("tiny", {}, cases.op_sequence("grown", "two steps", steps, "total square"))

    return make


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


FIRST = {"total": floats(1, 3), "inp": floats(2**-30, 0.001), "step": 1}
SECOND = {"inp": floats(-1, 7), "step": 2}


def test_a_sequence_goes_on_from_the_float64_result_of_each_call(grown):
    """2^-30 beside 1 is lost in float32."""
    case = grown([(FIRST, ()), (SECOND, ("forgotten",))])
    ratios = {"own": {}, "local": {name: {"fp32": 1.0, "tf32": 1.0} for name in ("grown.total", "grown.square")}}
    tensors = dump.complete(case, ratios)
    expected = np.float64(FIRST["total"]) + FIRST["inp"] + SECOND["inp"]
    assert np.array_equal(tensors["local/grown.2.total"], expected.astype(np.float32))
    assert tensors["local/grown.2.total"][0] == 2**-30
    assert np.array_equal(tensors["suspect/local/grown.2.total/forgotten"], SECOND["inp"])
    assert not any(name.startswith("input/grown.2/total") for name in tensors)
    first, second = json.loads(dump.metadata_of(case, tensors)["calls"])
    assert (first["sequence"], second["sequence"]) == ("two steps", "two steps")
    assert second["args"] == {"total": "local/grown.1.total", "inp": "input/grown.2/inp"}
    assert second["results"] == {"total": "grown.2.total", "square": "grown.2.square"}
    assert second["dims"] == {"N": 2, "step": 2}


def test_narrow_state_is_rounded_between_the_calls_of_a_sequence(grown):
    case = grown([(FIRST, ()), (SECOND, ())], narrow=True)
    first = torch.from_numpy(FIRST["total"]).bfloat16().double() + torch.from_numpy(FIRST["inp"])
    expected = first.bfloat16().double() + torch.from_numpy(SECOND["inp"])
    got = references.local_references(case)["local/grown.2.total"]
    assert np.array_equal(got, expected.numpy().astype(np.float32))


def test_pytorchs_error_of_a_sequence_is_that_of_all_its_calls(grown):
    """In float32 it ends at 0 in place of 2^-30: an error of 1 / U floors."""
    first = {"total": floats(1), "inp": floats(2**-30), "step": 1}
    ratios = pytorch_error.pytorch_ratios(grown([(first, ()), ({"inp": floats(-1), "step": 2}, ())]))
    assert ratios["local", "grown.total", "fp32"] == 1 / U


def test_a_tensor_given_to_a_later_call_replaces_the_state(grown):
    case = grown([(FIRST, ()), (SECOND | {"total": floats(5, 5)}, ())])
    assert case.calls[1].args["total"] == "input/grown.2/total"
    assert np.array_equal(references.local_references(case)["local/grown.2.total"], 5 + SECOND["inp"])


@pytest.mark.parametrize(
    ("steps", "refusal"),
    [
        ([FIRST], "the sequence two steps of grown has 1 call; a sequence has two or more"),
        ([FIRST, {"step": 2}], "call 2 of the sequence two steps of grown has no inp"),
        ([FIRST, SECOND | {"beta": 1}], "call 2 of the sequence two steps of grown has a beta that call 1 lacks"),
        ([{"inp": FIRST["inp"], "step": 1}, FIRST], "call 2 of .* has a total that call 1 lacks"),
    ],
)
def test_what_is_no_sequence_is_refused_in_one_line(grown, steps: list[dict], refusal: str):
    with pytest.raises(ValueError, match=f"^{refusal}$"):
        grown([(step, ()) for step in steps])


def test_state_that_no_call_makes_is_refused_in_one_line(grown):
    case = grown([(FIRST, ()), (SECOND, ())])
    case.calls.pop(0)
    with pytest.raises(
        ValueError, match=r"^case tiny: a call of grown goes on from local/grown.1.total, which no call"
    ):
        references.local_references(case)


def test_a_dump_is_the_same_bytes_twice(fresh, tmp_path):
    dump.dump(tmp_path, ratios=RATIOS)
    assert all((tmp_path / path.name).read_bytes() == path.read_bytes() for path in fresh.iterdir())


def test_references_and_floors_are_finite_and_shaped_alike(committed):
    _, tensors, _ = committed
    for key, value in tensors.items():
        scope, _, name = key.partition("/")
        if scope in ("local", "chained"):
            assert np.isfinite(value).all(), key
            floor = tensors[f"floor/{name}"]
            one_a_row = name.endswith(("mean", "rstd", "lse", "losses"))
            assert floor.shape == (value.shape if one_a_row else value.shape[:-1] or (1,)), key
            assert (floor > 0).all(), key
        elif scope == "suspect":
            reference = "/".join(key.split("/")[1:3])
            assert value.shape == tensors[reference].shape, key


@pytest.mark.parametrize("name", MODELS)
def test_model_cases_hold_every_tensor(name):
    tensors, metadata = read(CASES / f"{name}.safetensors")
    c = metadata["config"]
    layer = ["ln_1", "ln_1_mean", "ln_1_rstd", "qkv", "attn", "lse", "attn_proj", "residual_1", "ln_2", "ln_2_mean"]
    layer += ["ln_2_rstd", "fc", "fc_gelu", "fc_proj", "residual_2"]
    names = [f"h.{l}.{x}" for l in range(c["L"]) for x in layer]
    names += ["encoded", "ln_f", "ln_f_mean", "ln_f_rstd", "logits", "probs", "losses", "loss_lse"]
    inner = [f"h.{l}.{x}" for l in range(c["L"]) for x in ("scores", "att")]
    softmax = [f"h.{l}.causal_softmax.{x}" for l in range(c["L"]) for x in ("att", "lse")]
    local = [*softmax, "loss.losses"]
    assert {key for key in tensors if key.startswith("chained/")} == {f"chained/{x}" for x in names + inner}
    assert {key for key in tensors if key.startswith("local/")} == {f"local/{x}" for x in names + local}
    assert {key for key in tensors if key.startswith("floor/")} == {f"floor/{x}" for x in names + inner + local}
    assert c["Vp"] % 128 == 0
    assert c["Vp"] >= c["V"]
    assert tensors["param/wte.weight"].shape == (c["Vp"], c["C"])
    for key in ("param/wte.weight", "chained/logits", "chained/probs"):
        padding = tensors[key][c["V"] :] if key.startswith("param") else tensors[key][..., c["V"] :]
        assert (padding == 0).all()
    assert tensors["chained/logits"].shape == (c["B"], c["T"], c["Vp"])
    for key in ("local/h.0.causal_softmax.att", "chained/h.0.att", "chained/h.0.scores"):
        assert (np.triu(tensors[key], 1) == 0).all()


@pytest.mark.parametrize("name", MODELS)
def test_weights_are_drawn_wide(name):
    tensors, metadata = read(CASES / f"{name}.safetensors")
    c = metadata["config"]
    bias, gain = tensors["param/h.0.mlp.c_fc.bias"], tensors["param/h.0.ln_2.weight"]
    assert bias.std() == pytest.approx(0.1, rel=0.3)
    assert gain.std() == pytest.approx(0.2, rel=0.35)
    scores = tensors["chained/h.0.scores"] / math.sqrt(c["C"] / c["NH"])
    if c["T"] > 1:
        assert scores[..., *np.tril_indices(c["T"])].std() == pytest.approx(3, rel=0.35)


def test_a_case_has_rows_where_epsilon_counts(committed):
    _, tensors, metadata = committed
    inputs = tensors.get("chained/encoded", tensors.get("input/layernorm/inp"))
    has_layernorm = any(call["op"] == "layernorm" for call in metadata["calls"])
    assert (inputs is not None) == has_layernorm
    assert not has_layernorm or inputs.astype(np.float64).var(-1).min() < 5e-5


def test_suspects_have_sentences_and_only_suspects_do(committed):
    _, tensors, metadata = committed
    ids = {key.rsplit("/", 1)[-1] for key in tensors if key.startswith(("suspect/", "spread/"))}
    assert ids == metadata["suspects"].keys()
    assert all(sentence == SENTENCES[id] for id, sentence in metadata["suspects"].items())


def test_sentences_differ_and_belong_to_a_suspect():
    used = set()
    for path in CASES.glob("*.safetensors"):
        used |= read(path)[1]["suspects"].keys()
    assert used == SENTENCES.keys()
    assert len(set(SENTENCES.values())) == len(SENTENCES)


def test_two_sentences_for_one_mistake_are_refused():
    says = {text: Op(suspects={"not_divided": Suspect(text, lambda x: x)}) for text in ("no division", "out undivided")}
    alike = says["no division"]
    assert dump.sentences_of({"softmax": alike, "causal_softmax": alike}) == {"not_divided": "no division"}
    with pytest.raises(
        ValueError, match=r"^attention: another op has a suspect not_divided .* 'no division'; give one"
    ):
        dump.sentences_of({"softmax": alike, "attention": says["out undivided"]})


EXPECTED = {
    "encoder.out": "position_off_by_one",
    "layernorm.out": "variance_c_minus_1 eps_missing eps_outside_root mean_not_subtracted bias_dropped",
    "residual_layernorm.out": "variance_c_minus_1 eps_missing mean_not_subtracted bias_dropped inp1_alone",
    "residual_layernorm.residual": "residual_is_inp1 residual_is_out",
    "residual_layernorm.mean": "first_turn_only lane_0_only inp1_alone",
    "gelu.out": "exact_gelu exponential_of_u",
    "matmul.out": "weight_transposed bias_dropped tail_of_8_dropped tail_of_16_dropped last_block_dropped "
    "last_block_only bias_each_block weight_block_reused "
    "tail_of_32_dropped last_tile_only bias_each_tile tile_not_cleared",
    "linear.out": "weight_transposed bias_dropped bias_along_rows",
    "linear_gelu.out": "weight_transposed bias_dropped bias_along_rows gelu_before_bias gelu_missing",
    "linear_gelu.pre_gelu": "weight_transposed bias_dropped bias_along_rows pre_gelu_after_gelu",
    "attention.out": "no_mask mask_off_by_one no_scale scale_by_channels heads_interleaved no_max_subtraction",
    "causal_softmax.att": "no_max_subtraction no_mask mask_off_by_one no_scale",
    "op_few.att": "mask_after_softmax scale_applied_twice",
    "op_few.lse": "lanes_not_rescaled first_lane_only filled_up_to_4 lse_without_maximum lse_by_log2",
    "op_online.lse": "rescale_missing rescale_missing_of_floats rescale_inverted",
    "softmax.probs": "no_max_subtraction includes_padding",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_op_level_cases_have_the_suspects_of_the_lessons(name):
    keys = set()
    for case in BUILDERS.keys() - MODELS.keys():
        keys |= read(CASES / f"{case}.safetensors")[0].keys()
    for id in EXPECTED[name].split():
        if (name, id) != ("softmax.probs", "includes_padding"):
            assert f"suspect/local/{name}/{id}" in keys
    assert "suspect/local/probs/includes_padding" in read(CASES / "odd.safetensors")[0]
    assert "suspect/local/h.0.fc_gelu/exponential_of_plus_2u" in read(CASES / "regular.safetensors")[0]


def test_suspects_are_told_apart(committed):
    """No two suspects of a tensor are the same output: a finding must name one."""
    _, tensors, _ = committed
    by_tensor: dict[str, list[str]] = {}
    for key in tensors:
        if key.startswith("suspect/"):
            by_tensor.setdefault(key.rsplit("/", 1)[0], []).append(key)
    main = [keys for keys in by_tensor.values() if not keys[0].split("/")[2].endswith(("mean", "rstd", "lse"))]
    for keys in main:
        for i, key in enumerate(keys):
            assert not any(np.array_equal(tensors[key], tensors[other], equal_nan=True) for other in keys[:i]), key


def test_committed_suspects_are_ten_budgets_away(committed):
    name, tensors, _ = committed
    references.check_suspects(BUILDERS[name](name, 0), tensors, RATIOS)


def budgets_from(tensors: dict, case: str, scope: str, name: str, id: str, got: torch.Tensor, output: str) -> float:
    """Budgets between a float32 result and a suspect; infinite where their non-finite elements differ."""
    suspect, got = tensors[f"suspect/{scope}/{name}/{id}"], got.float().numpy()
    finite = np.isfinite(suspect)
    if not np.array_equal(finite, np.isfinite(got)):
        return math.inf
    ratio = budget.ratio_in(RATIOS, case, scope, output, "fp32")
    suspect, got = np.where(finite, suspect, 0), np.where(finite, got, 0)
    return budget.verdict(got, suspect, tensors[f"floor/{name}"], ratio, budget.k_of("fp32")).used


def test_a_mistake_made_in_float32_fits_its_suspect(committed):
    """The checker takes 4 budgets as a fit; the floors are the right op's, and a mistake may have larger numbers."""
    name, tensors, _ = committed
    case = BUILDERS[name](name, 0)
    for call in case.calls:
        args = references.arguments_of(case, call, lambda *_: torch.float32)
        for id in call.suspects:
            for out, got in OPS[call.op].wrong(id, *args).items():
                if f"suspect/local/{call.results[out]}/{id}" in tensors:
                    used = budgets_from(tensors, name, "local", call.results[out], id, got, f"{call.op}.{out}")
                    assert used < 3, (id, out)
    if case.model is None:
        return
    model = case.model.float()
    tokens, targets = (references.argument(case.tensors, x) for x in ("tokens", "targets"))
    for id in {key.rsplit("/", 1)[-1] for key in tensors if key.startswith("suspect/chained/")}:
        for out, got in pad_vocabulary(OPS["forward"].suspects[id].run(model, tokens, targets), model.config).items():
            if f"suspect/chained/{out}/{id}" in tensors:
                assert budgets_from(tensors, name, "chained", out, id, got, out) < 3, (id, out)


@pytest.mark.parametrize("precision", ["fp32", "tf32"])
def test_a_suspect_that_hides_stops_the_dump(precision, tmp_path):
    widths = {"fp32": 1.0, "tf32": 1.0, precision: 1e9}
    wider = {"own": {}} | {scope: dict.fromkeys(RATIOS[scope], widths) for scope in ("local", "chained")}
    with pytest.raises(
        ValueError, match=rf"case regular: suspect \w+ differs from .* by .* {precision} budgets, not by 10"
    ):
        dump.dump(tmp_path, ratios=wider)
    assert list(tmp_path.iterdir()) == []


def test_large_scores_overflow_float32():
    tensors, metadata = read(CASES / "op_large_scores.safetensors")
    scaled = tensors["input/causal_softmax/scores"] * metadata["config"]["scale"]
    assert scaled.max() > 120
    assert scaled.min() < -120
    assert tensors["input/softmax/logits"].max() > 120
    for name in ("causal_softmax.att", "attention.out", "softmax.probs"):
        wrong = tensors[f"suspect/local/{name}/no_max_subtraction"]
        bad = ~np.isfinite(wrong)
        assert 0.2 < bad.mean() < 0.9, name
    # No element near the edge, where one exp overflows and another does not.
    assert not ((np.abs(scaled) > 70) & (np.abs(scaled) < 106)).any()


def test_wide_sums_have_several_blocks_and_gelu_extreme_inputs():
    tensors, metadata = read(CASES / "lesson03.safetensors")
    C = metadata["config"]["C"]
    assert C > BLOCK
    assert C % BLOCK not in (0, BLOCK // 2)
    inp = tensors["input/gelu/inp"]
    assert (inp.min(), inp.max()) == (-60, 60)
    gelu = tensors["local/gelu.out"][np.abs(inp) > 20]
    assert np.array_equal(gelu, np.maximum(inp[np.abs(inp) > 20], 0))


@pytest.mark.parametrize("block", [1000, 768, 384, 1])
def test_wide_sums_one_term_after_another_pass(block):
    """From the bias on, in blocks that are added to it, and one by one from the last term down."""
    tensors, _ = read(CASES / "lesson03.safetensors")
    inp, weight, bias = (tensors[f"input/matmul/{name}"] for name in ("inp", "weight", "bias"))
    out = np.tile(bias, (len(inp), 1))
    for start in reversed(range(0, inp.shape[1], block)):
        total = np.zeros_like(out)
        for c in range(start, min(start + block, inp.shape[1])):
            total += inp[:, c : c + 1] * weight[:, c]
        out += total
    assert out.dtype == np.float32
    ratio = RATIOS["local"]["matmul.out"]["fp32"]
    result = budget.verdict(out, tensors["local/matmul.out"], tensors["floor/matmul.out"], ratio, budget.k_of("fp32"))
    assert result.used <= 0.5


@pytest.mark.parametrize("name", ["lesson07", "lesson08", "lesson09", "lesson10"])
def test_sums_by_tiles_have_a_short_last_tile(name):
    C = read(CASES / f"{name}.safetensors")[1]["config"]["C"]
    assert C > 2 * TILE
    assert C % TILE not in (0, TILE // 2)


def test_local_and_chained_differ():
    """Local references come from stored float32 inputs: at least some element must round differently."""
    tensors, _ = read(CASES / "odd.safetensors")
    assert (tensors["local/logits"] != tensors["chained/logits"]).any()
    np.testing.assert_allclose(tensors["local/logits"], tensors["chained/logits"], atol=1e-4)


def test_cases_are_small():
    assert sum(path.stat().st_size for path in CASES.iterdir()) < 24e6


def test_tf32_rounds_to_ten_mantissa_bits():
    x = torch.tensor([1.0, 1 + 2**-10, 1 + 2**-11, 1 + 2**-11 - 2**-23, -(1 + 3 * 2**-11), 3.0e38])
    expected = torch.tensor([1.0, 1 + 2**-10, 1 + 2**-10, 1.0, -(1 + 2 * 2**-10), 3.0e38])
    assert torch.equal(rounding.tf32(x)[:5], expected[:5])
    assert torch.isfinite(rounding.tf32(x)).all()
    with rounding.RoundedFactors(rounding.tf32):
        product = torch.tensor([[1 + 2**-12]]) @ torch.tensor([[1.0]])
    assert product.item() == 1.0


GELU, SILU = ("local", "gelu.out", "fp32"), ("local", "silu.out", "fp32")


def test_a_ratio_stays_while_another_processors_agrees_with_it():
    stored = pytorch_error.ratios_of({GELU: 2.0}, {}, 17, {})
    kept = pytorch_error.ratios_of({GELU: 2.0 * pytorch_error.AGREES}, {}, 3, stored)
    assert kept == stored
    moved = pytorch_error.ratios_of({GELU: 2.1 * pytorch_error.AGREES}, {}, 3, stored)
    assert moved["local"] == {"gelu.out": {"fp32": 8.4}}
    assert moved["about"]["draws"] == 3
    assert pytorch_error.agrees(0.01, 1.0)  # both count as 1
    assert not pytorch_error.agrees(0.5, 4.1)


def test_every_case_file_is_one_that_the_dump_writes():
    assert {path.stem for path in CASES.glob("*.safetensors")} == BUILDERS.keys()


def test_a_lessons_own_case_is_built_in_its_folder(tmp_path):
    for name in ("07_tiled", "24_fp8"):
        folder = tmp_path / "solutions" / name
        folder.mkdir(parents=True)
        (folder / "cases.py").write_text(
            "from reference.dump.cases import Case\n"
            "def build(name, seed):\n"
            f"    return Case(name, {{'folder': '{name}'}}, {{}}, [])\n"
        )
    built = {name: build(name, 0).config for name, build in lesson_builders(tmp_path).items()}
    assert built == {"lesson07": {"folder": "07_tiled"}, "lesson24": {"folder": "24_fp8"}}


def test_a_lessons_own_case_moves_no_other_budget():
    ratios = pytorch_error.ratios_of({GELU: 2.0}, {"lesson24": {GELU: 5.0, SILU: 0.5}, "lesson25": {GELU: 3.5}}, 17, {})
    assert ratios["local"] == {"gelu.out": {"fp32": 2.0}}
    assert ratios["own"] == {"lesson24": {"gelu.out": {"fp32": 5.0}, "silu.out": {"fp32": 0.5}}}
    assert budget.ratio_in(ratios, "lesson24", "local", "gelu.out", "fp32") == 5.0
    assert budget.ratio_in(ratios, "lesson25", "local", "gelu.out", "fp32") == 2.0
    assert budget.ratio_in(ratios, "lesson24", "local", "silu.out", "fp32") == 0.5
    again = pytorch_error.ratios_of(
        {GELU: 2.0}, {"lesson24": {GELU: 3.0, SILU: 1.5}, "lesson25": {GELU: 3.9}}, 17, ratios
    )
    assert again == ratios


def test_the_committed_ratios_agree_with_what_this_processor_makes():
    """One draw is at most the largest of 17."""
    shared, _ = pytorch_error.measure(1, lambda _: None)
    above = {key: value for key, value in shared.items() if value > RATIOS[key[0]][key[1]][key[2]]}
    assert all(pytorch_error.agrees(RATIOS[key[0]][key[1]][key[2]], value) for key, value in above.items()), above


def test_the_checks_read_each_precisions_k_beside_the_ratios():
    assert RATIOS["k"] == {precision: budget.k_of(precision) for precision in ("fp32", "tf32", "bf16")}


def run_dump(*args: str, before=None) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "reference.dump", *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, preexec_fn=before, check=False)


def test_a_full_disk_leaves_nothing_half_written(tmp_path):
    (tmp_path / "regular.safetensors").write_text("as before")
    limit = 2_000_000  # bytes a file: the larger cases do not fit
    result = run_dump(
        "--out", str(tmp_path), "--draws", "1", before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    assert result.returncode == 1
    assert result.stderr.startswith(f"dump: cannot write to {tmp_path}: ")
    assert len(result.stderr.splitlines()) == 1
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("regular.safetensors", "as before")]


def test_an_unwritable_folder_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    result = run_dump("--out", str(tmp_path / "file" / "cases"), "--draws", "1")
    assert result.returncode == 1
    assert result.stderr.startswith("dump: cannot write to ")
    assert len(result.stderr.splitlines()) == 1
