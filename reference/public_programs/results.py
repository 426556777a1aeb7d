# SPDX-License-Identifier: MIT
"""Checks of programs that do not test themselves. A function raises AssertionError if the output or a file that the
program wrote is wrong. The expected values are computed here, from the inputs in inputs.py."""

from __future__ import annotations

import math
import re
from pathlib import Path

from reference.public_programs import inputs


def expect(right: bool, what: str) -> None:
    if not right:
        raise AssertionError(what)


def expect_near(value: float, expected: float, tolerance: float, what: str) -> None:
    if not abs(value - expected) <= tolerance:
        raise AssertionError(f"{what} is {value:g}, not {expected:g}")


def bfs(where: Path, output: str) -> None:
    """The distance of each node from the first."""
    edges = inputs.graph()
    cost, reached = {0: 0}, [0]
    for node in reached:
        for target in edges[node]:
            if target not in cost:
                cost[target] = cost[node] + 1
                reached.append(target)
    found = re.findall(r"^(\d+)\) cost:(-?\d+)$", (where / "result.txt").read_text(), re.MULTILINE)
    expect({int(node): int(value) for node, value in found} == cost, "the distances differ")


def b_tree(where: Path, output: str) -> None:
    """A range begins at a key and has as many as were asked for; a search finds its key."""
    ranges, single = (where / "output.txt").read_text().split("command: k")
    counts = [list(map(int, line.split())) for line in ranges.splitlines() if re.match(r"\d+ +\d+ +\d+$", line)]
    expect(len(counts) == 200, f"{len(counts)} ranges")
    expect(
        all(0 <= begin < inputs.TREE_KEYS and length in (200, 201) for _, begin, length in counts), "a range differs"
    )
    values = [int(line.split()[1]) for line in single.splitlines() if re.match(r"\d+ +-?\d+$", line)]
    expect(len(values) == 500 and all(0 <= value <= inputs.TREE_KEYS for value in values), "a key was not found")


def hotspot(where: Path, output: str) -> None:
    """The program's differences, on the whole plate at once."""
    size, steps = inputs.GRID, 4
    temperature, power = inputs.plate(1)
    side = 0.016 / size
    step_of_capacity = 0.001 / (3.0e6 / (0.5 * 0.0005 * 1.75e6)) / (0.5 * 1.75e6 * 0.0005 * side * side)
    along, across = (
        2 * 100 * 0.0005,
        100 * side * side / 0.0005,
    )  # inverse resistances to a neighbour and to the outside
    for _ in range(steps):
        new = []
        for row in range(size):
            for col in range(size):
                here = temperature[row * size + col]
                near = [
                    temperature[min(max(row + down, 0), size - 1) * size + min(max(col + right, 0), size - 1)]
                    for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1))
                ]
                flow = power[row * size + col] + (sum(near) - 4 * here) * along + (80.0 - here) * across
                new.append(here + step_of_capacity * flow)
        temperature = new
    found = [float(line.split()[1]) for line in (where / "output.txt").read_text().splitlines()]
    expect(len(found) == size * size, f"{len(found)} cells")
    for cell, (value, expected) in enumerate(zip(found, temperature, strict=True)):
        expect_near(value, expected, 2e-3, f"cell {cell}")


def hotspot3d(where: Path, output: str) -> None:
    """The program compares with its own loops on the host."""
    found = re.search(r"Accuracy: (\S+)", output)
    expect(found is not None and float(found[1]) < 1e-4, "its accuracy")


def lud(where: Path, output: str) -> None:
    """The program verifies, and prints only what differs."""
    expect("dismatch" not in output, "its own test found differences")


def nn(where: Path, output: str) -> None:
    """The five storms that are nearest."""
    distances = sorted(math.hypot(30 - latitude, 90 - longitude) for _, latitude, longitude in inputs.storms())
    found = [float(value) for value in re.findall(r"Distance=(\S+)", output)]
    expect(len(found) == 5, f"{len(found)} storms")
    for value, expected in zip(found, distances, strict=False):
        expect_near(value, expected, 1e-3, "a distance")


def pathfinder(where: Path, output: str) -> None:
    """The cheapest way down to each column; the program prints its weights, its first row once more, and the costs."""
    rows = [list(map(int, line.split())) for line in output.splitlines() if re.fullmatch(r"(\d+ )+", line)]
    walls, found = rows[:-2], rows[-1]
    cost = walls[0]
    for wall in walls[1:]:
        cost = [weight + min(cost[max(col - 1, 0) : col + 2]) for col, weight in enumerate(wall)]
    expect(len(walls) == 100 and found == cost, "the costs differ")


def uniform_flow(where: Path, output: str) -> None:
    """A uniform flow past nothing stays as it is: the density is that of the far field."""
    density = [float(value) for value in (where / "density").read_text().split()[2:]]
    expect(len(density) == inputs.MESH, f"{len(density)} elements")
    for element, value in enumerate(density):
        expect_near(value, 1.4, 1e-3, f"element {element}'s density")
