# SPDX-License-Identifier: MIT
"""Lesson 07: a block goes along C; two tiles in shared memory, each float of them serves 32 outputs."""

from draw import BLUE, GREEN, GREY, LINE, ORANGE, PALE, SMALL, Figure

PATH = "lessons/07_tiled_matmul/figure.svg"

N, C, OC, TILE = 4096, 768, 3072, 32  # the first matmul of the MLP at B=4, T=1024
block_x, block_y = 5, 7  # the block drawn
x, y = 5, 3  # the thread in it
STEPS = C // TILE
step = 2  # counted from 0: the tiles that are in shared memory
k = 9  # the channel of them that is read


def mesh(f: Figure, x, y, cell, rows, columns, every=8):
    """A matrix of small cells: its outline, and a light line between every so many of them."""
    f.box(x, y, columns * cell, rows * cell, "memory")
    for r in range(every, rows, every):
        f.line([(x, y + r * cell), (x + columns * cell, y + r * cell)], color=PALE)
    for c in range(every, columns, every):
        f.line([(x + c * cell, y), (x + c * cell, y + rows * cell)], color=PALE)
    f.box(x, y, columns * cell, rows * cell, "outline")


def figure() -> Figure:
    n0, o0, c0 = block_x * TILE, block_y * TILE, step * TILE
    f = Figure(
        722,
        "Two tiles go along C",
        f"Block ({block_x}, {block_y}) computes rows {n0} to {n0 + TILE - 1} and columns {o0} to {o0 + TILE - 1} of "
        f"out. It goes along C in {STEPS} steps. In step {step + 1} its shared memory holds channels {c0} to "
        f"{c0 + TILE - 1} of {TILE} rows of inp and of {TILE} rows of weight. For k = {k}, warp y = {y} reads one "
        f"float of inp_tile and a column of weight_tile, whose rows are {TILE + 1} floats apart.",
    )
    cell = 6
    side = TILE * cell
    gx, gy = 372, 212  # the tile of out
    strip_x, strip_w = 92, gx - 92 - 16
    strip_y, strip_h = 74, gy - 74 - 16
    starts = [0, TILE, 2 * TILE, None, C - TILE]  # the pieces that are drawn
    piece_w, piece_h = strip_w / len(starts), strip_h / len(starts)

    def style(i):
        return "unused" if i < step else "read" if i == step else "memory"

    # 32 rows of weight, transposed, above the columns that they serve
    f.text(gx, 30, f"weight (OC={OC}, C={C})", mono=True, bold=True, color=BLUE)
    f.text(gx, 50, f"rows {o0} … {o0 + TILE - 1}, transposed: c runs downwards", size=SMALL, color=GREY)
    for i in [*range(step), *range(step + 1, len(starts)), step]:
        f.box(gx, strip_y + i * piece_h, side, piece_h, style(i), stroke=1.5 if i == step else 1)
        label = "…" if starts[i] is None else f"c = {starts[i]} … {starts[i] + TILE - 1}"
        f.text(gx + side + 10, strip_y + (i + 0.5) * piece_h + 5, label, mono=True, size=SMALL, color=GREY)

    # 32 rows of inp, beside the rows that they serve
    f.text(24, gy - 38, f"inp (N={N}, C={C})", mono=True, bold=True, color=BLUE)
    f.text(24, gy - 18, f"rows {n0} … {n0 + TILE - 1}", size=SMALL, color=GREY)
    for i in [*range(step), *range(step + 1, len(starts)), step]:
        f.box(strip_x + i * piece_w, gy, piece_w, side, style(i), stroke=1.5 if i == step else 1)
        label = "…" if starts[i] is None else str(starts[i])
        middle = strip_x + (i + 0.5) * piece_w
        f.text(middle, gy + side + 18, label, mono=True, size=SMALL, anchor="middle", color=GREY)
    f.text(strip_x - 8, gy + side + 18, "c =", mono=True, size=SMALL, anchor="end", color=GREY)
    f.arrow([(strip_x, gy + side + 32), (strip_x + strip_w, gy + side + 32)])
    f.text(strip_x, gy + side + 50, f"{STEPS} steps of {TILE} channels", size=SMALL, color=GREY)

    # the tile of out: one square a thread
    mesh(f, gx, gy, cell, TILE, TILE)
    f.box(gx, gy + y * cell, side, cell, "kept")
    f.box(gx + x * cell, gy + y * cell, cell, cell, "written", stroke=1.5)
    f.box(gx - 5, gy - 5, side + 10, side + 10, "outline", radius=6)
    f.text(gx, gy + side + 26, f"a tile of out (N={N}, OC={OC})", mono=True, bold=True, color=GREEN)
    f.text(gx, gy + side + 46, f"one thread per output: {TILE * TILE:,} sums", size=SMALL, color=GREY)
    f.text(gx + side + 14, gy + (y + 0.5) * cell + 5, f"warp y = {y}", size=SMALL, color=ORANGE)

    # which block and thread
    f.text(24, 30, f"block ({block_x}, {block_y}), thread (x={x}, y={y})", bold=True, color=GREEN)
    f.text(24, 56, f"n = {block_x} · {TILE} + {y} = {n0 + y}", mono=True, size=SMALL)
    f.text(24, 76, f"o = {block_y} · {TILE} + {x} = {o0 + x}", mono=True, size=SMALL)
    f.text(24, 102, "grey: used already   blue: in shared memory", size=SMALL, color=GREY)

    # the block's shared memory
    top = gy + side + 76
    small = 5
    f.box(12, top - 10, 696, 232, "outline", radius=10)
    f.text(24, top + 10, f"shared memory in step {step + 1}", bold=True)
    left, right, grid_y = 24, 226, top + 22
    mesh(f, left, grid_y, small, TILE, TILE)
    f.box(left + k * small, grid_y + y * small, small, small, "written", stroke=1.5)
    mesh(f, right, grid_y, small, TILE, TILE)
    f.box(right + TILE * small, grid_y, small, TILE * small, "unused")
    f.box(right + k * small, grid_y, small, TILE * small, "read")
    f.box(right + k * small, grid_y + x * small, small, small, "written", stroke=1.5)
    caption = grid_y + TILE * small + 16
    f.text(left, caption, f"inp_tile[{TILE}][{TILE}]", mono=True, size=SMALL)
    f.text(right, caption, f"weight_tile[{TILE}][{TILE + 1}]", mono=True, size=SMALL)
    f.text(left, caption + 18, "light lines: every 8 floats", size=SMALL, color=GREY)
    f.text(right, caption + 18, f"grey: column {TILE}, unused", size=SMALL, color=GREY)

    # what happens in a step
    column, line = 420, top + 10
    f.text(column, line, "load", bold=True)
    f.text(column + 70, line, "two floats per thread", size=SMALL, color=GREY)
    f.text(column, line + 26, "barrier", bold=True)
    f.text(column + 70, line + 26, "the tiles are whole", size=SMALL, color=GREY)
    f.text(column, line + 52, f"{TILE} products", bold=True)
    f.text(column + 100, line + 52, f"k = 0 … {TILE - 1}, here {k}", size=SMALL, color=GREY)
    f.text(column + 10, line + 74, f"sum += inp_tile[{y}][{k}]", mono=True, size=SMALL, color=GREEN)
    f.text(column + 10, line + 92, f"     * weight_tile[{x}][{k}]", mono=True, size=SMALL, color=GREEN)
    f.text(column + 10, line + 114, "the warp: one float of inp_tile,", size=SMALL, color=GREY)
    f.text(column + 10, line + 132, f"column {k} of weight_tile: {TILE} banks", size=SMALL, color=GREY)
    f.text(column, line + 160, "barrier", bold=True)
    f.text(column + 70, line + 160, "all have been read", size=SMALL, color=GREY)
    f.line([(column - 12, top), (column - 12, top + 212)], color=LINE)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
