# SPDX-License-Identifier: MIT
"""Lesson 04: host and device, what lies between global memory and a lane, and one multiprocessor. An H100 SXM."""

from draw import BLUE, GREY, ORANGE, SMALL, Figure

PATH = "lessons/04_first_kernel/device.svg"

MULTIPROCESSORS, SCHEDULERS, LANES = 132, 4, 32
WARPS = 16  # of a scheduler, at most


def figure() -> Figure:
    f = Figure(
        620,
        "Host, device, and one multiprocessor",
        f"The host's memory and the device's global memory are joined by PCIe. Between global memory and the "
        f"{MULTIPROCESSORS} multiprocessors lies the L2 cache. A multiprocessor has shared memory and L1, and "
        f"{SCHEDULERS} schedulers, each of which issues one instruction per cycle to the {LANES} lanes of a warp.",
    )

    # the host
    f.text(16, 28, "host", bold=True)
    f.box(16, 38, 176, 214, "outline", radius=8, stroke=1.5)
    f.box(32, 54, 144, 64, "memory")
    f.text(104, 82, "host memory", anchor="middle")
    f.text(104, 102, "host.data()", mono=True, size=SMALL, anchor="middle", color=GREY)
    f.box(32, 188, 144, 48, "memory")
    f.text(104, 217, "CPU", anchor="middle")

    # the device
    left, right = 322, 704
    f.text(left, 28, "device (H100 SXM)", bold=True)
    f.box(left, 38, right - left, 214, "outline", radius=8, stroke=1.5)
    f.box(left + 16, 54, right - left - 32, 64, "read")
    f.text((left + right) / 2, 82, "global memory, 80 GB", anchor="middle", color=BLUE)
    f.text((left + right) / 2, 102, "what cudaMalloc gives", size=SMALL, anchor="middle", color=GREY)
    f.arrow([(480, 118), (480, 140)])
    f.arrow([(546, 142), (546, 120)])
    f.text(558, 134, "3,350 GB/s", size=SMALL, color=GREY)
    f.box(left + 16, 142, right - left - 32, 28, "read")
    f.text((left + right) / 2, 161, "L2 cache, 50 MB", anchor="middle", color=BLUE)
    f.arrow([(480, 170), (480, 192)])
    f.arrow([(546, 194), (546, 172)])
    names = ["0", "1", "2", "3", "…", str(MULTIPROCESSORS - 1)]
    f.cells(left + 16, 194, right - left - 32, 26, names, styles={0: "kept"})
    f.text(right - 16, 240, f"{MULTIPROCESSORS} multiprocessors", anchor="end", size=SMALL, color=GREY)

    # between them
    f.arrow([(178, 78), (left + 14, 78)])
    f.arrow([(left + 16, 94), (180, 94)])
    f.text(257, 66, "PCIe 5.0", anchor="middle", size=SMALL)
    f.text(257, 114, "63 GB/s", anchor="middle", size=SMALL, color=GREY)
    f.text(257, 134, "cudaMemcpy", mono=True, anchor="middle", size=SMALL)
    f.arrow([(178, 212), (left - 2, 212)])
    f.text(257, 184, "launch", anchor="middle", size=SMALL)
    f.text(257, 203, "kernel<<<…>>>", mono=True, anchor="middle", size=SMALL, color=GREY)

    # one multiprocessor
    top = 300
    f.zoom(left + 16, left + 16 + (right - left - 32) / len(names), 220, 16, 704, top)
    f.box(16, top, 688, 306, "outline", radius=8, stroke=1.5)
    f.text(32, top + 24, "multiprocessor 0", bold=True)
    note = f"holds up to {SCHEDULERS * WARPS} warps of {LANES} threads, of one block or of several"
    f.text(688, top + 24, note, anchor="end", size=SMALL, color=GREY)
    f.box(32, top + 38, 656, 32, "read")
    f.text(360, top + 59, "L1 cache and shared memory, 256 KB", anchor="middle", color=BLUE)
    cell = 13
    x = 688 - LANES * cell
    for lane in (0, LANES - 1):
        f.text(x + (lane + 0.5) * cell, top + 96, str(lane), mono=True, anchor="middle", size=SMALL, color=GREY)
    f.text(x + LANES * cell / 2, top + 96, f"{LANES} lanes: one warp, one instruction", anchor="middle", size=SMALL)
    for s in range(SCHEDULERS):
        y = top + 106 + s * 44
        f.box(32, y, 210, 34, "kept", radius=4, stroke=1.5)
        f.text(42, y + 22, f"scheduler {s}", color=ORANGE)
        f.text(234, y + 22, f"{WARPS} warps", anchor="end", size=SMALL, color=GREY)
        f.arrow([(242, y + 17), (x - 3, y + 17)])
        f.lanes(x, y + 10, cell, ["kept"] * LANES)
    f.text(32, top + 294, "Per cycle each scheduler issues one instruction, of one of its warps.", color=GREY)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
