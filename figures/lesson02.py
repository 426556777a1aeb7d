# SPDX-License-Identifier: MIT
"""Lesson 02: causal attention of one head. Token t reads one row of a lower triangle."""

from draw import BLUE, GREEN, GREY, ORANGE, SMALL, Figure

PATH = "lessons/02_forward/figure.svg"

T, C, NH = 1024, 768, 12
HS = C // NH
h, t = 2, 5  # the head and the token drawn


def figure() -> Figure:
    f = Figure(
        540,
        "Causal attention of one head of GPT-2",
        f"A row of qkv holds {3 * C} floats: query, key and value of {C} each, in {NH} heads of {HS}. For token t={t} "
        f"of head h={h}, the query meets the keys of tokens 0 to {t}; the softmax of these scores weighs their values.",
    )
    left, width = 24, 672

    # one row of qkv, and where head h lies in it
    f.text(left, 30, "qkv[b, t, :]", mono=True, bold=True, color=BLUE)
    f.text(left + width, 30, f"3C = {3 * C} floats", anchor="end", color=GREY)
    third, head = width / 3, width / 3 / NH
    for i, name in enumerate(("query", "key", "value")):
        x = left + i * third
        f.cells(x, 40, third, 26, [""] * NH, styles={h: "read"})
        f.box(x, 40, third, 26, "outline", stroke=1.5)
        start = i * C + h * HS
        note = f"{name} of head {h}: {start} … {start + HS - 1}"
        f.text(x + third / 2, 86, note, anchor="middle", size=SMALL, color=GREY)
        f.line([(x + (h + 0.5) * head, 66), (x + (h + 0.5) * head, 74)], color=BLUE, width=1.5)

    # the scores of one head
    n, cell = 8, 26  # the first rows and columns of T
    gx, gy = 72, 154
    f.text(left, 122, "scores of one head (T, T)", bold=True)
    f.text(gx + n * cell / 2, gy - 8, "key of token s = 0 … 7", anchor="middle", size=SMALL, color=GREY)
    f.grid(gx, gy, cell, n, n, lambda r, s: "unused" if s > r else ("read" if r == t else "memory"))
    for r in range(n):
        f.text(gx - 8, gy + (r + 0.5) * cell + 5, f"t={r}", mono=True, anchor="end", size=SMALL)
        for s in range(r + 1, n):
            f.text(gx + (s + 0.5) * cell, gy + (r + 0.5) * cell + 5, "×", anchor="middle", color=GREY, size=SMALL)
    f.text(left, gy + n * cell + 28, "× is masked: s > t, never read.", color=GREY)
    f.text(left, gy + n * cell + 50, f"T={T}: {T * (T + 1) // 2:,} scores are used", color=GREY)
    f.text(left, gy + n * cell + 70, f"of {T * T:,} in memory.", color=GREY)

    # one row of them
    x, wide = 368, 41
    row_y = gy + t * cell
    f.text(x, 122, f"row t={t}", bold=True)
    f.text(x, 148, f"score[s] = query[t] · key[s], {HS} products", color=GREY)
    f.text(x, 172, f"scaled by 1/√{HS} = 1/8, only s ≤ {t}", color=GREY)
    f.box(x, 190, 100, 28, "kept", stroke=1.5)
    f.text(x + 50, 209, "lse[b,h,t]", mono=True, anchor="middle", color=ORANGE)
    f.text(x + 110, 209, "= log Σ e^(score[s]/8)", color=GREY)
    f.text(x, 254, "att[s] = e^(score[s]/8 − lse), sums to 1:", color=GREY)
    f.arrow([(gx + n * cell + 6, row_y + 13), (x - 6, row_y + 13)])
    labels = [f"s={s}" if s <= t else "0" for s in range(n)]
    f.cells(x, row_y - 18, n * wide, 44, labels, "memory", styles=dict.fromkeys(range(t + 1), "read"))

    # the weighted sum of the values
    vy, vh = row_y + 62, 66
    for s in range(t + 1):
        middle = x + (s + 0.5) * wide
        f.arrow([(middle, row_y + 28), (middle, vy - 3)])
        f.box(x + s * wide + 4, vy, wide - 8, vh, "memory")
        f.text(middle, vy + 26, "v", mono=True, anchor="middle")
        f.text(middle, vy + 46, str(s), mono=True, anchor="middle")
        f.line([(middle, vy + vh), (middle, vy + vh + 14)], color=GREY, width=1.5)
    f.text(x + (t + 1) * wide + 6, vy + 28, "value rows,", size=SMALL, color=GREY)
    f.text(x + (t + 1) * wide + 6, vy + 46, f"{HS} floats", size=SMALL, color=GREY)
    f.line([(x + 0.5 * wide, vy + vh + 14), (x + (t + 0.5) * wide, vy + vh + 14)], color=GREY, width=1.5)
    # the output row
    ox, ow, oy = 152, 544, vy + vh + 62
    hx = ox + (h + 0.5) * ow / NH
    middle = x + (t + 1) * wide / 2
    f.arrow([(middle, vy + vh + 14), (middle, vy + vh + 38), (hx, vy + vh + 38), (hx, oy - 2)])
    f.text(middle + 12, vy + vh + 38, "Σ att[s] · value[s]", color=GREY)
    f.text(left, oy + 18, "out[b, t, :]", mono=True, bold=True, color=GREEN)
    f.cells(ox, oy, ow, 26, [""] * NH, styles={h: "written"})
    f.text(hx, oy + 46, f"head {h}: {h * HS} … {(h + 1) * HS - 1}", anchor="middle", size=SMALL, color=GREY)
    f.text(left + width, oy + 46, f"C = {C} floats", anchor="end", color=GREY)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
