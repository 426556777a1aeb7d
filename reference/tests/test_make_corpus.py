# SPDX-License-Identifier: MIT
"""make_corpus.py: the text that the small model learns."""

from reference.model import make_corpus


def test_corpus_is_ascii_and_in_order():
    text = make_corpus.gather()
    assert text.isascii()
    names = [line.split()[1] for line in text.splitlines() if line.startswith("==== ")]
    names = [name for name in names if "/" in name or name.endswith(".md")]
    assert names == sorted(names)
    assert "lessons/gpt2/ops.h" in names
    assert not any("/tests/" in name or name == "reference/model/corpus.txt" for name in names)


def test_typography_becomes_ascii():
    assert make_corpus.to_ascii("5 × 3 — “naïve” … σ ≈ 3²") == '5 x 3 - "naive" ... sigma ~ 3^2'
