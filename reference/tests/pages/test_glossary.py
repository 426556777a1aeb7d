# SPDX-License-Identifier: MIT
"""GLOSSARY.md: a term has one sentence, its lesson's page links to it, and no earlier page uses it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
GLOSSARY = ROOT / "GLOSSARY.md"
ROW = re.compile(r'^\| <a id="([^"]+)"></a>(.+?) \| (.+) \| \[(\d\d)\]\((lessons/[^)]+)\) \|$')
LINK = re.compile(r"\]\(\.\./\.\./GLOSSARY\.md#([^)]+)\)")


@dataclass(frozen=True)
class Term:
    anchor: str
    name: str  # as it is printed: a word, a word with what it is a part of in brackets, or `code`
    sentence: str
    lesson: str
    page: str

    @property
    def word(self) -> str:
        return self.name.split(" (")[0]

    @property
    def is_code(self) -> bool:
        return self.word.startswith("`")


@dataclass(frozen=True)
class Page:
    lesson: str
    path: str
    text: str


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def terms(text: str) -> list[Term]:
    return [Term(*found.groups()) for line in text.splitlines() if (found := ROW.match(line))]


def pages() -> list[Page]:
    found = sorted(ROOT.glob("lessons/[0-9][0-9]_*/*.md"))
    return [Page(path.parent.name[:2], str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in found]


def prose(text: str, *, code: bool) -> str:
    """Without blocks of code, comments and the targets of links; `code` says whether words in `code` stay. As many
    lines as before."""

    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    text = re.sub(r"^```.*?^```[^\n]*$", blank, text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return text if code else re.sub(r"`[^`\n]*`", " ", text)


def uses(term: Term, text: str) -> list[int]:
    """The lines that have the term as a word of its own, or its plural."""
    word = term.word.strip("`")
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?:s|es)?(?!\w)", 0 if term.is_code else re.IGNORECASE)
    lines = prose(text, code=term.is_code).splitlines()
    return [number for number, line in enumerate(lines, 1) if pattern.search(line)]


def too_early(all_terms: Iterable[Term], all_pages: Iterable[Page]) -> list[str]:
    """Where a page uses a term that a later lesson introduces. Of a word with several meanings the first counts."""
    first: dict[str, Term] = {}
    for term in all_terms:
        if term.word not in first or term.lesson < first[term.word].lesson:
            first[term.word] = term
    return [
        f"{page.path}:{line} uses {term.word}, which lesson {term.lesson} introduces"
        for page in all_pages
        for term in first.values()
        if page.lesson < term.lesson
        for line in uses(term, page.text)
    ]


ALL = terms(GLOSSARY.read_text(encoding="utf-8"))


def test_every_row_of_the_table_is_a_term():
    rows = [line for line in GLOSSARY.read_text(encoding="utf-8").splitlines() if line.startswith("| <a")]
    assert len(ALL) == len(rows) > 50


def test_terms_are_in_order_and_their_anchors_differ():
    names = [re.sub(r"[`_]", "", term.word).lower() for term in ALL]
    assert names == sorted(names)
    assert len({term.anchor for term in ALL}) == len(ALL)


def test_a_term_has_one_sentence():
    assert [term.word for term in ALL if not re.fullmatch(r"(?:(?!\. [A-Z]).)+\.", term.sentence)] == []


def test_the_page_that_introduces_a_term_is_of_its_lesson_and_uses_it():
    assert [term.word for term in ALL if Path(term.page).parent.name[:2] != term.lesson] == []
    assert [f"{term.page}: {term.word}" for term in ALL if not uses(term, read(term.page))] == []


def test_the_page_that_introduces_a_term_links_to_it():
    missing = [term for term in ALL if term.anchor not in LINK.findall(read(term.page))]
    assert [f"{term.page}: [{term.word}](../../GLOSSARY.md#{term.anchor})" for term in missing] == []


def test_links_to_the_glossary_lead_to_a_term():
    anchors = {term.anchor for term in ALL}
    assert [(page.path, to) for page in pages() for to in LINK.findall(page.text) if to not in anchors] == []


def test_no_page_uses_a_term_before_the_lesson_that_introduces_it():
    assert too_early(ALL, pages()) == []


def test_a_planted_early_use_is_found():
    warp = next(term for term in ALL if term.word == "warp")
    text = "# A page\n\n```\na warp in code\n```\n\nTwo Warps of `warp_sum` run.\n"
    assert too_early([warp], [Page("03", "lessons/03_x/README.md", text)]) == [
        "lessons/03_x/README.md:7 uses warp, which lesson 04 introduces"
    ]
    assert too_early([warp], [Page("04", "lessons/04_x/README.md", text)]) == []


def test_a_word_with_two_meanings_may_be_used_from_the_first_on():
    blocks = [term for term in ALL if term.word == "block"]
    assert sorted(term.lesson for term in blocks) == ["01", "03", "04"]
    page = Page("02", "lessons/02_x/README.md", "A block.\n")
    assert too_early(blocks, [page]) == []
    assert len(too_early([term for term in blocks if term.lesson == "04"], [page])) == 1


def test_code_is_sought_in_code_and_words_are_not():
    code = next(term for term in ALL if term.word == "`blockIdx`")
    assert uses(code, "It reads `blockIdx.x` first.\n") == [1]
    softmax = next(term for term in ALL if term.word == "softmax")
    assert uses(softmax, "`softmax.cpp` and `causal_softmax`\n") == []
    assert uses(softmax, "[softmax](../warp.md)\n<!-- softmax\n-->\n") == [1]
