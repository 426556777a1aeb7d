# SPDX-License-Identifier: MIT
"""Lessons 01 and 02: the model, and one of its blocks, op by op with what each op writes."""

from draw import GREY, INK, SMALL, Figure

PATH = "lessons/02_forward/model.svg"

C, V, L = 768, 50257, 12
STYLE = {"01": "kept", "02": "read"}  # by the lesson that writes the op

# Of a block: op, its lesson, what it writes, the channels of that.
HALVES = (
    (
        ("layernorm", "01", "ln_1", C),
        ("matmul", "02", "qkv", 3 * C),
        ("attention", "02", "attn", C),
        ("matmul", "02", "attn_proj", C),
        ("residual", "01", "residual_1", C),
    ),
    (
        ("layernorm", "01", "ln_2", C),
        ("matmul", "02", "fc", 4 * C),
        ("gelu", "01", "fc_gelu", 4 * C),
        ("matmul", "02", "fc_proj", C),
        ("residual", "01", "residual_2", C),
    ),
)


def op(f: Figure, x: float, y: float, width: float, name: str, lesson: str) -> None:
    f.box(x, y, width, 30, STYLE[lesson], radius=4, stroke=1.5)
    f.text(x + 10, y + 20, name, mono=True)
    f.text(x + width - 8, y + 20, lesson, anchor="end", size=SMALL, color=GREY)


def figure() -> Figure:
    f = Figure(
        616,
        "GPT-2, and one of its blocks",
        f"Tokens become the stream, a (B, T, {C}) tensor, in encoder. It passes {L} blocks, a layernorm and a matmul "
        f"that gives {V:,} logits per token. In a block attention and then the MLP read the stream through a "
        "layernorm, and a residual adds their result to it.",
    )

    # the model, from tokens to logits
    x, width, middle = 24, 200, 124
    f.text(x, 30, "the model", bold=True)
    f.text(middle, 62, "tokens (B, T)", mono=True, anchor="middle", size=SMALL)
    f.arrow([(middle, 68), (middle, 84)])
    op(f, x, 86, width, "encoder", "01")
    f.arrow([(middle, 116), (middle, 148)])
    f.text(middle + 10, 137, f"(B, T, {C})", mono=True, size=SMALL, color=GREY)
    for y, name in ((150, "block h.0"), (206, "block h.1"), (286, f"block h.{L - 1}")):
        f.box(x, y, width, 32, "outline", radius=8, stroke=1.5)
        f.text(middle, y + 21, name, anchor="middle")
    f.arrow([(middle, 182), (middle, 204)])
    f.line([(middle, 238), (middle, 250)], color=GREY, width=1.5)
    f.text(middle, 266, "…", anchor="middle")
    f.arrow([(middle, 272), (middle, 284)])
    f.arrow([(middle, 318), (middle, 338)])
    op(f, x, 340, width, "layernorm", "01")
    f.arrow([(middle, 370), (middle, 400)])
    f.text(middle + 10, 390, "ln_f", mono=True, size=SMALL, color=GREY)
    op(f, x, 402, width, "matmul by wte", "02")
    f.arrow([(middle, 432), (middle, 450)])
    f.text(middle, 466, f"logits (B, T, {V})", mono=True, anchor="middle", size=SMALL)
    f.arrow([(middle, 474), (middle, 492)])
    op(f, x, 494, width, "softmax", "02")
    f.arrow([(middle, 524), (middle, 540)])
    op(f, x, 542, width, "crossentropy", "02")
    f.text(middle, 592, "losses (B, T)", mono=True, anchor="middle", size=SMALL)

    # block 0, op by op
    left, stream, ops, names = 262, 300, 352, 500
    f.box(left, 44, 434, 516, "outline", radius=8, stroke=1.5)
    f.zoom(x + width, x + width, 150, left, left, 56)
    f.line([(x + width, 182), (left, 552)], dashed=True)
    f.text(left, 30, "one block", bold=True)
    f.text(names, 30, "writes", size=SMALL, color=GREY)
    f.text(680, 30, "channels", size=SMALL, color=GREY, anchor="end")
    f.text(left + 14, 66, "stream", size=SMALL, color=INK)
    f.line([(stream, 72), (stream, 566)], color=INK, width=3)
    for half, y, title in zip(HALVES, (76, 320), ("attention half", "MLP half"), strict=True):
        steps = [y + 6 + 46 * i for i in range(len(half))]
        f.text(names, y - 8, title, size=SMALL, bold=True)
        for i, (name, lesson, tensor, channels) in enumerate(half):
            op(f, ops, steps[i], 132, name, lesson)
            f.text(names, steps[i] + 20, tensor, mono=True)
            f.text(680, steps[i] + 20, str(channels), mono=True, anchor="end", size=SMALL, color=GREY)
            if name != "layernorm":
                f.arrow([(ops + 66, steps[i] - 16), (ops + 66, steps[i] - 2)])
            if name in ("layernorm", "residual"):
                f.arrow([(stream, steps[i] + 15), (ops - 2, steps[i] + 15)])
        last = steps[-1] + 30
        f.arrow([(ops + 66, last), (ops + 66, last + 14), (stream + 4, last + 14)])
    f.arrow([(stream, 560), (stream, 584)], color=INK)
    f.text(stream + 12, 577, f"to block h.1, and so on to h.{L - 1}", size=SMALL)
    f.text(left, 602, "01, 02: the lesson in which you write the op", size=SMALL, color=GREY)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
