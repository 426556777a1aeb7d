// SPDX-License-Identifier: MIT
//
// The readers of files that are not ours, on any bytes. Each returns, or the process ends: an exception other than
// FileError and an abort are bugs. fuzz_corpus_test calls them with the inputs in checker/fuzz/corpus, which a fuzzer found
// or which were written by hand.
#pragma once

#include <cstddef>
#include <span>

void fuzz_safetensors(std::span<const std::byte> input);
void fuzz_config(std::span<const std::byte> input);
