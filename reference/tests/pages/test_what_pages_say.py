# SPDX-License-Identifier: MIT
"""What the pages say: nothing that waits to be written or measured, shared numbers alike, predictions answered, and
no more words than a reader has time for."""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from reference.gpu.cards import read_card

ROOT = Path(__file__).parents[3]
LESSONS = sorted(path.parent.name for path in (ROOT / "lessons").glob("[0-9][0-9]_*/README.md"))
TERMINAL = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
GENERATED = re.compile(
    r"^<!-- (estimate|gain|waterfall|recorded|red|measured|beside pytorch|whole forward)\b[^\n]*-->\n"
    r".*?^<!-- end \1 -->",
    re.MULTILINE | re.DOTALL,
)


@cache
def page(lesson):
    return (ROOT / "lessons" / lesson / "README.md").read_text()


def shown():
    """All that a reader sees: pages and figures."""
    found = [path for kind in ("md", "svg") for path in ROOT.glob(f"lessons/[0-9][0-9]_*/**/*.{kind}")]
    found += [ROOT / "README.md", ROOT / "GLOSSARY.md", *ROOT.glob("figures/*.svg"), *ROOT.glob("reference/**/*.svg")]
    return [*found, *ROOT.glob("reference/*.md"), *ROOT.glob("reference/timings/*.md"), *ROOT.glob("checker/**/*.md")]


# ---- nothing is left open --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", shown(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_or_figure_says_that_something_is_not_measured_yet_or_to_be_written(path):
    text = TERMINAL.sub("", path.read_text())
    for word in (r"not\s+(been\s+)?measured\s+yet\b|not\s+yet\s+measured\b", r"\bXX"):
        found = re.search(word, text)
        assert not found, f"line {text[: found.start()].count(chr(10)) + 1}: {found[0]}"


# ---- numbers that pages share ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shared:
    """A number that stands on several pages. The pattern's group is what they say, whatever that is."""

    what: str
    number: str
    pattern: str


def recorded_cpu():
    return json.loads((ROOT / "reference/timings/amd-epyc-25-17.json").read_text())


H100 = read_card("H100-SXM")
SHARED = (
    Shared("FLOP of a forward pass at B=4, T=1024", "1,091", r"\b(1,0[89]\d(?:\.\d)?) G(?:FLOP)?\b"),
    Shared("FLOP of its matmuls", "1,012", r"\b(1,01\d(?:\.\d)?) G(?:FLOP)?\b"),
    Shared("MB of a tensor (B, T, C)", "12.6", r"\b(12\.[4-7]\d*) MB\b"),
    Shared("MB of a residual", "37.7", r"\b(37\.\d+|38) MB\b"),
    Shared("GB/s of an H100's memory", f"{H100['memory']:,.0f}", r"\b(3,[34]\d\d) GB/s"),
    Shared("TFLOP/s of an H100 in fp32", f"{H100['fp32']:.0f}", r"\b(6[678](?:\.\d)?) TFLOP/s"),
    Shared("TFLOP/s of an H100 in TF32", f"{H100['tf32']:.0f}", r"\b(49\d(?:\.\d)?) TFLOP/s"),
    Shared("multiprocessors of an H100", f"{H100['multiprocessors']}", r"\b(13\d) multiprocessors"),
    Shared(
        "GB/s of PCIe 5.0 with 16 lanes",
        "63",
        r"(?:PCIe[^|\n;:]{0,60}? |\b(?=[\d.]+ GB/s[^|\n;:]{0,40}PCIe))(\d+(?:\.\d)?) GB/s",
    ),
    Shared(
        "GFLOP/s of the recorded core",
        f"{recorded_cpu()['machine']['fma_one_flop_per_s'] / 1e9:.0f}",
        r"\b(11[678](?:\.\d)?|17\d) GFLOP/s",
    ),
)


def said(shared, texts):
    """By page, each way in which it says the number."""
    found = {name: set(re.findall(shared.pattern, GENERATED.sub("", text))) for name, text in texts.items()}
    return {name: numbers for name, numbers in found.items() if numbers}


def all_pages():
    return {lesson: page(lesson) for lesson in LESSONS} | {"README": (ROOT / "README.md").read_text()}


@pytest.mark.parametrize("shared", SHARED, ids=lambda shared: shared.what)
def test_a_number_that_pages_share_is_the_same_on_each(shared):
    found = said(shared, all_pages())
    assert len(found) > 1, "no two pages say it: take it out of SHARED"
    assert {name: numbers for name, numbers in found.items() if numbers != {shared.number}} == {}


def test_a_page_that_says_another_number_is_found():
    for shared in SHARED:
        texts = all_pages()
        name = next(iter(said(shared, texts)))
        planted = str(shared.number)[:-1] + ("7" if shared.number[-1] != "7" else "6")
        texts[name] = re.sub(rf"\b{re.escape(shared.number)}\b", planted, texts[name])
        assert said(shared, texts).get(name) != {shared.number}, shared.what


def test_the_flop_of_a_forward_pass_are_the_sum_of_lesson_02s_table():
    rows = re.findall(r"^\| [^|]+ \| [^|]+ \| ([0-9.]+) \| [0-9.]+% \|$", page("02_forward"), re.MULTILINE)
    assert len(rows) == 4
    assert f"{sum(map(float, rows)):,.0f}" == next(iter(SHARED)).number


# ---- predictions -----------------------------------------------------------------------------------------------------


def part(text, heading):
    """A page's part, from its heading to the next."""
    found = re.search(rf"^## {heading}[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"no ## {heading}"
    return found[1]


def numbered(text):
    return [int(number) for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)]


def answers(text):
    found = re.search(
        r"^The predictions?:\n\n((?:(?:\d+\. | {2,})[^\n]*\n+)+)", part(text, "After it passes"), re.MULTILINE
    )
    return numbered(found[1]) if found else []


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_prediction_is_answered_after_the_fold_and_needs_no_gpu(lesson):
    asked = part(page(lesson), "Predict")
    questions = numbered(asked)
    assert questions, "no question in a numbered list"
    assert questions == list(range(1, len(questions) + 1))
    assert answers(page(lesson)) == questions
    assert not re.search(r"^\d+\. [^\n]*[Ww]ith a GPU", asked, re.MULTILINE)


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_only_a_card_can_answer_says_by_which_command(lesson):
    asked = part(page(lesson), "Predict")
    rest = re.sub(r"^\d+\. [^\n]*$", "", asked, flags=re.MULTILINE)
    assert not re.search(r"\?|[Ww]rite down", rest.partition("With a GPU")[0]), "a question outside the numbered list"
    for only in re.findall(r"With a GPU[^\n]*", asked):
        assert "`make " in only, only


# ---- estimates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_page_says_once_at_most_how_far_estimates_are_off(lesson):
    assert len(re.findall(r"\d+% of (?:\d+ )?published times", page(lesson))) <= 1


# ---- length ----------------------------------------------------------------------------------------------------------


FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
MOST_WORDS = 1400


def words(text):
    """How many a reader has to read: without folds, code, generated blocks, comments and the targets of links. What
    has no letter and no digit is not a word."""
    for what in (GENERATED, TERMINAL, FOLD, COMMENT):
        text = what.sub("", text)
    return len(re.findall(r"[^\s|]*\w[^\s|]*", re.sub(r"\]\([^)]*\)", "]", text)))


def too_long(texts):
    """The pages with more words than a page may have, outside folds, code and generated blocks."""
    counts = {name: words(text) for name, text in texts.items()}
    return {name: count for name, count in counts.items() if count > MOST_WORDS}


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_page_is_short_enough_to_be_read(lesson):
    assert too_long({lesson: page(lesson)}) == {}


def test_a_page_with_one_word_too_many_is_found():
    lesson = LESSONS[0]
    room = MOST_WORDS - words(page(lesson))
    full = page(lesson) + "word " * room
    assert too_long({lesson: full}) == {}
    assert too_long({lesson: full + "word"}) == {lesson: MOST_WORDS + 1}


def test_folds_code_generated_blocks_and_targets_of_links_are_no_words():
    text = """two words
<!-- estimate: gelu N=12582912 | 04 06 -->
| generated | table |
<!-- end estimate -->
```
one line of code
```
<details><summary>Hint 1: a question?</summary>

an answer
</details>
| [one](../../GLOSSARY.md#term) | 2 · 3 |
"""
    assert words(text) == 5
