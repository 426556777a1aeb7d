# SPDX-License-Identifier: MIT
"""The README's recorded terminal: a check that names a mistake, the edit, the check again, as an animated SVG.

`python figures/terminal.py --record` runs the commands in this checkout, on a layernorm with a mistake that it puts in
place of the stub and takes away again, and keeps what they printed in terminal.json. Without --record the picture is
drawn from that file. The animation is CSS; where it is not shown, or less motion is asked for, all lines stand there.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

sys.path.insert(0, str(Path(__file__).parent))
import draw

HERE = Path(__file__).parent
PATH = "figures/terminal.svg"
RECORD = HERE / "terminal.json"
EXERCISE = draw.ROOT / "lessons/01_layers/layernorm.cpp"
SOLUTION = draw.ROOT / "solutions/01_layers/layernorm.cpp"
RIGHT, WRONG = "sum_of_squares / C", "sum_of_squares / (C - 1)"
CHECK = "make check-lesson01 ONLY=layernorm"
COMMANDS = (CHECK, "sed -i 's|/ (C - 1)|/ C|' lessons/01_layers/layernorm.cpp", CHECK)

SECONDS = 14.0  # of the whole, which then begins again
TYPED = 28.0  # characters in a second
STROKE = 3  # characters that appear together
PAUSE = 0.3  # seconds after a command
READ = 4.0  # seconds that output stands before the next command is typed
SIZE, LINE, LEFT, TOP = draw.SMALL, 18, 20, 48  # of the text, in pixels
TITLE = "make check-lesson01, an edit, and make check-lesson01 again"
DESCRIPTION = (
    "A terminal: the check of lesson 01 says that the variance was divided by C-1, not by C. The line is edited."
)
DESCRIPTION += " The check says ok, and gold."
GROUND, EDGE, TEXT = "#0d1117", "#484f58", "#e6edf3"
ORANGE, GREEN = "#ffa657", "#7ee787"
COLOURS = {"WRONG": ORANGE, "all ok": GREEN, "ok": GREEN, "gold": GREEN}  # of the words that say the verdict


# ---- recording -------------------------------------------------------------------------------------------------------


def record() -> list[dict[str, str]]:
    stub = EXERCISE.read_text()
    if "// TODO" not in stub:
        raise SystemExit(
            f"terminal: {EXERCISE} is no longer the stub; make reset-lesson01 ONLY=layernorm brings it back"
        )
    wrong = SOLUTION.read_text().replace(RIGHT, WRONG)
    assert wrong != SOLUTION.read_text(), f"{SOLUTION} has no {RIGHT}"
    recorded = []
    try:
        EXERCISE.write_text(wrong)
        subprocess.run(COMMANDS[0], shell=True, cwd=draw.ROOT, capture_output=True, check=False)  # builds what it needs
        for command in COMMANDS:
            done = subprocess.run(command, shell=True, cwd=draw.ROOT, capture_output=True, text=True, check=False)
            recorded.append({"command": command, "output": done.stdout})
    finally:
        EXERCISE.write_text(stub)
    return recorded


# ---- drawing ---------------------------------------------------------------------------------------------------------


class Terminal:
    """An SVG that is written line by line, each part of a line shown from a moment on."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.moments: list[float] = []
        self.rows = 0

    def at(self, moment: float) -> str:
        """The class of what is shown from this moment on."""
        moment = round(moment, 2)
        if moment not in self.moments:
            self.moments.append(moment)
        return f"m{self.moments.index(moment)}"

    def row(self, body: str, shown: str = "") -> None:
        y = TOP + LINE * self.rows
        self.rows += 1
        if body:
            self.lines.append(f'<text{shown} x="{LEFT}" y="{y}" xml:space="preserve">{body}</text>')

    def type(self, command: str, moment: float) -> float:
        """A command, a few characters at a time; returns when it is whole."""
        body = f'<tspan class="{self.at(moment)}" fill="{GREEN}">$ </tspan>'
        for begin in range(0, len(command), STROKE):
            end = min(begin + STROKE, len(command))
            body += f'<tspan class="{self.at(moment + end / TYPED)}">{escape(command[begin:end])}</tspan>'
        self.row(body)
        return moment + len(command) / TYPED

    def show(self, output: str, moment: float) -> None:
        for line in output.splitlines():
            self.row(coloured(line) if line.strip() else "", f' class="{self.at(moment)}"')

    def svg(self) -> str:
        height = TOP + LINE * (self.rows - 1) + 20
        frames = [
            f".m{i} {{ animation: m{i} {SECONDS:g}s step-end infinite }}\n"
            f"@keyframes m{i} {{ 0% {{ visibility: hidden }} {100 * moment / SECONDS:.2f}% {{ visibility: visible }} }}"
            for i, moment in enumerate(self.moments)
            if moment > 0
        ]
        dots = "".join(f'<circle cx="{LEFT + 6 + 18 * i}" cy="20" r="5" fill="{EDGE}"/>' for i in range(3))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {draw.WIDTH} {height}" width="{draw.WIDTH}" '
            f'height="{height}" role="img" aria-labelledby="title description" font-family="{draw.MONO}" '
            f'font-size="{SIZE}" fill="{TEXT}">\n'
            f'<title id="title">{TITLE}</title>\n<desc id="description">{DESCRIPTION}</desc>\n'
            "<style>\n@media (prefers-reduced-motion: no-preference) {\n" + "\n".join(frames) + "\n}\n</style>\n"
            f'<rect x="0.5" y="0.5" width="{draw.WIDTH - 1}" height="{height - 1}" rx="8" fill="{GROUND}" '
            f'stroke="{EDGE}"/>\n{dots}\n' + "\n".join(self.lines) + "\n</svg>\n"
        )


def coloured(text: str) -> str:
    """A line of output: its verdict in colour, which the word says too; what a mistake fits, and labels, set off."""
    verdict = next((words for words in COLOURS if re.match(rf"(\s+\w+)?\s*{words}\s", text)), None)
    if verdict:
        before, _, after = text.partition(verdict)
        return f'{escape(before)}<tspan fill="{COLOURS[verdict]}" font-weight="600">{verdict}</tspan>{escape(after)}'
    if text.split()[0] == "fits":
        return f'<tspan fill="{ORANGE}">{escape(text)}</tspan>'
    return escape(text)


def drawn(recorded: list[dict[str, str]]) -> str:
    terminal, moment = Terminal(), 0.3
    for one in recorded:
        moment = terminal.type(one["command"], moment) + PAUSE
        if output := one["output"].rstrip():
            terminal.show(f"{output}\n\n" if one is not recorded[-1] else output, moment)
            moment += READ
    return terminal.svg()


def main() -> None:
    if sys.argv[1:] == ["--record"]:
        RECORD.write_text(json.dumps(record(), indent=1) + "\n")
        print(RECORD.relative_to(draw.ROOT))
    (draw.ROOT / PATH).write_text(drawn(json.loads(RECORD.read_text())))
    print(PATH)


if __name__ == "__main__":
    main()
