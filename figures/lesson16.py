# SPDX-License-Identifier: MIT
"""Lesson 16: a block of 64 queries on its way along the tiles of keys, and what of it is in which memory."""

from draw import BLUE, GREEN, GREY, SMALL, Figure

PATH = "lessons/16_fused_attention/figure.svg"

TILES = 16  # of 64, in T = 1024
BLOCK, TILE = 11, 7  # the block of queries that is drawn, and the tile of keys that it has come to
LEFT, TOP, CELL = 24, 62, 17


def style(row: int, column: int) -> str:
    if column > row:
        return "unused"
    if row != BLOCK:
        return "memory"
    return "kept" if column == TILE else "read" if column < TILE else "memory"


def scores(f: Figure) -> None:
    f.text(LEFT, 28, "The scores of a head, T = 1,024", bold=True)
    f.text(LEFT, TOP - 10, "across: 16 tiles of 64 keys; down: queries", size=SMALL, color=GREY)
    f.grid(LEFT, TOP, CELL, TILES, TILES, style)
    side = TILES * CELL
    for i in range(TILES):  # masked: the upper half of the tile on the diagonal
        x, y = LEFT + i * CELL, TOP + i * CELL
        f.line([(x, y), (x + CELL, y + CELL)], color=GREY)
    y = TOP + side
    f.text(LEFT, y + 22, "Block 11, queries 704 to 767: tiles 0 to 6", size=SMALL)
    f.text(LEFT, y + 40, "(blue) are done, 7 (orange) is computed", size=SMALL)
    f.text(LEFT, y + 58, "now, half of tile 11 is masked. The 120", size=SMALL)
    f.text(LEFT, y + 76, "grey tiles are never computed.", size=SMALL)
    f.arrow([(LEFT + side + 6, TOP + (BLOCK + 0.5) * CELL), (344, TOP + (BLOCK + 0.5) * CELL)])


def block(f: Figure) -> None:
    left, right, top, bottom = 346, 696, 62, 410
    f.text(left, 28, "The block, as it folds in tile 7", bold=True)
    f.box(left, top, right - left, bottom - top, "outline", radius=10, stroke=1.5)
    f.text(left + 12, top + 20, "shared memory", size=SMALL, color=GREY)
    f.text(right - 12, top + 20, "registers", size=SMALL, color=GREY, anchor="end")
    f.line([(left + 162, top + 10), (left + 162, bottom - 10)], dashed=True)

    def shared(y: float, name: str, detail: str, look: str) -> None:
        f.box(left + 12, y, 138, 50, look)
        f.text(left + 81, y + 21, name, mono=True, anchor="middle", size=SMALL)
        f.text(left + 81, y + 40, detail, anchor="middle", size=SMALL, color=GREY)

    def registers(y: float, height: float, lines: tuple[str, ...]) -> None:
        f.box(left + 186, y, 152, height, "kept", radius=4)
        for i, words in enumerate(lines):
            f.text(left + 262, y + 21 + 18 * i, words, anchor="middle", size=SMALL, mono=i == 0)

    shared(96, "query", "64 × 64, once", "read")
    shared(160, "of_keys: keys", "448 … 511", "read")
    registers(116, 74, ("scores", "64 × 64", "8 × 8 in a thread"))
    f.arrow([(left + 150, 121), (left + 184, 140)], color=BLUE)
    f.arrow([(left + 150, 185), (left + 184, 166)], color=BLUE)

    registers(220, 62, ("max, sum", "of each row so far"))
    f.arrow([(left + 262, 190), (left + 262, 218)])

    shared(238, "weights", "64 × 32 at a time", "written")
    f.arrow([(left + 184, 256), (left + 152, 262)], color=GREEN)
    shared(314, "of_keys: values", "448 … 511", "read")
    registers(312, 74, ("outs", "64 × 64", "· factor, + product"))
    f.arrow([(left + 150, 272), (left + 184, 330)], color=BLUE)
    f.arrow([(left + 150, 345), (left + 184, 352)], color=BLUE)
    f.arrow([(left + 262, 282), (left + 262, 310)])
    f.text(left, bottom + 22, "At the end: out = outs / sum, and lse. Nothing of", size=SMALL)
    f.text(left, bottom + 40, "size T × T is anywhere.", size=SMALL)


def figure() -> Figure:
    f = Figure(
        466,
        "A block of 64 queries goes along the tiles of keys",
        "Left: the 16 by 16 tiles of a head's scores at T = 1024. The 120 tiles above the diagonal are never computed, "
        "the 16 on it are half masked. Block 11, queries 704 to 767, has done tiles 0 to 6 and computes tile 7. Right: "
        "the block. Shared memory holds its queries, a tile of keys and then of values, and weights of 32 keys. "
        "Registers hold the tile's scores, each row's maximum and sum so far, and the weighted values, which are "
        "multiplied by a factor where the maximum has moved before a tile's product is added.",
    )
    scores(f)
    block(f)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
