# SPDX-License-Identifier: MIT
"""Where the heads of the small embedded model look, on a line of the course's own text."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from figures import draw
from reference.model.gpt2 import load
from reference.plots.roofline import STYLE
from reference.timings.results import ROOT

SMALL = ROOT / "reference/model/small"  # what lessons/gpt2 embeds
LINE = "The mean needs all C values; the variance needs the mean."  # of reference/model/corpus.txt
BLUES = LinearSegmentedColormap.from_list("blues", ["#ffffff", draw.BLUE_PALE, draw.BLUE, "#00263d"])


@cache
def maps(text: str = LINE) -> np.ndarray:
    """att (L, NH, T, T): the share that token t takes of token s. A token is a byte."""
    model = load(SMALL)
    tokens = torch.tensor([list(text.encode())])
    kept: dict[str, torch.Tensor] = {}
    with torch.no_grad():
        model(tokens, keep=kept)
    return torch.stack([kept[f"h.{l}.att"][0] for l in range(model.config.L)]).numpy()


def sought(text: str = LINE) -> dict[str, np.ndarray]:
    """By what a head may look for, (T, T): whether s is that for t. A space belongs to the word
    before it."""
    characters = np.array(list(text))
    starts = np.concatenate([[True], characters[:-1] == " "])
    word = np.cumsum(starts)
    t, s = np.indices((len(text), len(text)))
    return {
        "itself": s == t,
        "the 3 tokens before": (t - 3 <= s) & (s < t),
        "its word": (word[s] == word[t]) & (s <= t),
        "the word before": word[s] == word[t] - 1,
        "spaces": (characters[s] == " ") & (s <= t),
        "vowels": np.isin(characters[s], list("aeiou")) & (s <= t),
        "the same letter": (characters[s] == characters[t]) & (s < t),
    }


def shares(att: np.ndarray, text: str = LINE) -> dict[str, np.ndarray]:
    """By what is sought the share of a head's attention that goes there, (L, NH), the mean over the tokens."""
    return {name: (att * there).sum(-1).mean(-1) for name, there in sought(text).items()}


def even(text: str = LINE) -> dict[str, float]:
    """The same of a head that looks at all tokens up to its own alike."""
    T = len(text)
    alike = np.tril(np.ones((T, T))) / np.arange(1, T + 1)[:, None]
    return {name: float(share) for name, share in shares(alike, text).items()}


def strongest(of: str) -> tuple[int, int]:
    """(layer, head) that looks there most."""
    found = shares(maps())[of]
    l, h = np.unravel_index(found.argmax(), found.shape)
    return int(l), int(h)


# ---- pictures --------------------------------------------------------------------------------------------------------


def draw_map(ax: Axes, att: np.ndarray) -> None:
    """Rows are the tokens that look; the square root shows small shares too."""
    upper = np.triu(np.ones_like(att, dtype=bool), 1)
    ax.imshow(np.ma.array(np.sqrt(att), mask=upper), cmap=BLUES, vmin=0, vmax=1, interpolation="nearest")
    ax.grid(visible=False)


def all_heads() -> Figure:
    att = maps()
    L, NH = att.shape[:2]
    with style.context(STYLE):
        figure = Figure(figsize=(10, 10.6))
        FigureCanvasAgg(figure)
        for l, row in enumerate(figure.subplots(L, NH)):
            for h, ax in enumerate(row):
                draw_map(ax, att[l, h])
                ax.set_title(f"layer {l}, head {h}")
                ax.set(xticks=[], yticks=[])
        figure.tight_layout(pad=0.4, h_pad=1)
        return figure


def draw_characters(ax: Axes) -> None:
    characters = ["·" if c == " " else c for c in LINE]
    ax.set_xticks(range(len(LINE)), characters, family="monospace")
    ax.set_yticks(range(len(LINE)), characters, family="monospace")
    ax.tick_params(length=0)
    ax.set(xlabel="is looked at", ylabel="looks")
    for spine in ax.spines.values():
        spine.set_visible(False)


def head_that_seeks(of: str) -> Figure:
    """The map of the head that looks there most."""
    l, h = strongest(of)
    share, alike = shares(maps())[of][l, h], even()[of]
    with style.context(STYLE):
        figure = Figure(figsize=(10, 9.6))
        FigureCanvasAgg(figure)
        ax = figure.add_subplot()
        draw_map(ax, maps()[l, h])
        draw_characters(ax)
        ax.set_title(f"layer {l}, head {h}: {100 * share:.0f}% for {of}; all alike would be {100 * alike:.0f}%")
        figure.tight_layout()
        return figure


def head_shares() -> Figure:
    """The shares of all heads, and of one that looks at all tokens alike."""
    found, alike = shares(maps()), even()
    L, NH = next(iter(found.values())).shape
    names = [f"{l}.{h}" for l in range(L) for h in range(NH)]
    table = np.stack([np.append(found[name].reshape(-1), alike[name]) for name in found])
    with style.context(STYLE):
        figure = Figure(figsize=(10, 4.4))
        FigureCanvasAgg(figure)
        ax = figure.add_subplot()
        ax.imshow(np.sqrt(table), cmap=BLUES, vmin=0, vmax=1, aspect="auto")
        for (y, x), share in np.ndenumerate(table):
            color = "#ffffff" if share > 0.3 else draw.INK
            ax.text(x, y, f"{100 * share:.0f}", ha="center", va="center", color=color)
        ax.axvline(L * NH - 0.5, color="#ffffff", linewidth=8)
        ax.set_xticks(range(L * NH + 1), [*names, "alike"])
        ax.set_yticks(range(len(found)), list(found))
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.set_xlabel("layer.head")
        ax.set_title("% of a head's attention that goes to …")
        for spine in ax.spines.values():
            spine.set_visible(False)
        figure.tight_layout()
        return figure
