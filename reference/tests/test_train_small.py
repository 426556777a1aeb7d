# SPDX-License-Identifier: MIT
"""train_small.py from end to end in two steps, its corpus, its schedule and its bad input."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from reference.model import train_small
from reference.model.gpt2 import GPT2, Config, load
from reference.model.train_small import BLOCK, Corpus, Recipe

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tiny_corpus(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "tiny.txt"
    path.write_text("a warp is 32 threads that execute together. " * 500)
    return path


@pytest.fixture(scope="module")
def tiny_prose(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("prose") / "prose.txt"
    path.write_text("In the beginning there was a file, and the file had a name. " * 400)
    return path


def test_two_steps_from_end_to_end(tiny_corpus, tiny_prose, tmp_path):
    out = tmp_path / "small"
    command = [sys.executable, "-m", "reference.model.train_small", "--steps", "2"]
    command += ["--corpus", str(tiny_corpus), "--prose", str(tiny_prose), "--out", str(out)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "trained 2 steps in 0:0" in result.stdout
    assert sorted(path.name for path in out.iterdir()) == ["config.json", "model.safetensors", "training.json"]
    model = load(out)
    assert model.config == train_small.CONFIG
    assert json.loads((out / "config.json").read_text())["tokenizer"] == "bytes"
    assert (out / "model.safetensors").stat().st_size < 4e6
    record = json.loads((out / "training.json").read_text())
    assert record["steps"] == 2
    for name, path in {"course": tiny_corpus, "prose": tiny_prose}.items():
        assert record["texts"][name]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        loss = record["held_out_loss"][name]
        assert loss == pytest.approx(np.log(256), abs=0.5)  # two steps: still a guess among bytes
        corpus = Corpus(path, path.read_bytes(), 256)
        assert loss == pytest.approx(train_small.held_out_loss(model, corpus), abs=1e-3)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["--corpus", "/nowhere/corpus.txt"],
            "/nowhere/corpus.txt: No such file or directory; python -m reference.model.make_corpus writes it",
        ),
        (["--prose", "/nowhere/prose.txt"], "python -m reference.model.make_prose writes it"),
        (["--steps", "-1"], "--steps -1 makes no sense"),
        (["--threads", "0"], "--threads 0 makes no sense"),
        (["--minutes", "nan"], "--minutes nan makes no sense"),
        (["--corpus", "pyproject.toml", "--prose", "", "--steps", "1"], "pyproject.toml: has"),
        (["--corpus", "reference", "--prose", "", "--steps", "1"], "reference"),
    ],
)
def test_bad_input_is_one_clear_line(tmp_path, monkeypatch, capsys, args, message):
    monkeypatch.chdir(ROOT)
    assert train_small.main([*args, "--out", str(tmp_path / "small")]) != 0
    stderr = capsys.readouterr().err
    assert message in stderr
    assert len(stderr.splitlines()) == 1
    assert not (tmp_path / "small").exists()


def test_an_unwritable_folder_is_named_before_the_training(tiny_corpus, capsys):
    args = ["--steps", "1000", "--corpus", str(tiny_corpus), "--prose", "", "--out", str(tiny_corpus / "small")]
    assert train_small.main(args) == 1
    assert "nothing was changed" in capsys.readouterr().err


def marked(blocks: int) -> bytes:
    """A corpus whose block i is filled with byte i."""
    return b"".join(bytes([i]) * BLOCK for i in range(blocks))


def test_every_tenth_block_is_held_out():
    corpus = Corpus(Path("marked"), marked(25), 256)
    assert set(corpus.held_out) == {9, 19}
    assert set(np.concatenate(corpus.runs)) == set(range(25)) - {9, 19}


def test_no_window_reaches_over_a_held_out_block():
    corpus = Corpus(Path("marked"), marked(25), 256)
    rng = np.random.default_rng(0)
    tokens, targets = corpus.windows(rng, 2000, 256)
    assert tokens.shape == targets.shape == (2000, 256)
    assert torch.equal(tokens[:, 1:], targets[:, :-1])
    jumps = (targets - tokens).unique()
    assert set(jumps.tolist()) == {0, 1}  # from block 8 to 10 would be 2
    assert set(tokens.unique().tolist()) == set(range(25)) - {9, 19}


def test_a_batch_has_the_course_s_text_with_its_share_and_short_windows_first(tmp_path):
    texts = {name: Corpus(tmp_path, bytes([value]) * 30000, 256) for name, value in {"course": 1, "prose": 2}.items()}
    rng, recipe = np.random.default_rng(0), Recipe(batch=1000, course=0.25, short=0.5)
    short, _ = train_small.batch_of(texts, rng, recipe, 0.4)
    assert short.shape == (2000, 128)
    long, targets = train_small.batch_of(texts, rng, recipe, 0.5)
    assert long.shape == targets.shape == (1000, 256)
    assert (long == 1).float().mean() == pytest.approx(0.25, abs=0.05)


def test_rate_rises_stays_and_falls():
    recipe = Recipe()
    rates = [train_small.rate_at(step, step / 1000, recipe) for step in range(1000)]
    assert max(rates) == recipe.rate == rates[recipe.warmup - 1] == rates[int(1000 * (1 - recipe.decline))]
    assert rates[: recipe.warmup] == sorted(rates[: recipe.warmup])
    assert rates[recipe.warmup :] == sorted(rates[recipe.warmup :], reverse=True)
    assert rates[-1] == pytest.approx(0.0, abs=0.01 * recipe.rate)


SMALLER = Config(max_T=32, V=256, L=1, NH=2, C=16)


def trained(tiny_corpus, steps=40, threads=1, keep=None):
    texts = {"course": Corpus(tiny_corpus, tiny_corpus.read_bytes(), 32)}
    return train_small.train(texts, Recipe(batch=4, warmup=5), steps, 1, threads, keep, say=lambda _: None)


def test_training_is_the_same_twice_and_learns(tiny_corpus, monkeypatch):
    monkeypatch.setattr(train_small, "CONFIG", SMALLER)
    (one, first), (two, _) = (trained(tiny_corpus) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert first["held_out_loss"]["course"] < np.log(256) - 1


def test_two_threads_share_a_batch(tiny_corpus, monkeypatch):
    monkeypatch.setattr(train_small, "CONFIG", SMALLER)
    alone, together = (trained(tiny_corpus, 3, threads)[0] for threads in (1, 2))
    for a, b in zip(alone.parameters(), together.parameters(), strict=True):
        assert torch.allclose(a, b, atol=2e-3)


def test_a_training_goes_on_from_what_it_kept(tiny_corpus, monkeypatch, tmp_path):
    monkeypatch.setattr(train_small, "CONFIG", SMALLER)
    _, first = trained(tiny_corpus, 5, keep=tmp_path / "state.pt")
    _, second = trained(tiny_corpus, 6, keep=tmp_path / "state.pt")
    assert (first["steps"], second["steps"]) == (5, 6)
    kept = torch.load(tmp_path / "state.pt", weights_only=False)
    assert len(kept["losses"]) == 6  # one step more, not six


def test_the_fast_loss_is_the_model_s():
    model = GPT2(Config(max_T=32, V=256, L=2, NH=2, C=16))
    model.init_weights(3)
    tokens = torch.randint(0, 256, (4, 33), generator=torch.Generator().manual_seed(1))
    _, losses = model(tokens[:, :-1], tokens[:, 1:])
    fast = train_small.sum_of_losses(model, tokens[:, :-1], tokens[:, 1:])
    assert fast.item() == pytest.approx(losses.sum().item(), rel=1e-3)


def test_samples_repeat_with_their_seed():
    model = GPT2(Config(max_T=16, V=256, L=1, NH=2, C=8)).eval()
    texts = [train_small.sample(model, b"warp", 20, seed) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert len(texts[0]) == 24  # beyond the context of 16
    assert texts[0].startswith(b"warp")
