# SPDX-License-Identifier: MIT
"""GPT-2 at 124M's true shapes, with random weights: the device's steps, unchecked on the CPU device, against Hugging
Face's model. `make test-all` runs it; half a gigabyte is loaded and some minutes pass, so `make test` skips it."""

import os
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import GPT2LMHeadModel

from reference.dump import budget
from reference.dump.cases import draw_parameters, generator
from reference.dump.pytorch_error import precision_mode, ratio
from reference.gpu.lesson_shapes import PROGRAM, all_lessons, step_precision
from reference.gpu.step import Step
from reference.model.gpt2 import GPT2, Config, load, save_folder
from reference.ops import OPS
from reference.plots.bench_cpu import pytorch_forward

pytestmark = pytest.mark.skipif(not os.environ.get("SOL_FRESH"), reason="make test-all runs it: it takes minutes")

ROOT = Path(__file__).resolve().parents[3]
SHAPE = Config(max_T=1024, V=50257, L=12, NH=12, C=768)
T = 72  # more than a tile of fused attention

# The first step on the device, the last one before the libraries, those with them, one without a T x T matrix, and one
# without probabilities.
STEPS = [step for step in ("05", "10", "11", "12", "16", "20") if any((ROOT / "lessons").glob(f"{step}_*"))]


@dataclass
class Reference:
    """Hugging Face's results in float64, with the floors of a chained logits and losses."""

    folder: Path
    ids: torch.Tensor  # (1, T)
    logits: torch.Tensor  # (1, T, V)
    losses: torch.Tensor  # (1, T - 1)
    floor: torch.Tensor  # (1, T): of each row of logits

    def errors(self, precision: str) -> tuple[float, float]:
        """PyTorch's own error in this precision, in units of the floors: of the logits and of the losses."""
        model = load(self.folder)
        with torch.no_grad(), precision_mode(precision):
            logits, losses = model(self.ids, self.targets, keep={})
        return (
            ratio(logits, self.logits, self.floor),
            ratio(losses[:, :-1], self.losses, self.floor_of_losses),
        )

    @property
    def targets(self) -> torch.Tensor:
        return torch.cat([self.ids[:, 1:], self.ids[:, :1]], 1)  # what follows the last token is not used

    @property
    def floor_of_losses(self) -> torch.Tensor:
        return OPS["crossentropy"].floors({"losses": self.losses})

    def logits_used(self, logits: torch.Tensor, precision: str) -> float:
        """The largest share of a logit's budget: at most 1 passes."""
        own, _ = self.errors(precision)
        return budget.verdict(logits, self.logits, self.floor, own, budget.k_of(precision)).used

    def loss_used(self, loss: float, precision: str) -> float:
        """The share of the mean loss's budget, which is the mean of the losses' and half a unit of the last digit that
        the program prints."""
        _, own = self.errors(precision)
        each = budget.budgets(self.losses.numpy(), self.floor_of_losses.numpy(), own, budget.k_of(precision))
        return abs(loss - float(self.losses.mean())) / (float(each.mean()) + 0.5e-6)


@pytest.fixture(scope="module")
def true(tmp_path_factory) -> Reference:
    folder = tmp_path_factory.mktemp("gpt2-124M")
    rng = generator("124M", 0)
    model = GPT2(SHAPE).requires_grad_(False)
    model.load_state_dict({name: torch.from_numpy(value) for name, value in draw_parameters(rng, SHAPE).items()})
    save_folder(model, folder)
    ids = torch.from_numpy(rng.integers(0, SHAPE.V, (1, T)))
    theirs = GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float64).eval()
    with torch.no_grad():
        logits = theirs(ids).logits
        ln_f = theirs.transformer(ids).last_hidden_state
        losses = -torch.log_softmax(logits, -1)[:, :-1].gather(-1, ids[:, 1:, None]).squeeze(-1)
        floor = OPS["matmul"].floors({}, ln_f, theirs.lm_head.weight, None)
    return Reference(folder, ids, logits, losses, floor)


@pytest.fixture(scope="module")
def tokens(true) -> Path:
    file = true.folder / "tokens"
    file.write_bytes(true.ids.numpy().astype("<i4").tobytes())
    return file


@pytest.mark.parametrize("step", STEPS)
def test_a_step_agrees_with_hugging_face_within_the_chained_budget(true, tokens, step, record_property):
    out = true.folder / f"logits-{step}"
    program = ROOT / "build" / f"gpt2-{step}"
    done = subprocess.run([program, "--model", true.folder, "--logits", tokens, out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    word, loss = done.stdout.split()
    logits = torch.from_numpy(np.fromfile(out, dtype="<f4")).reshape(true.logits.shape)
    precision = step_precision(all_lessons(ROOT, ROOT / PROGRAM), step)
    used = true.logits_used(logits, precision), true.loss_used(float(loss), precision)
    record_property("budget used by the logits and the loss", f"{used[0]:.2g}, {used[1]:.2g} of {precision}'s")
    print(f"step {step} uses {used[0]:.2g} and {used[1]:.2g} of {precision}'s budgets")
    assert word == "loss"
    assert max(used) <= 1


def with_gelu_by_erf(folder: Path) -> GPT2LMHeadModel:
    """Differs from the tanh form by 5e-4 at most."""
    return GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float64, activation_function="gelu")


def without_the_last_bias(folder: Path) -> GPT2LMHeadModel:
    model = GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float64)
    model.transformer.h[-1].mlp.c_proj.bias.data.zero_()
    return model


@pytest.mark.parametrize(("precision", "wrong"), [("fp32", with_gelu_by_erf), ("tf32", without_the_last_bias)])
def test_a_slightly_wrong_model_does_not(true, precision, wrong):
    with torch.no_grad():
        logits = wrong(true.folder).eval()(true.ids).logits
    used = true.logits_used(logits, precision)
    print(f"{wrong.__name__} uses {used:.2g} of {precision}'s budget")
    assert used > 1


@pytest.mark.skipif("12" not in STEPS, reason="lesson 12 is not there")
def test_a_forward_whose_products_are_the_librarys_keeps_up_with_pytorch(true, tokens, record_property):
    """On one core. It is meant to take at most 3 times as long; 5 times that is no chance of a busy machine."""
    model = load(true.folder)
    arguments = ["--model", str(true.folder), "--tokens", str(tokens), "-B", "1", "-T", str(T)]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with Step("12", ROOT / "build" / "gpt2-bench-12", arguments) as program:
            program.forward()
            pytorch_forward(model, true.ids)
            rounds = [(program.forward(), pytorch_forward(model, true.ids)[0]) for _ in range(5)]
    finally:
        torch.set_num_threads(threads)
    times = statistics.median(ours / theirs for ours, theirs in rounds)
    record_property("step 12's forward, in times PyTorch's", f"{times:.2g}")
    print(f"step 12's forward takes {times:.2g} times PyTorch's")
    assert times <= 15
