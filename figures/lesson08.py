# SPDX-License-Identifier: MIT
"""Lesson 08: a channel of two tiles in shared memory; 16 floats in a thread's registers serve its 64 outputs."""

from draw import BLUE, GREEN, GREY, LINE, ORANGE, SMALL, Figure

PATH = "lessons/08_register_tiled_matmul/figure.svg"

N, C, OC, TILE, STEP, OUT = 4096, 768, 3072, 128, 16, 8  # the first matmul of the MLP at B=4, T=1024
SIDE = TILE // OUT
block_x, block_y = 5, 7  # the block drawn
x, y = 5, 3  # the thread in it
k = 9  # the channel of the tiles that is read


def figure() -> Figure:
    n0, o0, row, column = block_x * TILE, block_y * TILE, y * OUT, x * OUT
    f = Figure(
        738,
        "16 floats in registers serve 64 products",
        f"Block ({block_x}, {block_y}) computes rows {n0} to {n0 + TILE - 1} and columns {o0} to {o0 + TILE - 1} of "
        f"out with {SIDE} by {SIDE} threads. Its shared memory holds {STEP} channels of both operands, one row per "
        f"channel. For k = {k}, thread (x={x}, y={y}) loads floats {row} to {row + OUT - 1} of inp_tile[{k}] and "
        f"floats {column} to {column + OUT - 1} of weight_tile[{k}] into registers, two 16-byte loads each, and adds "
        f"their {OUT * OUT} products to its {OUT * OUT} sums.",
    )
    cell = 15
    side = SIDE * cell
    gx, gy = 212, 128  # the block's tile of out, a square a thread

    f.text(24, 30, f"block ({block_x}, {block_y})", bold=True, color=GREEN)
    f.text(24, 50, f"thread (x={x}, y={y})", bold=True, color=GREEN)
    f.text(24, 72, f"channel {k} of {STEP} in a step", size=SMALL, color=GREY)

    # one channel of either tile: 128 floats, drawn in 8s
    f.text(gx, 30, f"weight_tile[{k}], {TILE} floats", mono=True, bold=True, color=BLUE)
    f.text(gx, 50, f"rows {o0} … {o0 + TILE - 1} of weight", size=SMALL, color=GREY)
    for i in [*range(x), *range(x + 1, SIDE), x]:
        f.box(gx + i * cell, gy - 42, cell, cell, "read" if i == x else "memory", stroke=1.5 if i == x else 1)
    f.text(gx + side + 12, gy - 30, "one box: 8 floats", size=SMALL, color=GREY)
    f.text(24, gy + 12, f"inp_tile[{k}]", mono=True, bold=True, color=BLUE)
    f.text(24, gy + 32, f"rows {n0} … {n0 + TILE - 1}", size=SMALL, color=GREY)
    f.text(24, gy + 50, "of inp", size=SMALL, color=GREY)
    for i in [*range(y), *range(y + 1, SIDE), y]:
        f.box(gx - 42, gy + i * cell, cell, cell, "read" if i == y else "memory", stroke=1.5 if i == y else 1)

    # the threads: rows y = 2 and 3 are a warp
    f.grid(gx, gy, cell, SIDE, SIDE, lambda r, c: "kept" if r // 2 == y // 2 else "memory")
    f.box(gx + x * cell, gy + y * cell, cell, cell, "written", stroke=1.5)
    f.box(gx - 5, gy - 5, side + 10, side + 10, "outline", radius=6)
    right = gx + side + 22
    f.text(right, gy + 22, f"a tile of out: {TILE} × {TILE}", bold=True, color=GREEN)
    f.text(right, gy + 42, f"{SIDE} × {SIDE} threads,", size=SMALL, color=GREY)
    f.text(right, gy + 60, f"one square each: {OUT} × {OUT} outputs", size=SMALL, color=GREY)
    f.text(right, gy + 92, "a warp: 2 rows of 16 threads", size=SMALL, color=ORANGE)
    f.text(right, gy + 110, "it reads 16 floats of inp_tile", size=SMALL, color=GREY)
    f.text(right, gy + 128, f"and all {TILE} of weight_tile", size=SMALL, color=GREY)
    f.text(right, gy + 160, f"tiles: 2 · {STEP} · {TILE} floats", size=SMALL, color=GREY)
    f.text(right, gy + 178, f"= {2 * STEP * TILE * 4:,} bytes of shared memory", size=SMALL, color=GREY)

    # the thread's registers
    top = gy + side + 28
    f.box(12, top, 696, 324, "outline", radius=10)
    f.text(24, top + 24, f"registers of thread (x={x}, y={y})", bold=True, color=GREEN)
    small = 24
    rx, ry = 134, top + 84  # the sums
    f.cells(rx, ry - 34, OUT * small, small, [f"b{j}" for j in range(OUT)], "read")
    for i in range(OUT):
        f.box(rx - 34, ry + i * small, small, small, "read")
        f.text(rx - 34 + small / 2, ry + (i + 0.5) * small + 5, f"a{i}", mono=True, anchor="middle")
    i_drawn, j_drawn = 2, 6
    f.grid(rx, ry, small, OUT, OUT, lambda r, c: "written" if (r, c) == (i_drawn, j_drawn) else "memory")
    f.text(
        24, ry + OUT * small + 20, f"b0 … b7 = weight_tile[{k}][{column} … {column + OUT - 1}]", mono=True, size=SMALL
    )
    f.text(24, ry + OUT * small + 38, f"a0 … a7 = inp_tile[{k}][{row} … {row + OUT - 1}]", mono=True, size=SMALL)

    column_x, line = 372, top + 24
    f.text(column_x, line, f"for each of {STEP} channels", bold=True)
    f.text(column_x, line + 28, "4 loads of 16 bytes", bold=True)
    f.text(column_x, line + 46, "two of inp_tile, two of weight_tile", size=SMALL, color=GREY)
    f.text(column_x, line + 76, f"{OUT * OUT} multiply-adds", bold=True)
    f.text(column_x, line + 94, "all from registers, here", size=SMALL, color=GREY)
    f.text(
        column_x,
        line + 114,
        f"sum[{i_drawn}][{j_drawn}] += a{i_drawn} * b{j_drawn}",
        mono=True,
        size=SMALL,
        color=GREEN,
    )
    f.text(column_x, line + 148, f"sum[{i_drawn}][{j_drawn}] is", size=SMALL, color=GREY)
    f.text(
        column_x,
        line + 168,
        f"n = {block_x} · {TILE} + {y} · {OUT} + {i_drawn} = {n0 + row + i_drawn}",
        mono=True,
        size=SMALL,
    )
    f.text(
        column_x,
        line + 186,
        f"o = {block_y} · {TILE} + {x} · {OUT} + {j_drawn} = {o0 + column + j_drawn}",
        mono=True,
        size=SMALL,
    )
    f.text(column_x, line + 222, "registers", bold=True)
    f.text(column_x, line + 242, f"{OUT * OUT} sums + 2 · {OUT} operands", size=SMALL, color=GREY)
    f.text(column_x, line + 260, "+ addresses: at most 128 per thread", size=SMALL, color=GREY)
    f.line([(column_x - 14, top + 12), (column_x - 14, top + 312)], color=LINE)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
