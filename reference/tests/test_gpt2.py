# SPDX-License-Identifier: MIT
"""reference/model/gpt2.py equals Hugging Face's GPT2LMHeadModel, and reads and writes its folders."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel

from reference.model.gpt2 import GPT2, Config, load, save_folder

CONFIGS = {
    "regular": Config(max_T=16, V=200, L=2, NH=4, C=64),
    "odd": Config(max_T=41, V=101, L=2, NH=3, C=60),
    "head64": Config(max_T=16, V=65, L=1, NH=2, C=128),
    "one_head": Config(max_T=7, V=33, L=3, NH=1, C=20),
}


def hugging_face(c: Config, seed: int = 0) -> GPT2LMHeadModel:
    """A random model, drawn wide: with the usual std 0.02 a swapped weight would hardly show."""
    config = GPT2Config(vocab_size=c.V, n_positions=c.max_T, n_embd=c.C, n_layer=c.L, n_head=c.NH)
    model = GPT2LMHeadModel(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(0, 0.2, generator=generator)
            if ".ln_" in name and name.endswith("weight"):
                parameter += 1
    return model


def tokens_of(c: Config, B: int = 2) -> torch.Tensor:
    return torch.randint(0, c.V, (B, c.max_T), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("keep", [None, {}], ids=["fused", "keeping"])
def test_logits_equal_hugging_face(tmp_path, name, keep):
    c = CONFIGS[name]
    theirs = hugging_face(c)
    theirs.save_pretrained(tmp_path)
    ours = load(tmp_path).double()
    tokens = tokens_of(c)
    with torch.no_grad():
        expected = theirs.double()(tokens).logits
        logits, _ = ours(tokens, keep=keep)
    assert ours.config == c
    assert expected.abs().max() > 1
    assert (logits - expected).abs().max() < 1e-10


def test_loss_equals_hugging_face(tmp_path):
    c = CONFIGS["odd"]
    theirs = hugging_face(c)
    theirs.save_pretrained(tmp_path)
    ours = load(tmp_path).double()
    tokens = tokens_of(c)
    with torch.no_grad():
        expected = theirs.double()(tokens, labels=tokens).loss  # shifts the labels by itself
        _, losses = ours(tokens[:, :-1], tokens[:, 1:])
        _, kept = ours(tokens[:, :-1], tokens[:, 1:], keep={})
    assert losses.mean().item() == pytest.approx(expected.item(), abs=2e-6)  # theirs is taken in float32
    assert (losses - kept).abs().max() < 1e-10


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_hugging_face_loads_what_we_save(tmp_path, dtype):
    c = CONFIGS["odd"]
    ours = GPT2(c)
    ours.init_weights(seed=3)
    save_folder(ours, tmp_path, dtype)
    theirs = GPT2LMHeadModel.from_pretrained(tmp_path, dtype=torch.float32).eval().double()
    again = load(tmp_path).double()  # the stored, rounded weights
    tokens = tokens_of(c)
    with torch.no_grad():
        assert (again(tokens)[0] - theirs(tokens).logits).abs().max() < 1e-10
    assert load_file(tmp_path / "model.safetensors")["transformer.wte.weight"].dtype == dtype


def test_float32_survives_a_round_trip(tmp_path):
    ours = GPT2(CONFIGS["regular"])
    ours.init_weights(seed=5)
    save_folder(ours, tmp_path, extra={"tokenizer": "bytes"})
    again = load(tmp_path)
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in ours.state_dict().items())
    assert json.loads((tmp_path / "config.json").read_text())["tokenizer"] == "bytes"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "model.safetensors"]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_storage_loads_exactly(tmp_path, dtype):
    theirs = hugging_face(CONFIGS["regular"]).to(dtype)
    theirs.save_pretrained(tmp_path)
    wpe = load(tmp_path).wpe.weight
    assert wpe.dtype == torch.float32
    assert torch.equal(wpe, theirs.transformer.wpe.weight.float())


def rewrite(folder, change) -> None:
    """Applies change to the dict of stored tensors."""
    path = folder / "model.safetensors"
    stored = load_file(path)
    stored = {name: tensor.clone() for name, tensor in change(stored).items()}
    save_file(stored, path, metadata={"format": "pt"})


@pytest.fixture
def folder(tmp_path):
    hugging_face(CONFIGS["odd"]).save_pretrained(tmp_path)
    return tmp_path


def test_published_layout_loads(folder):
    """No `transformer.`, mask buffers named attn.bias: as the published GPT-2 files have it."""
    before = load(folder).state_dict()
    mask = torch.ones(1, 1, 41, 41).tril()

    def published(stored):
        stored = {name.removeprefix("transformer."): tensor for name, tensor in stored.items()}
        return stored | {"h.0.attn.bias": mask, "h.1.attn.bias": mask, "h.1.attn.masked_bias": torch.tensor(-1e4)}

    rewrite(folder, published)
    after = load(folder).state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_stored_head_equal_to_wte_loads(folder):
    rewrite(folder, lambda stored: stored | {"lm_head.weight": stored["transformer.wte.weight"]})
    load(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s | {"lm_head.weight": s["transformer.wte.weight"] + 1}, "lm_head.weight differs"),
        (lambda s: {n: t for n, t in s.items() if "ln_f.bias" not in n}, "ln_f.bias is missing"),
        (lambda s: s | {"transformer.h.2.ln_1.bias": torch.zeros(60)}, "h.2.ln_1.bias does not belong"),
        (lambda s: s | {"transformer.wpe.weight": torch.zeros(40, 60)}, r"wpe.weight is \(40, 60\)"),
        (lambda s: s | {"transformer.h.0.mlp.c_fc.weight": torch.zeros(240, 60)}, "c_fc.weight is"),
    ],
)
def test_tensors_that_do_not_fit_are_named(folder, change, message):
    rewrite(folder, change)
    with pytest.raises(ValueError, match=message):
        load(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_head": 7}, "not the shape"),
        ({"n_layer": 0}, "not the shape"),
        ({"activation_function": "gelu"}, "activation_function is 'gelu'"),
        ({"n_inner": 100}, "n_inner is 100"),
        ({"n_embd": "sixty"}, "not a GPT-2 configuration"),
    ],
)
def test_configurations_that_do_not_fit_are_named(folder, change, message):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ValueError, match=message):
        load(folder)


def test_missing_key_and_broken_files_are_named(folder):
    path = folder / "config.json"
    values = json.loads(path.read_text())
    path.write_text("{}")
    with pytest.raises(ValueError, match="'n_positions' is missing"):
        load(folder)
    path.write_text("not JSON")
    with pytest.raises(ValueError, match="not a GPT-2 configuration"):
        load(folder)
    path.write_text(json.dumps(values))
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ValueError, match="not a readable safetensors file"):
        load(folder)


def test_every_activation_of_tensors_h_is_kept():
    c = CONFIGS["regular"]
    keep = {}
    tokens = tokens_of(c)
    with torch.no_grad():
        GPT2(c)(tokens, tokens, keep)
    B, T, C, NH, V = 2, c.max_T, c.C, c.NH, c.V
    layer = {
        "ln_1": (B, T, C), "ln_1_mean": (B, T), "ln_1_rstd": (B, T), "qkv": (B, T, 3 * C), "scores": (B, NH, T, T),
        "att": (B, NH, T, T), "attn": (B, T, C), "lse": (B, NH, T), "attn_proj": (B, T, C), "residual_1": (B, T, C),
        "ln_2": (B, T, C), "ln_2_mean": (B, T), "ln_2_rstd": (B, T), "fc": (B, T, 4 * C), "fc_gelu": (B, T, 4 * C),
        "fc_proj": (B, T, C), "residual_2": (B, T, C),
    }  # fmt: skip
    expected = {f"h.{l}.{name}": shape for l in range(c.L) for name, shape in layer.items()}
    expected |= {"encoded": (B, T, C), "ln_f": (B, T, C), "ln_f_mean": (B, T), "ln_f_rstd": (B, T)}
    expected |= {"logits": (B, T, V), "probs": (B, T, V), "losses": (B, T), "loss_lse": (B, T)}
    assert {name: tuple(value.shape) for name, value in keep.items()} == expected
    assert (keep["h.0.att"].triu(1) == 0).all()
    assert (keep["h.0.scores"].triu(1) == 0).all()


def test_more_tokens_than_the_context_are_refused():
    c = CONFIGS["one_head"]
    with pytest.raises(ValueError, match="8 tokens, but this model's context is 7"):
        GPT2(c)(torch.zeros(1, 8, dtype=torch.long))
