# SPDX-License-Identifier: MIT
"""Small inputs for programs whose suite has none. A function writes them next to where the program runs, `where`, and
always the same ones. The folders are those that the programs read."""

from __future__ import annotations

import math
import random
import re
import struct
from pathlib import Path

GRAPH_NODES = 4096
GRID = 64  # cells per side
LAYERS = 8
TREE_KEYS = 4096
MESH = 960  # elements; a multiple of the programs' 192
MESH_ROW = 32
FRAME_ROWS, FRAME_COLS, FRAMES = 656, 744, 4


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def graph() -> list[list[int]]:
    """The edges of each node: a random graph whose nodes can all be reached from the first one."""
    draw = random.Random(1)
    edges: list[list[int]] = [[] for _ in range(GRAPH_NODES)]
    for node in range(1, GRAPH_NODES):
        edges[draw.randrange(node)].append(node)
        edges[node].append(draw.randrange(GRAPH_NODES))
    return edges


def bfs(where: Path) -> None:
    edges = graph()
    lines = [str(GRAPH_NODES)]
    start = 0
    for targets in edges:
        lines.append(f"{start} {len(targets)}")
        start += len(targets)
    lines += ["", "0", "", str(start)]
    lines += [f"{target} 1" for targets in edges for target in targets]
    write(where / "graph.txt", "\n".join(lines) + "\n")


def b_tree(where: Path) -> None:
    """All keys that the program can ask for, in a random order."""
    keys = list(range(TREE_KEYS + 1))
    random.Random(2).shuffle(keys)
    write(where / "keys.txt", "\n".join(map(str, [TREE_KEYS, *keys])) + "\n")
    write(where / "command.txt", "j 200 200\nk 500 \n")


def plate(layers: int) -> tuple[list[float], list[float]]:
    """The temperature and the power of each cell."""
    draw = random.Random(3)
    cells = GRID * GRID * layers
    return [round(draw.uniform(320, 340), 4) for _ in range(cells)], [
        round(draw.uniform(0, 10), 4) for _ in range(cells)
    ]


def hotspot(where: Path) -> None:
    temperature, power = plate(1)
    write(where / "temperature.txt", "\n".join(map(str, temperature)) + "\n")
    write(where / "power.txt", "\n".join(map(str, power)) + "\n")


def hotspot3d(where: Path) -> None:
    temperature, power = plate(LAYERS)
    write(where / "temperature.txt", "\n".join(map(str, temperature)) + "\n")
    write(where / "power.txt", "\n".join(map(str, power)) + "\n")


def storms() -> list[tuple[str, float, float]]:
    """Records of 48 characters, with the latitude and longitude in them."""
    draw = random.Random(4)
    rows = []
    for _ in range(1000):
        latitude, longitude = round(draw.uniform(7, 70), 1), round(draw.uniform(0, 358), 1)
        text = f"{draw.randrange(1950, 2005):4d} {draw.randrange(1, 13):2d} {draw.randrange(1, 29):2d} 12 07 STORM    "
        text += f"  {latitude:5.1f}{longitude:5.1f} {draw.randrange(10, 165):4d} {draw.randrange(900):4d}"
        rows.append((text[:28] + f"{latitude:5.1f}{longitude:5.1f}" + f"{'':10}", latitude, longitude))
    return rows


def nn(where: Path) -> None:
    write(where / "files.txt", "storms.db\n")
    write(where / "storms.db", "".join(text + "\n" for text, _, _ in storms()))


def myocyte(where: Path) -> None:
    """Concentrations and rates of the size of those of a cell; the model is stiff, and others end in NaN."""
    draw = random.Random(5)
    data = where / "../../data/myocyte"
    write(data / "y.txt", "\n".join(f"{draw.uniform(0.01, 0.5):.6f}" for _ in range(91)) + "\n")
    write(data / "params.txt", "\n".join(f"{draw.uniform(0.5, 2):.6f}" for _ in range(18)) + "\n")


def image(rows: int, cols: int) -> list[int]:
    """Grey values of a smooth picture with noise, row by row."""
    draw = random.Random(6)
    return [
        int(128 + 60 * math.sin(row / 17) * math.cos(col / 23) + draw.uniform(-20, 20))
        for row in range(rows)
        for col in range(cols)
    ]


def srad(where: Path) -> None:
    rows, cols = 502, 458
    values = image(rows, cols)
    lines = [" ".join(map(str, values[row * cols : (row + 1) * cols])) for row in range(rows)]
    write(where / "../../../data/srad/image.pgm", f"P2\n{cols} {rows}\n255\n" + "\n".join(lines) + "\n")


def dwt2d(where: Path) -> None:
    path = where / "../../data/dwt2d/192.bmp"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(image(192, 192 * 3)))


def dxtc(where: Path) -> None:
    """The middle of the sample's own picture, and of the compressed one that it compares with: 4 x 4 points are 8 bytes
    there, each on their own."""
    side, header = 64, 128
    picture, compressed = where / "data/teapot512_std.ppm", where / "data/teapot512_ref.dds"
    head = re.match(rb"P6\s(?:#[^\n]*\n)*(\d+) (\d+)\s+255\n", picture.read_bytes())
    if head is None:
        raise ValueError(f"{picture.name} is another kind of picture")
    cols, points = int(head[1]), picture.read_bytes()[head.end() :]
    if cols == side:
        return  # an earlier call has cut it out
    first = (cols - side) // 2
    rows = [points[(row * cols + first) * 3 :][: side * 3] for row in range(first, first + side)]
    picture.write_bytes(b"P6\n%d %d\n255\n" % (side, side) + b"".join(rows))
    blocks = compressed.read_bytes()
    kept = [blocks[header + (row * cols + first * 4) // 2 :][: side * 2] for row in range(first, first + side, 4)]
    compressed.write_bytes(blocks[:header] + b"".join(kept))


def huffman(where: Path) -> None:
    """Six symbols, the likeliest of them half of all."""
    draw = random.Random(7)
    symbols = draw.choices(b"abcdef", weights=[32, 16, 8, 4, 2, 2], k=16 * 256 * 4)
    (where / "symbols.in").write_bytes(bytes(symbols))


def mesh(where: Path) -> None:
    """A ring of rings: each element has four neighbours, and its faces close it."""
    lines = [str(MESH)]
    for element in range(MESH):
        row, col = divmod(element, MESH_ROW)
        rows = MESH // MESH_ROW
        sides = (
            (row, (col - 1) % MESH_ROW, -1, 0),
            (row, (col + 1) % MESH_ROW, 1, 0),
            ((row - 1) % rows, col, 0, -1),
            ((row + 1) % rows, col, 0, 1),
        )
        faces = (f"{near_row * MESH_ROW + near_col + 1} {x} {y} 0" for near_row, near_col, x, y in sides)
        lines.append(" ".join(["1", *faces]))
    write(where / "mesh.txt", "\n".join(lines) + "\n")


def chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def heartwall(where: Path) -> None:
    """A film of grey frames in AVI, a byte for each point: a dark ring that moves by one point from frame to frame."""
    still = image(FRAME_ROWS, FRAME_COLS)
    frames = []
    for number in range(FRAMES):
        frame = bytearray(still)
        for row in range(FRAME_ROWS):
            for col in range(FRAME_COLS):
                distance = math.hypot(row - 380 - number, col - 320 - number)
                if 95 < distance < 150:
                    frame[row * FRAME_COLS + col] //= 3
        frames.append(bytes(frame))
    size = FRAME_ROWS * FRAME_COLS
    stream = struct.pack("<4s4sIHHIIIIIIII", b"vids", b"RAW ", 0, 0, 0, 0, 1, 25, 0, FRAMES, size, 0, 0) + b"\0" * 8
    picture = struct.pack("<IIIHHIIIIII", 40, FRAME_COLS, FRAME_ROWS, 1, 8, 0, size, 0, 0, 0, 0)
    header = struct.pack("<14I", 40000, size * 25, 0, 16, FRAMES, 0, 1, size, FRAME_COLS, FRAME_ROWS, 0, 0, 0, 0)
    streams = chunk(b"LIST", b"strl" + chunk(b"strh", stream) + chunk(b"strf", picture))
    hdrl = chunk(b"LIST", b"hdrl" + chunk(b"avih", header) + streams)
    movie, index = b"movi", b""
    for frame in frames:
        index += struct.pack("<4sIII", b"00db", 16, len(movie), size)
        movie += chunk(b"00db", frame)
    film = b"AVI " + hdrl + chunk(b"LIST", movie) + chunk(b"idx1", index)
    (where / "film.avi").write_bytes(chunk(b"RIFF", film))
