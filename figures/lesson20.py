# SPDX-License-Identifier: MIT
"""Lesson 20: what softmax and crossentropy move for a loss, and what one pass over the logits moves."""

from draw import BLUE, GREEN, GREY, ORANGE, SMALL, Figure

PATH = "lessons/20_loss_in_one_pass/figure.svg"

LEFT, WIDTH = 24, 672
BATCHES, V = 6, 50_257
LONG = 430  # the width of 823 MB


def tensor(f: Figure, y: float, name: str, words: str, style: str, width: float = LONG) -> None:
    f.text(LEFT, y + 20, name, mono=True, size=SMALL)
    f.box(LEFT + 76, y, width, 28, style)
    f.text(
        LEFT + 76 + (width / 2 if width == LONG else width + 8),
        y + 19,
        words,
        size=SMALL,
        anchor="middle" if width == LONG else "start",
    )


def before(f: Figure, y: float) -> None:
    f.text(LEFT, y, "Steps 05 to 19: two ops, 1,647 MB", bold=True)
    tensor(f, y + 14, "logits", "823 MB", "read")
    x = LEFT + 76 + LONG / 2
    f.arrow([(x, y + 42), (x, y + 66)], color=BLUE)
    f.text(x + 10, y + 59, "softmax reads all, writes all", size=SMALL)
    tensor(f, y + 68, "probs", "823 MB", "written")
    target = LEFT + 76 + 300
    f.arrow([(target, y + 96), (target, y + 114), (LEFT + 98, y + 114), (LEFT + 98, y + 126)], color=BLUE)
    f.text(target + 10, y + 115, "crossentropy: one per row", size=SMALL)
    tensor(f, y + 128, "losses", "16 KB", "written", 22)


def after(f: Figure, y: float) -> None:
    f.text(LEFT, y, "Step 20: one op, 823 MB; there is no probs", bold=True)
    f.text(LEFT, y + 31, "logits[n, :]", mono=True, size=SMALL)
    x = LEFT + 106
    width = (LEFT + WIDTH - 106 - x) / BATCHES
    for batch in range(BATCHES):
        f.box(x + batch * width, y + 12, width, 30, "read")
        f.text(x + (batch + 0.5) * width, y + 32, f"batch {batch}", size=SMALL, anchor="middle")
    left = x + BATCHES * width
    f.box(left, y + 12, 62, 30, "read")
    f.text(left + 31, y + 32, "float4s", size=SMALL, anchor="middle")
    f.box(left + 62, y + 12, 44, 30, "read")
    f.text(left + 84, y + 32, "rest", size=SMALL, anchor="middle")
    f.text(x, y + 60, "a batch: 4 float4s in each of 512 threads, 8,192 columns", size=SMALL, color=GREY)
    f.text(LEFT + WIDTH, y + 60, "276 float4s, 1 column", size=SMALL, anchor="end", color=GREY)

    top = y + 104
    for batch in range(BATCHES):
        center = x + (batch + 0.5) * width
        f.arrow([(center, y + 66), (center, top - 2)], color=BLUE)
        f.box(center - 26, top, 52, 40, "kept", radius=3)
        f.text(center, top + 17, "max", mono=True, size=SMALL, anchor="middle")
        f.text(center, top + 34, "sum", mono=True, size=SMALL, anchor="middle")
        if batch + 1 < BATCHES:
            f.arrow([(center + 26, top + 20), (center + width - 26, top + 20)], color=GREEN)
    f.arrow([(x + (BATCHES - 0.5) * width + 26, top + 20), (left + 84, top + 20), (left + 84, top + 82)], color=GREEN)
    f.text(LEFT, top + 17, "a thread", size=SMALL)
    f.text(LEFT, top + 34, "keeps a pair", size=SMALL)
    f.text(x, top + 62, "a larger maximum: sum · exp(old max - new max)", size=SMALL, color=GREY)

    y = top + 84
    f.box(LEFT, y, WIDTH, 34, "outline", radius=8, stroke=1.5)
    f.text(
        LEFT + 12,
        y + 22,
        "the block joins 512 pairs: two block_reduce, of max, then of sum · exp(its max - max)",
        size=SMALL,
    )
    f.line([(LEFT, y + 52), (LEFT + WIDTH, y + 52)], color=ORANGE, width=2)
    f.text(LEFT, y + 72, "lse[n] = max + log(sum)", mono=True, size=SMALL)
    f.text(LEFT + 240, y + 72, "losses[n] = lse[n] - logits[n, targets[n]]", mono=True, size=SMALL)
    f.text(LEFT + WIDTH, y + 94, "33 KB for all 4,096 rows", size=SMALL, anchor="end", color=GREY)


def figure() -> Figure:
    f = Figure(
        520,
        "A loss by two ops, and in one pass",
        "In steps 05 to 19 softmax reads 823 MB of logits and writes as many probabilities, of which crossentropy "
        "reads one per row. In step 20 a block reads a row once: six batches, 276 float4s, one column. Each "
        "thread keeps a maximum and a sum, the block joins these pairs, and the row's log-sum-exp and loss are stored.",
    )
    before(f, 28)
    after(f, 222)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
