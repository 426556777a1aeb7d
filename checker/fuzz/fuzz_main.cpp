// SPDX-License-Identifier: MIT
//
// libFuzzer's entry point, compiled once for each target with -DFUZZ_TARGET=its function.
#include <cstddef>
#include <cstdint>
#include <span>

#include "checker/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FUZZ_TARGET(std::as_bytes(std::span(data, size)));
    return 0;
}
