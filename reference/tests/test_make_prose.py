# SPDX-License-Identifier: MIT
"""make_prose.py: which text of a package's pages the small model reads, and the record of it."""

import json

from reference.model import make_prose

SENTENCE = "A file has a name, an owner and a mode, and the mode says who may read it, write it or run it."
PAGE = f"""<html><head><title>{SENTENCE}</title></head><body><h1>{SENTENCE}</h1>
<p>{SENTENCE} First.</p><div class="para">{SENTENCE} Se<b>co</b>nd\nwith an \u201caccent\u201d: na\u00efve.</div>
<table><tr><td><p>{SENTENCE} In a table.</p></td></tr></table><pre><p>{SENTENCE} Code.</p></pre>
<p>Too short.</p><p>lower case at its beginning, {SENTENCE}</p><p>{SENTENCE} No end</p></body></html>"""


def test_prose_is_the_long_whole_sentences_of_paragraphs_in_ascii(tmp_path):
    (tmp_path / "page.html").write_text(PAGE)
    text = make_prose.gather(tmp_path)
    assert text == f'{SENTENCE} First.\n\n{SENTENCE} Second with an "accent": naive.\n\n'


def test_a_paragraph_that_two_pages_have_is_taken_once(tmp_path):
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_text(f"<p>{SENTENCE} On {name}.</p><p>{SENTENCE} Twice.</p>")
    assert make_prose.gather(tmp_path).count("Twice.") == 1


def test_the_record_names_each_package_with_its_version_licence_and_hash():
    record = json.loads(make_prose.RECORD.read_text())
    assert len(record["packages"]) == 2
    for package in record["packages"]:
        assert set(package) == {"name", "version", "sha256", "folder", "title", "licence"}
        assert all(package.values())
        assert len(package["sha256"]) == 64
    assert len(record["sha256"]) == 64


def test_the_small_model_has_seen_the_prose_of_the_record():
    training = json.loads((make_prose.HERE / "small/training.json").read_text())
    record = json.loads(make_prose.RECORD.read_text())
    assert training["texts"]["prose"]["sha256"] == record["sha256"]
    assert training["texts"]["prose"]["bytes"] == record["bytes"]
