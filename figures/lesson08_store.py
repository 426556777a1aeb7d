# SPDX-License-Identifier: MIT
"""Lesson 08: a thread loads 4 channels of a row as one float4 and stores them in 4 rows of the tile."""

from draw import BLUE, GREEN, GREY, ORANGE, SMALL, Figure
from lesson08 import SIDE, STEP, TILE, C, N, block_x, x, y

PATH = "lessons/08_register_tiled_matmul/store.svg"


def figure() -> Figure:
    thread = y * SIDE + x
    row, four = thread // (STEP // 4), thread % (STEP // 4)  # of a tile, and of the row's piece
    n, first = block_x * TILE + row, 4 * four  # row of inp, first channel of the four
    step = 2
    f = Figure(
        410,
        "Four channels of a row are loaded together and stored in four rows of the tile",
        f"In step {step} thread {thread} loads inp[{n}, {step * STEP + first}] to inp[{n}, {step * STEP + first + 3}], "
        f"4 neighbouring floats, as one float4. It stores them into inp_tile[{first}][{row}] to "
        f"inp_tile[{first + 3}][{row}], {TILE} floats apart. The other three threads of the row store into the same "
        f"column, and so into the same bank.",
    )
    cell, gx = 26, 232
    f.text(24, 30, f"inp (N={N}, C={C}), in global memory", mono=True, bold=True, color=BLUE)
    f.text(
        24,
        50,
        f"row {n}, channels {step * STEP} … {step * STEP + STEP - 1}: loaded by threads {thread - four} … "
        f"{thread - four + 3} of the block",
        size=SMALL,
        color=GREY,
    )
    f.cells(
        gx,
        66,
        STEP * cell,
        cell,
        [str(step * STEP + i) for i in range(STEP)],
        styles=dict.fromkeys(range(first, first + 4), "read"),
    )
    f.text(24, 84, f"thread {thread} (x={x}, y={y})", size=SMALL, color=GREEN, bold=True)
    f.text(24, 104, "one load of 16 bytes", size=SMALL, color=GREY)
    top = 176
    f.text(24, top - 34, f"inp_tile[{STEP}][{TILE}], in shared memory", mono=True, bold=True, color=BLUE)
    f.text(24, top - 14, "one row per channel, one column per row of inp", size=SMALL, color=GREY)
    columns, height = 17, 13
    for r in range(STEP):
        for c in range(columns):
            style = "memory"
            if c == row:
                style = "written" if first <= r < first + 4 else "kept"
            f.box(gx + c * cell, top + r * height, cell, height, style)
        if r in (0, first, first + 1, first + 2, first + 3, STEP - 1):
            f.text(gx - 8, top + r * height + 11, f"k={r}", mono=True, size=SMALL, anchor="end", color=GREY)
    f.text(gx + columns * cell + 6, top + 12, "…", color=GREY)
    f.text(gx + (row + 0.5) * cell, top + STEP * height + 17, str(row), mono=True, size=SMALL, anchor="middle")
    start = gx + (first + 2) * cell
    f.arrow(
        [
            (start, 66 + cell),
            (start, 116),
            (gx + (row + 0.5) * cell, 116),
            (gx + (row + 0.5) * cell, top - 2 + first * height),
        ]
    )
    f.text(24, top + 128, "4 stores of 4 bytes,", size=SMALL, color=GREEN, bold=True)
    f.text(24, top + 146, f"{TILE * 4} bytes apart", size=SMALL, color=GREEN, bold=True)
    f.text(24, top + 180, "orange: the 3 other", size=SMALL, color=ORANGE)
    f.text(24, top + 198, f"threads of row {n},", size=SMALL, color=ORANGE)
    f.text(24, top + 216, "in the same bank", size=SMALL, color=ORANGE)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
