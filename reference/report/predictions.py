# SPDX-License-Identifier: MIT
"""`make predictions`: the times that a card's report will measure, as the estimate has them, written down beforehand.

A registration is a file of reference/predictions: milliseconds of every item on every card of cards.toml. WRITE=1 adds
one; registered.sha256 keeps each file's hash, and no file is ever replaced. Without WRITE=1 the command says how the
estimates of today differ from the newest registration. A report is compared with the oldest registration of each item.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

from reference.gpu import counts, estimates, reported, rungs
from reference.gpu.cards import read_cards
from reference.gpu.counts import Key, Step
from reference.gpu.estimates import OnCard
from reference.gpu.lesson_shapes import all_lessons, dims
from reference.gpu.pages import put
from reference.gpu.predicted import (
    FOLDER,
    HASHES,
    Comparison,
    Registration,
    Row,
    Rows,
    of_cards,
    off,
    registered_files,
    registrations,
    said_of_left_out,
)
from reference.gpu.tools import (
    Parser,
    ToolError,
    counted,
    last_line,
    run,
    run_main,
    three_digits,
    utc_now,
)

FORMAT = 1
PAGE = FOLDER / "README.md"
# An estimate depends on these files. A registration names the newest commit that has changed one of them.
MADE_OF = ("solutions", "lessons", "checker/estimate", "reference/cards.toml", "reference/sass.json")
MADE_OF += (str(estimates.RECORDED),)


# ---- what is predicted -----------------------------------------------------------------------------------------------

Items = dict[str, dict[str, dict[Key, int]]]  # by section and item, how often each call adds to its time


def calls_of(step: Step, with_loss: bool = True) -> dict[Key, int]:
    return {
        (call, step.files[call.op]): n for call, n in step.calls.items() if with_loss or call.op not in counts.LOSS_OPS
    }


def calls_at(root: Path, lesson: str, op: str, shape: str, null: tuple[str, ...] = ()) -> dict[Key, int]:
    """Returns the calls of a lesson's op at a timed shape: of `forward` and `predict` all that the pass makes. `null`:
    the parameters that are null when it is timed."""
    if op not in reported.PASSES:
        return {(reported.call_at(op, shape, null), reported.own_files(root, lesson, op)): 1}
    d = dims(shape)
    model = f"max_T=1024 V=50257 L={d['L']} NH={d['NH']} C={d['C']}"
    step = next(step for step in counts.steps(root, model, d["B"], d["T"]) if step.lesson == lesson)
    return calls_of(step, with_loss=op == "forward")


def items(root: Path) -> Items:
    """Returns all that the report's parts `waterfall`, `timings`, `ladder` and `forward_b4` measure of solutions."""
    steps = counts.steps(root, *counts.PASS)
    ops = {counts.item_name(files, call): {(call, files): 1} for step in steps for call, files in calls_of(step)}
    lessons = {}
    for lesson in (lesson for lesson in all_lessons(root) if lesson.track == "device"):
        nulls = reported.null_parameters(root, lesson.number)
        for op, shapes in lesson.timed.items():
            null = nulls.get(op, ())
            for shape in shapes:
                name = f"lesson{lesson.number}/{op} {shape}{reported.suffix(null)}"
                lessons[name] = calls_at(root, lesson.name, op, shape, null)
    ladder = {
        f"lesson{rung.number}/{shape}": calls_at(root, rung.lesson, "matmul", shape)
        for rung in rungs.rungs(root)
        for shape in rungs.GPU_SHAPES
        if rung.kernel and rung.takes(shape)
    }
    return {
        "ops": ops,
        "lessons": lessons,
        "ladder": ladder,
        "steps": {step.number: calls_of(step) for step in steps},
        "logits": {step.number: calls_of(step, with_loss=False) for step in steps},
    }


def four_digits(seconds: float) -> float:
    """Returns milliseconds."""
    return float(f"{1e3 * seconds:.4g}")


def rows_of(wanted: Items, cards: list[OnCard]) -> Rows:
    def row(calls: dict[Key, int]) -> list[float]:
        return [four_digits(sum(n * card.of[key].seconds for key, n in calls.items())) for card in cards]

    return {section: {name: row(calls) for name, calls in of.items()} for section, of in wanted.items()}


# ---- a registration --------------------------------------------------------------------------------------------------


def estimated_today(root: Path) -> tuple[dict, Rows]:
    """Returns what a registration says of the estimator, and all rows, on every card of cards.toml."""
    wanted, cards = items(root), list(read_cards())
    keys = [key for of in wanted.values() for calls in of.values() for key in calls]
    priced = estimates.of_calls(root, keys, ",".join(cards))
    counted_in = hashlib.sha256((root / estimates.RECORDED).read_bytes()).hexdigest()
    head = {"estimator": {"band": str(priced[0].band), "estimates_sha256": counted_in}, "cards": cards}
    return head, rows_of(wanted, priced)


def as_json(head: dict, rows: Rows) -> str:
    """Returns one line per row."""
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    for section, of in rows.items():
        of_items = ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in of.items())
        lines.append(f"{json.dumps(section)}: {{\n{of_items}\n}}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def git(root: Path, *words: str) -> str:
    done = run(["git", "-C", str(root), *words], limit=60)
    if done.status != 0:
        raise ToolError(f"git {words[0]}: {last_line(done.output)}")
    return done.output.strip()


def register(root: Path, moment: str) -> Path:
    """Writes today's estimates as a new file, registered at "2026-11-26T14:00:00Z". Raises ToolError if an estimate's
    sources differ from the commit, or if the file is there."""
    if changed := git(root, "status", "--porcelain", "--", *MADE_OF):
        raise ToolError(f"a registration names a commit, and files differ from it: commit {changed.split()[1]} first")
    commit = git(root, "log", "-1", "--format=%H", "--", *MADE_OF)
    path = FOLDER / f"{moment[:10]}-{commit[:7]}.json"
    if (root / path).exists() or path.name in registered_files(root):
        raise ToolError(f"{path} is there, and a registration is never replaced")
    head, rows = estimated_today(root)
    text = as_json({"format": FORMAT, "registered": moment, "commit": commit, **head}, rows)
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    with (root / HASHES).open("a") as hashes:
        hashes.write(f"{hashlib.sha256(text.encode()).hexdigest()}  {path.name}\n")
    return path


def difference(old: Registration, cards: list[str], rows: Rows) -> str:
    """Says in one line how today's estimates differ from a registration's."""
    new = {(section, name): row for section, of in rows.items() for name, row in of.items()}
    known = {(section, name) for section, of in old.rows.items() for name in of}
    worst = {}
    for (section, name), row in new.items():
        then = [old.ms(card, section, name) for card in cards]
        ratios = [ms / before for ms, before in zip(row, then, strict=True) if before and ms != before]
        if ratios:
            worst[name] = max(ratios, key=off)
    said = [f"{len(worst)} of {counted(len(new), 'row')} differ from {old.name}"]
    if worst:
        name = max(worst, key=lambda name: off(worst[name]))
        said.append(f"most {name}, {worst[name]:.2f} times")
    if added := len(new.keys() - known):
        said.append(f"{added} new")
    if gone := len(known - new.keys()):
        said.append(f"{gone} gone")
    return "; ".join(said)


# ---- a report beside what was predicted ------------------------------------------------------------------------------

SHOWN = 12  # rows on a terminal
LABEL = 45  # columns


def shares(rows: list[Row]) -> str:
    within = {most: sum(off(row.ratio) <= most for row in rows) for most in (1.25, 1.5)}
    return f"{within[1.25]} of {len(rows)} within 1.25 times, {within[1.5]} within 1.5 times"


def errors_by_op(rows: list[Row]) -> dict[str, float]:
    """Returns the mean of |predicted - measured| / measured by kind of op, largest first."""
    by_op: dict[str, list[float]] = {}
    for row in rows:
        by_op.setdefault(row.op, []).append(row.error)
    means = {op: sum(errors) / len(errors) for op, errors in by_op.items()}
    return dict(sorted(means.items(), key=lambda pair: -pair[1]))


def in_lines(words: Iterable[str], width: int = 80) -> list[str]:
    """Joins words by commas, and breaks a line only after a comma."""
    lines: list[str] = []
    for word in words:
        if lines and len(f"{lines[-1]}, {word}") < width:
            lines[-1] += f", {word}"
        else:
            lines[-1:] = [f"{lines[-1]},", word] if lines else [word]
    return lines


def table(comparison: Comparison) -> str:
    """Returns the worst rows, for a terminal of 80 columns, and how close all of them are; "" without rows."""
    rows = comparison.rows
    if not rows:
        return ""
    names = ", ".join(dict.fromkeys(sorted(row.registration for row in rows)))
    lines = [f"predicted before it was measured ({names}), worst first", ""]
    lines.append(f"{'part':<11}{'lesson, op':<{LABEL}}{'predicted':>9}{'ms':>8}{'ratio':>7}")
    for row in rows[:SHOWN]:
        name = row.name if len(row.name) < LABEL else row.name[: LABEL - 2] + "…"
        cells = f"{three_digits(row.predicted_ms):>9}{three_digits(row.measured_ms):>8}{row.ratio:>7.2f}"
        lines.append(f"{row.part:<11}{name:<{LABEL}}{cells}")
    if len(rows) > SHOWN:
        lines.append(f"and {len(rows) - SHOWN} that are closer")
    errors = (f"{op} {100 * error:.0f}%" for op, error in errors_by_op(rows).items())
    out = textwrap.wrap(said_of_left_out(comparison.left_out), 80)
    return "\n".join(
        [*lines, "", shares(rows), *out, "mean error, as a share of the measured time:", *in_lines(errors)]
    )


# ---- the page --------------------------------------------------------------------------------------------------------


def card_section(gpu: str, comparison: Comparison) -> str:
    rows, out = comparison.rows, said_of_left_out(comparison.left_out)
    lines = [f"## {gpu}", "", f"{shares(rows)}. The mean error, as a share of the measured time:", ""]
    lines[2:2] = [out, ""] if out else []
    lines += ["| op | mean error |", "|---|--:|"]
    lines += [f"| {op} | {100 * error:.0f}% |" for op, error in errors_by_op(rows).items()]
    lines += ["", "| part | lesson, op | predicted ms | measured ms | measured over predicted | registered |"]
    lines += ["|---|---|--:|--:|--:|---|"]
    for row in rows:
        times = f"{three_digits(row.predicted_ms)} | {three_digits(row.measured_ms)} | {row.ratio:.2f}"
        lines.append(f"| {row.part} | {row.name} | {times} | {row.registration} |")
    return "\n".join([*lines, ""])


def page(root: Path) -> str:
    """Returns the page with both columns of every card that has a report, or with an empty block while none has."""
    block = "\n".join(card_section(gpu, of_card) for gpu, of_card in of_cards(root).items())
    return put((root / PAGE).read_text(), "predictions", block, PAGE)


def write_page(root: Path) -> Path:
    """Writes page(). Returns where it is."""
    (root / PAGE).write_text(page(root))
    return PAGE


# ---- the command -----------------------------------------------------------------------------------------------------


def act(options: argparse.Namespace) -> int:
    root = Path()
    if options.page:
        write_page(root)
        return 0
    if options.write:
        print(f"written to {register(root, utc_now())}, its hash to {HASHES}")
        return 0
    known = registrations(root)
    if not known:
        raise ToolError("nothing is registered yet: make predictions WRITE=1")
    head, rows = estimated_today(root)
    print(difference(known[-1], head["cards"], rows))
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("predictions", __doc__)
    one_of = parser.add_mutually_exclusive_group()
    one_of.add_argument("--write", action="store_true", help="register today's estimates in a new file")
    one_of.add_argument("--page", action="store_true", help="put the recorded times of the cards into the page")
    options = parser.parse_args(arguments)
    return run_main("predictions", lambda: act(options))


if __name__ == "__main__":
    sys.exit(main())
