// SPDX-License-Identifier: MIT
//
// Any bytes are either refused with a FileError or give views that lie inside them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "checker/cases/safetensors.h"
#include "checker/fuzz/targets.h"

namespace {

// Every byte of every view is read, so that the address sanitizer sees one that leaves the input.
unsigned read_all(const checker::SafeTensors& file) {
    unsigned sum = 0;
    for (const checker::TensorView& tensor : file.tensors()) {
        if (file.find(tensor.name) != &tensor ||
            static_cast<std::size_t>(tensor.elements()) * bytes_per_element(tensor.dtype) != tensor.bytes.size()) {
            std::abort();
        }
        for (const std::byte byte : tensor.bytes) { sum += static_cast<unsigned>(byte); }
    }
    return sum;
}

}  // namespace

void fuzz_safetensors(std::span<const std::byte> input) {
    try {
        volatile unsigned sink = read_all(checker::SafeTensors::from_memory(input, "input"));
        static_cast<void>(sink);
    } catch (const checker::FileError&) {}
}
