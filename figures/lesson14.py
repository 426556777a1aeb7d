# SPDX-License-Identifier: MIT
"""Lesson 14: a row in the registers of a block, and how its warps combine what they have."""

from draw import BLUE, GREEN, GREY, ORANGE, SMALL, Figure

PATH = "lessons/14_block_reduction/figure.svg"

LEFT, WIDTH = 24, 672
WARPS, TURNS, FLOAT4S, THREADS, V = 16, 25, 12_564, 512, 50_257
WARP = WIDTH / WARPS  # a warp's share of the width


def warp_x(warp: int) -> float:
    return LEFT + (warp + 0.5) * WARP


def row(f: Figure, y: float) -> None:
    """The row in memory: turns of 512 float4s, each with the part of warp 0 marked, and the one column left."""
    shown = ((0, "0 … 2,047"), (1, "2,048 … 4,095"), (None, "…"), (TURNS - 1, "49,152 … 50,255"))
    x = LEFT
    for turn, columns in shown:
        width = 54 if turn is None else 184
        f.box(x, y, width, 34, "memory")
        if turn is not None:
            f.box(x, y, width / WARPS, 34, "read", stroke=1.5)
            f.text(x + width / 2 + 6, y + 22, columns, mono=True, size=SMALL, anchor="middle")
            f.text(x + width / 2, y - 8, f"x[{turn}]", mono=True, size=SMALL, anchor="middle", color=GREY)
        else:
            f.text(x + width / 2, y + 22, columns, anchor="middle")
        x += width
    f.box(x, y, LEFT + WIDTH - x, 34, "unused")
    f.text(x + (LEFT + WIDTH - x) / 2, y - 8, "rest", size=SMALL, anchor="middle", color=GREY)
    f.text(x + (LEFT + WIDTH - x) / 2, y + 22, "50,256", mono=True, size=SMALL, anchor="middle")


def warps(f: Figure, y: float, height: float, label, style: str) -> None:
    for warp in range(WARPS):
        f.box(LEFT + warp * WARP + 2, y, WARP - 4, height, style, radius=3)
        f.text(warp_x(warp), y + height / 2 + 5, label(warp), mono=True, size=SMALL, anchor="middle")


def barrier(f: Figure, y: float, words: str) -> None:
    f.line([(LEFT, y), (LEFT + WIDTH, y)], color=ORANGE, width=2)
    f.text(LEFT, y - 7, words, size=SMALL, color=ORANGE)


def figure() -> Figure:
    f = Figure(
        560,
        "A row of 50,257 columns in one block",
        "The row in memory is cut into turns of 2,048 columns, of which the 25th is short, and one column is left. In "
        "each turn thread t loads float4 t; warp 0 has the first 128 columns. The 16 warps each reduce what they "
        "hold to one value. After a barrier lane 0 of each stores it in of_warps; after a second barrier every warp "
        "loads all 16 and reduces them again.",
    )
    f.text(LEFT, 28, "logits[n, :]", mono=True, bold=True)
    f.text(LEFT + WIDTH, 28, "50,257 floats, 201 KB; blue: what warp 0 loads", size=SMALL, anchor="end", color=GREY)
    top = 66
    row(f, top)
    f.text(
        LEFT + WIDTH,
        top + 56,
        "thread t: float4 t, t + 512, …; 25 loads before the first use",
        size=SMALL,
        anchor="end",
        color=GREY,
    )
    f.arrow([(LEFT + 6, top + 34), (LEFT + 6, 150), (warp_x(0) - 6, 170)], color=BLUE)
    f.arrow([(LEFT + 190, top + 34), (LEFT + 190, 146), (warp_x(0), 146), (warp_x(0), 170)], color=BLUE)
    f.text(LEFT + 198, 142, "…", color=BLUE)

    y = 172
    f.box(LEFT - 10, y - 18, WIDTH + 20, 372, "outline", radius=10, stroke=1.5)
    warps(f, y, 34, lambda w: f"w{w}", "kept")
    f.text(LEFT, y + 54, "16 warps, 25 float4s in the registers of each thread", size=SMALL)
    f.text(LEFT + WIDTH, y + 54, "warp_reduce: one float per warp, r", mono=True, size=SMALL, anchor="end")
    for w in range(WARPS):
        f.arrow([(warp_x(w), y + 62), (warp_x(w), y + 78)])
    y = 252
    warps(f, y, 26, lambda w: f"r{w}", "kept")
    barrier(f, y + 58, "barrier: no warp still reads what the previous call left in of_warps")
    for w in range(WARPS):
        f.arrow([(warp_x(w), y + 62), (warp_x(w), y + 78)], color=GREEN)
    y = 332
    f.cells(LEFT, y, WIDTH, 30, [str(w) for w in range(WARPS)], "written")
    f.text(LEFT, y + 50, "of_warps", mono=True, size=SMALL)
    f.text(LEFT + 72, y + 50, "in shared memory: lane 0 of warp w stores element w", size=SMALL)
    barrier(f, y + 82, "barrier: all 16 are stored")
    y = 436
    for w in (0, 1, 15):
        f.arrow([(warp_x(w), 418), (warp_x(w), y - 2)], color=BLUE)
    f.text(warp_x(8), y - 7, "every warp loads all 16, one in each of lanes 0 to 15", size=SMALL, anchor="middle")
    warps(f, y, 34, lambda w: f"w{w}", "kept")
    f.text(LEFT, y + 54, "the block's maximum, or its sum, in every thread", size=SMALL)
    f.text(LEFT + WIDTH, y + 54, "warp_reduce", mono=True, size=SMALL, anchor="end")
    f.text(
        LEFT,
        y + 76,
        "lanes 16 to 31 have no warp: they bring the identity, −∞ to a maximum, 0 to a sum",
        size=SMALL,
        color=GREY,
    )
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
