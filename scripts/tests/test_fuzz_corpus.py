# SPDX-License-Identifier: MIT
"""The committed fuzz inputs are those that make_corpus.py gives, and what the fuzzer found."""

import pytest

from checker.fuzz.make_corpus import CORPUS, FOUND, INPUTS

TARGETS = sorted(path.name.removesuffix("_fuzz.cpp") for path in CORPUS.parent.glob("*_fuzz.cpp"))


def test_every_fuzz_target_has_inputs():
    assert sorted(INPUTS) == sorted(FOUND) == TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_the_committed_inputs_are_the_generators_and_those_found(target):
    committed = {path.name: path.read_bytes() for path in (CORPUS / target).iterdir()}
    assert committed.keys() == INPUTS[target].keys() | FOUND[target].keys()
    assert {name: committed[name] for name in INPUTS[target]} == {
        k: content for k, (_, content) in INPUTS[target].items()
    }


@pytest.mark.parametrize("target", TARGETS)
def test_no_input_is_there_twice_and_each_has_its_purpose(target):
    contents = [content for _, content in INPUTS[target].values()]
    purposes = [purpose for purpose, _ in INPUTS[target].values()]
    assert len(set(contents)) == len(contents)
    assert all(purposes)
    assert len(set(purposes)) == len(purposes)
    assert not INPUTS[target].keys() & FOUND[target].keys()
