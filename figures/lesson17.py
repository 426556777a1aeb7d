# SPDX-License-Identifier: MIT
"""Lesson 17: a layer at B=1 as seven launches, between which the GPU waits for the host, and in a graph."""

from draw import BLUE, GREY, SMALL, Figure

PATH = "lessons/17_cuda_graphs/figure.svg"

NAMES = ("qkv", "attention", "projection", "residual_layernorm", "fc and GELU", "projection", "residual_layernorm")
KERNEL = 149 / 87  # µs, on average: what the work of a token needs at least, by kernels
LAUNCH, GAP = 5.0, 1.3  # µs: of the host for each launch; between two nodes of a graph
LEFT, SCALE = 104, 14.6  # of 0 µs; pixels for a microsecond


def at(microseconds: float) -> float:
    return LEFT + SCALE * microseconds


def labelled(f: Figure, y: float, starts: list[float], width: float, style: str) -> None:
    for i, start in enumerate(starts):
        f.box(at(start), y, SCALE * width, 28, style)
        f.text(at(start + width / 2), y + 19, str(i + 1), mono=True, anchor="middle", size=SMALL)


def figure() -> Figure:
    f = Figure(
        408,
        "Seven launches, and one of a graph",
        "Two timelines of a layer of GPT-2 at B=1. Above: the host launches seven kernels one after the other, 5 µs "
        "each. Each kernel begins when its launch is done, and takes 1.7 µs; then the GPU waits 3.3 µs for the next "
        "one. The layer is done after 37 µs. Below: the host launches a graph once. The seven kernels follow each "
        "other with gaps of 1.3 µs, and the layer is done after 24.8 µs; the host does nothing but wait.",
    )
    starts = [LAUNCH * (i + 1) for i in range(len(NAMES))]
    f.text(24, 30, "Launched one by one: the GPU waits for the host", bold=True)
    y = 48
    f.text(24, y + 19, "host")
    labelled(f, y, [LAUNCH * i for i in range(len(NAMES))], LAUNCH, "kept")
    y += 48
    f.text(24, y + 19, "GPU")
    labelled(f, y, starts, KERNEL, "read")
    for start in starts:
        f.arrow([(at(start), y - 20), (at(start), y - 1)])
    for start in starts[:-1]:
        f.line([(at(start + KERNEL) + 3, y + 14), (at(start + LAUNCH) - 3, y + 14)], dashed=True)
    f.text(at(starts[0] + KERNEL / 2), y + 46, "1.7 µs of work", anchor="middle", size=SMALL, color=BLUE)
    f.text(at(starts[1] + KERNEL + 3.5), y + 46, "3.3 µs of waiting", anchor="middle", size=SMALL, color=GREY)

    y += 84
    f.text(24, y, "Launched as a graph: one call, and the GPU goes from node to node", bold=True)
    y += 18
    f.text(24, y + 19, "host")
    f.box(at(0), y, SCALE * LAUNCH, 28, "kept")
    f.text(at(LAUNCH / 2), y + 19, "graph", anchor="middle", size=SMALL)
    f.text(at(LAUNCH) + 12, y + 19, "waits, or does something else", size=SMALL, color=GREY)
    y += 48
    f.text(24, y + 19, "GPU")
    nodes = [LAUNCH + (KERNEL + GAP) * i for i in range(len(NAMES))]
    labelled(f, y, nodes, KERNEL, "read")
    f.arrow([(at(nodes[0]), y - 20), (at(nodes[0]), y - 1)])
    f.text(at(nodes[1] + KERNEL + GAP / 2), y + 46, "gaps of 1.3 µs", anchor="middle", size=SMALL, color=GREY)

    y += 78
    f.line([(at(0), y), (at(40), y)])
    for tick in range(0, 41, 10):
        f.line([(at(tick), y - 4), (at(tick), y + 4)])
        f.text(at(tick), y + 20, f"{tick} µs", anchor="middle", size=SMALL)
    y += 44
    words = [f"{i + 1} {name}" for i, name in enumerate(NAMES)]
    f.text(24, y, "   ".join(words[:4]), size=SMALL)
    f.text(24, y + 20, "   ".join(words[4:]), size=SMALL)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
