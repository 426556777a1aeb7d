# SPDX-License-Identifier: MIT
"""The gpt2 program on folders that transformers wrote, against transformers' own logits."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file, save_model
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoTokenizer,
    GPT2Config,
    GPT2DoubleHeadsModel,
    GPT2ForQuestionAnswering,
    GPT2ForSequenceClassification,
    GPT2ForTokenClassification,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
)
from transformers.convert_slow_tokenizer import bytes_to_unicode

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get("GPT2_BINARY", ROOT / "build" / "gpt2-host")).absolute()

CONFIGS = {
    "odd": {"vocab_size": 301, "n_positions": 41, "n_embd": 60, "n_layer": 2, "n_head": 3},
    "head64": {"vocab_size": 256, "n_positions": 64, "n_embd": 128, "n_layer": 3, "n_head": 2},
}

# The program adds up in float32, one product after the other; the reference is in float64. An error of 2e-5 of the
# largest logit is about 300 units in the last place, some ten times what these sizes make; a wrong weight makes 1e-2.
TOLERANCE = 2e-5


def make_model(config: dict, dtype: torch.dtype) -> GPT2LMHeadModel:
    """A random model with weights wide enough that every one of them shows in the logits."""
    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(**config, bos_token_id=0, eos_token_id=0)).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("bias"):
                weight.normal_(0.0, 0.1)
            elif "ln_" in name:
                weight.normal_(1.0, 0.2)
            else:
                weight.normal_(0.0, 0.15)
    return model.to(dtype)


def reference(model: GPT2LMHeadModel, tokens: np.ndarray) -> tuple[np.ndarray, float]:
    """Logits (T, V) and mean loss in float64, from the weights as stored."""
    model = model.double()
    ids = torch.from_numpy(tokens.astype(np.int64))[None]
    with torch.no_grad():
        out = model(ids, labels=ids)
    return out.logits[0].numpy(), out.loss.item()


def run(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def program_logits(folder: Path, tokens: np.ndarray, V: int) -> tuple[np.ndarray, float]:
    (folder / "in").write_bytes(tokens.astype("<i4").tobytes())
    done = run("--model", folder, "--logits", folder / "in", folder / "out")
    assert done.returncode == 0, done.stderr
    word, loss = done.stdout.split()
    assert word == "loss"
    return np.fromfile(folder / "out", dtype="<f4").reshape(-1, V), float(loss)


def assert_agree(folder: Path, model: GPT2LMHeadModel, T: int) -> None:
    V = model.config.vocab_size
    tokens = np.random.default_rng(2).integers(0, V, T)
    expected, expected_loss = reference(model, tokens)
    logits, loss = program_logits(folder, tokens, V)
    assert logits.shape == expected.shape
    error = np.abs(logits - expected).max() / np.abs(expected).max()
    assert error <= TOLERANCE
    assert loss == pytest.approx(expected_loss, abs=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", CONFIGS)
def test_logits_agree_with_transformers(tmp_path: Path, name: str, dtype: torch.dtype) -> None:
    model = make_model(CONFIGS[name], dtype)
    model.save_pretrained(tmp_path)
    assert_agree(tmp_path, model, CONFIGS[name]["n_positions"])


def test_the_layout_of_published_files_loads(tmp_path: Path) -> None:
    """No prefix, the causal mask among the tensors, n_ctx in the config, data that start at an odd byte."""
    model = make_model(CONFIGS["odd"], torch.float32)
    model.save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    tensors = {name.removeprefix("transformer."): tensor for name, tensor in load_file(file).items()}
    for layer in range(2):
        tensors[f"h.{layer}.attn.bias"] = torch.ones(41, 41).tril()[None, None]
    save_file(tensors, file)
    data = file.read_bytes()
    length = int.from_bytes(data[:8], "little") + 1
    file.write_bytes(length.to_bytes(8, "little") + data[8 : 7 + length] + b" " + data[7 + length :])
    config = json.loads((tmp_path / "config.json").read_text())
    config["n_ctx"] = config["n_positions"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert_agree(tmp_path, model, 20)


def test_sharded_weights_load(tmp_path: Path) -> None:
    model = make_model(CONFIGS["head64"], torch.float32)
    model.save_pretrained(tmp_path, max_shard_size="1MB")
    assert (tmp_path / "model.safetensors.index.json").exists()
    assert_agree(tmp_path, model, 10)


@pytest.mark.parametrize(
    "head", [GPT2ForSequenceClassification, GPT2ForTokenClassification, GPT2ForQuestionAnswering, GPT2DoubleHeadsModel]
)
def test_models_of_other_tasks_load_without_their_heads(tmp_path: Path, head: type) -> None:
    model = make_model(CONFIGS["odd"], torch.float32)
    other = head(model.config)
    other.transformer.load_state_dict(model.transformer.state_dict())
    other.save_pretrained(tmp_path)
    assert_agree(tmp_path, model, 10)


def test_a_tied_pair_may_be_there_as_lm_head_only(tmp_path: Path) -> None:
    model = make_model(CONFIGS["odd"], torch.float32)
    model.save_pretrained(tmp_path)
    save_model(model, str(tmp_path / "model.safetensors"))
    assert "transformer.wte.weight" not in load_file(tmp_path / "model.safetensors")
    assert_agree(tmp_path, model, 10)


def test_text_goes_through_a_byte_tokeniser_and_no_other(tmp_path: Path) -> None:
    """The bytes in order are the program's own; the order that a trained vocabulary has is refused."""
    text = "Grüße, world!"
    (tmp_path / "text").write_text(text)
    for name, folder in (("order", tmp_path / "a"), ("trained", tmp_path / "b")):
        model = make_model(CONFIGS["head64"], torch.float32)
        model.save_pretrained(folder)
        characters = bytes_to_unicode()
        if name == "trained":
            characters = dict(enumerate(sorted(characters.values())))
        raw = Tokenizer(models.BPE(vocab={c: i for i, c in characters.items()}, merges=[]))
        raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        PreTrainedTokenizerFast(tokenizer_object=raw).save_pretrained(folder)
        ids = AutoTokenizer.from_pretrained(folder).encode(text)
        done = run("--model", folder, "--loss", tmp_path / "text")
        if name == "order":
            assert ids == list(text.encode())
            _, loss = reference(model, np.array(ids))
            assert float(done.stdout.split()[1]) == pytest.approx(loss, abs=1e-4)
        else:
            assert ids != list(text.encode())
            assert done.returncode == 2
            assert "tokenizer.json" in done.stderr


def test_greedy_text_is_that_of_transformers(tmp_path: Path) -> None:
    """Token ids in, token ids out, while the context holds them."""
    model = make_model(CONFIGS["odd"], torch.float32)
    model.save_pretrained(tmp_path)
    prompt = [5, 17, 42]
    done = run("--model", tmp_path, "--tokens-in", "5,17 42", "--tokens", 30, "--temperature", 0)
    assert done.returncode == 0, done.stderr
    with torch.no_grad():
        expected = list(prompt)
        for _ in range(30):
            expected.append(model(torch.tensor([expected])).logits[0, -1].argmax().item())
    assert [int(word) for word in done.stdout.split()] == expected


def test_text_of_a_random_byte_model_is_valid_utf8(tmp_path: Path) -> None:
    make_model(CONFIGS["head64"], torch.float32).save_pretrained(tmp_path)
    done = subprocess.run(
        [PROGRAM, "--model", tmp_path, "--prompt", "a", "--tokens", "150", "--temperature", "2"], capture_output=True
    )
    assert done.returncode == 0
    text = done.stdout.decode("utf-8")  # strict
    assert text.startswith("a")
    assert text.endswith("\n")
    assert all(c in "\n\t" or c.isprintable() or c == "\ufffd" or ord(c) >= 0xA0 for c in text)
