# SPDX-License-Identifier: MIT
"""Lesson 04: a grid covers the elements in whole blocks; the last block has threads without an element."""

from draw import BLUE, GREY, ORANGE, SMALL, Figure

PATH = "lessons/04_first_kernel/figure.svg"

BLOCK, WARP = 256, 32
N = 4 * 1024 * 768  # residual at B=4, T=1024, C=768
TAIL_N = 3 * 37 * 63  # the case op_c63
block, warp, lane = 3, 1, 7  # the thread drawn


def blocks_of(n: int) -> int:
    return (n + BLOCK - 1) // BLOCK


def threads(f: Figure, y: float, number: int, style) -> None:
    """A block as a rounded box with its warps as rows of lanes; style(thread) names the style of a lane."""
    cell, x = 18, 104
    f.box(16, y - 10, 688, 8 * cell + 20, "outline", radius=8)
    for w in range(BLOCK // WARP):
        f.text(24, y + w * cell + 14, f"warp {w}", size=SMALL)
        f.lanes(x, y + w * cell, cell, [style(w * WARP + i) for i in range(WARP)])


def figure() -> Figure:
    last = blocks_of(TAIL_N) - 1
    filled = TAIL_N - last * BLOCK
    thread = warp * WARP + lane
    i = block * BLOCK + thread
    f = Figure(
        610,
        "Which thread adds which element",
        f"{N:,} elements are {blocks_of(N):,} blocks of {BLOCK} threads, {BLOCK // WARP} warps of {WARP} each. Thread "
        f"{thread} of block {block} adds element {i}. {TAIL_N:,} elements take {blocks_of(TAIL_N)} blocks, and in the "
        f"last one only {filled} threads have an element.",
    )
    left, width = 24, 672

    # the regular case: every thread has an element
    f.text(left, 30, "out (N)", mono=True, bold=True)
    note = f"B=4 T=1024 C=768: N = {N:,}, {blocks_of(N):,} blocks of {BLOCK} threads"
    f.text(left + width, 30, note, anchor="end", color=GREY)
    labels = ["block 0", "block 1", "block 2", "block 3", "…", f"block {blocks_of(N) - 1}"]
    cell = f.cells(left, 40, width, 28, labels, styles={block: "read"})
    f.zoom(left + block * cell, left + (block + 1) * cell, 68, 16, 704, 96)
    threads(f, 106, block, lambda k: "kept" if k == thread else "read")
    f.line([(104 + (lane + 0.5) * 18, 106 + (warp + 1) * 18), (104 + (lane + 0.5) * 18, 272)], color=ORANGE, width=1.5)
    f.text(left, 288, f"thread {thread} of block {block}", bold=True, color=ORANGE)
    f.text(left + 190, 288, f"i = {block} · {BLOCK} + {thread} = {i}", mono=True)
    f.text(left + 410, 288, f"out[{i}] = inp1[{i}] + inp2[{i}]", mono=True, color=BLUE, size=SMALL)

    # the tail
    y = 324
    f.line([(16, y - 14), (704, y - 14)])
    f.text(left, y + 10, "out (N)", mono=True, bold=True)
    note = f"B=3 T=37 C=63: N = {TAIL_N:,}, {last + 1} blocks, {(last + 1) * BLOCK:,} threads"
    f.text(left + width, y + 10, note, anchor="end", color=GREY)
    labels = ["block 0", "block 1", "…", f"block {last - 1}", f"block {last}"]
    cell = f.cells(left, y + 20, width, 28, labels, styles={4: "read"})
    f.zoom(left + 4 * cell, left + 5 * cell, y + 48, 16, 704, y + 76)
    threads(f, y + 86, last, lambda k: "read" if k < filled else "unused")
    for k in range(filled, BLOCK):
        f.text(
            104 + (k % WARP + 0.5) * 18, y + 86 + (k // WARP) * 18 + 14, "×", anchor="middle", size=SMALL, color=GREY
        )
    first, end = last * BLOCK, (last + 1) * BLOCK - 1
    f.text(left, y + 268, f"{filled} threads have an element:", color=BLUE)
    f.text(left + 220, y + 268, f"i = {first} … {TAIL_N - 1}", mono=True, size=SMALL)
    f.text(left + 384, y + 268, f"× {BLOCK - filled} have none: i = {TAIL_N} … {end}", color=GREY)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
