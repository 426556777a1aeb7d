// SPDX-License-Identifier: MIT
//
// What is fuzzed. Each returns, or the process ends: an exception other than FileError, an abort and a sanitizer's
// finding are bugs. libFuzzer calls them through fuzz_main.cpp, the tests with the committed corpus.
#pragma once

#include <cstddef>
#include <span>

void fuzz_safetensors(std::span<const std::byte> input);
void fuzz_config(std::span<const std::byte> input);
