# SPDX-License-Identifier: MIT
"""Lesson 01: a layernorm takes one row of memory, keeps two numbers, and writes one row."""

from draw import BLUE, GREEN, GREY, ORANGE, Figure

PATH = "lessons/01_layers/figure.svg"

B, T, C = 4, 1024, 768
b, t = 1, 3  # the row drawn


def figure() -> Figure:
    offset = (b * T + t) * C
    f = Figure(
        540,
        "Layernorm of one row of a (4, 1024, 768) tensor",
        f"The tensor is one strip of {B * T * C:,} floats. Row b={b}, t={t} starts at float {offset:,}. From all "
        f"its {C} floats come one mean and one rstd; with each channel's weight and bias they give the output row.",
    )
    left, width = 24, 672

    # the tensor in memory, cut into sequences
    f.text(left, 30, f"inp (B={B}, T={T}, C={C})", mono=True, bold=True)
    f.text(left + width, 30, f"one strip of {B * T * C:,} floats", anchor="end", color=GREY)
    cell = f.cells(left, 40, width, 30, [f"b={i}" for i in range(B)], styles={b: "read"})

    # one sequence, cut into rows
    f.zoom(left + b * cell, left + (b + 1) * cell, 70, left, left + width, 102)
    rows = ["t=0", "t=1", "t=2", "t=3", "t=4", "…", f"t={T - 1}"]
    cell = f.cells(left, 102, width, 30, rows, styles={t: "read"})

    # one row, cut into channels; the strips below it share its columns
    inner, inner_width = 152, 544
    f.zoom(left + t * cell, left + (t + 1) * cell, 132, inner, inner + inner_width, 184)
    f.text(410, 174, f"float {offset:,} = ({b}·{T} + {t})·{C}", anchor="middle", color=GREY)
    f.text(left, 205, "inp[b, t, :]", mono=True, color=BLUE)
    channels = ["c=0", "c=1", "c=2", "…", f"c={C - 2}", f"c={C - 1}"]
    f.cells(inner, 184, inner_width, 32, channels, "read")

    # the two numbers of the row: each takes all of it
    right = inner + inner_width
    f.line([(inner, 220), (inner, 227), (right, 227), (right, 220)], color=GREY, width=1.5)
    for y, label, name, formula, end, x in (
        (240, "pass 1", "mean[b, t]", f"= Σ x / {C}", 364, 560),
        (286, "pass 2", "rstd[b, t]", f"= 1 / √( Σ (x − mean)² / {C} + 1e-5 )", 544, 620),
    ):
        f.text(left, y + 21, label, bold=True)
        f.box(inner, y, 112, 32, "kept", stroke=1.5)
        f.text(inner + 56, y + 21, name, mono=True, anchor="middle", color=ORANGE)
        f.text(inner + 124, y + 21, formula, color=GREY)
        f.arrow([(x, 227), (x, y + 16), (end, y + 16)])
        f.line([(inner, y + 16), (118, y + 16), (118, 344)], color=GREY, width=1.5)
    f.arrow([(inner + 56, 272), (inner + 56, 285)])

    # the output row
    f.text(left, 349, "pass 3", bold=True)
    f.arrow([(118, 344), (inner - 4, 344)])
    f.arrow([(680, 227), (680, 344), (548, 344)])
    f.text(inner, 349, "each channel alone: (x − mean) · rstd · weight + bias", color=GREY)
    for y, label in ((362, "weight (C)"), (394, "bias (C)")):
        f.text(left, y + 18, label, mono=True)
        f.cells(inner, y, inner_width, 26, ["", "", "", "…", "", ""])
    f.arrow([(inner + inner_width / 2, 424), (inner + inner_width / 2, 446)])
    f.text(left, 471, "out[b, t, :]", mono=True, color=GREEN)
    f.cells(inner, 450, inner_width, 32, channels, "written")
    note = f"All {B * T:,} rows use the same weight and bias. The backward pass reads mean and rstd."
    f.text(left, 512, note, color=GREY)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
